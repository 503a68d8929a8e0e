// The figures of all debates: months as a picture, and sums by protocol, model and seat.

import { dollars, h, markup, plural, sentence } from "./dom.js";
import { get } from "./api.js";

const TABLES = [["workflow", "By protocol"], ["model", "By model"], ["seat", "By seat"]];
const SHOWN = 12; // rows of a table
const AGAIN = 1000; // milliseconds until an index that is being built is asked again

export async function stats(main) {
  document.title = "Figures · council";
  main.replaceChildren(h("p", { class: "loading" }, "Loading …"));
  const view = { timer: 0, closed: false };
  await load(main, view);
  return () => {
    view.closed = true;
    clearTimeout(view.timer);
  };
}

async function load(main, view) {
  const months = await get("/api/stats?by=month");
  const tables = [];
  for (const [by, title] of TABLES) tables.push({ by, title, ...(await get(`/api/stats?by=${by}`)) });
  if (view.closed) return;
  const building = months.building === undefined ? null : h("p", { class: "soft", role: "status" }, `The index is being built: ${Math.round(100 * months.building)} %. More will follow.`);
  main.replaceChildren(...(months.picture ? [h("h1", {}, "Figures"), total(months.rows), building, picture(months.picture), ...tables.map(table)] : [empty(building)]).filter(Boolean));
  if (building) view.timer = setTimeout(() => load(main, view), AGAIN);
}

function total(rows) {
  const sum = (name) => rows.reduce((all, row) => all + (row[name] ?? 0), 0);
  const known = sum("usd_at_least");
  const cost = known ? `${rows.some((row) => row.usd === null) ? "at least " : ""}${dollars(known)}` : "";
  return h("p", { class: "soft" }, [plural(sum("sessions"), "debate"), `${sum("finished").toLocaleString("en")} finished`, plural(sum("turns"), "turn"), cost].filter(Boolean).join(" · "));
}

const picture = (svg) =>
  h("section", { class: "panel drawn" }, h("h2", {}, "By month"),
    markup(svg, "div", { class: "scroll", role: "region", "aria-label": "By month" }));

function table(found) {
  if (!found.rows.length) return null;
  const shown = found.rows.slice(0, SHOWN);
  const left = found.rows.length - shown.length;
  const number = (value) => h("td", { class: "number" }, value.toLocaleString("en"));
  const rows = shown.map((row) =>
    h("tr", {}, h("th", { scope: "row", dir: "auto" }, row.name ?? "none"), number(row.sessions), number(row.turns),
      h("td", { class: "number" }, row.usd === null ? `${row.usd_at_least ? dollars(row.usd_at_least) : ""}+` : dollars(row.usd)),
      h("td", { class: "number roomy" }, row.output_tokens === null ? "unknown" : row.output_tokens.toLocaleString("en"))));
  const heads = ["Debates", "Turns", "Cost", "Tokens written"].map((name, at) => h("th", { scope: "col", class: at < 3 ? "number" : "number roomy" }, name));
  return h("section", { class: "panel" }, h("h2", {}, found.title),
    h("div", { class: "scroll", role: "region", "aria-label": found.title },
      h("table", { class: "sums" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, sentence(found.by === "workflow" ? "protocol" : found.by)), heads)), h("tbody", {}, rows))),
    left ? h("p", { class: "soft" }, `and ${left.toLocaleString("en")} more: `, h("code", {}, `council stats --by ${found.by}`)) : null);
}

const empty = (building) =>
  h("section", { class: "empty" },
    h("img", { src: "/static/mark.svg", alt: "", width: "72", height: "72" }),
    h("h1", {}, "Nothing to count yet"), building ?? h("p", { class: "soft" }, "Once there are debates, their months are shown here."));
