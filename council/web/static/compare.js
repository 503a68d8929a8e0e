// Two debates side by side: the answers first, then what differs.

import { $, h, markup } from "./dom.js";
import { get } from "./api.js";
import { pills } from "./verdict.js";

export async function compare(main, [first, second]) {
  const data = await get(`/api/compare?${new URLSearchParams({ a: first, b: second })}`);
  document.title = "Two debates · council";
  main.replaceChildren(...[
    h("h1", {}, data.same_question ? "The same question, twice" : "Two debates"),
    data.same_question ? h("p", { class: "question", dir: "auto" }, data.sides[0].title) : null,
    h("div", { class: "sides" }, data.sides.map((side, at) => column(side, at, data.same_question))),
    figures(data), seats(data)].filter(Boolean));
}

function column(side, at, same) {
  const verdict = side.verdict;
  return h("section", { class: "side", "aria-label": `${at ? "Second" : "First"}: ${side.title}` },
    h("p", { class: "kind id" }, h("a", { href: `#/s/${side.session_id}` }, side.session_id)),
    same ? null : h("p", { class: "topic", dir: "auto" }, side.title),
    verdict
      ? [h("h2", { class: "answer", dir: "auto" }, verdict.answer), pills(verdict),
         verdict.dissent ? h("div", { class: "panel against", dir: "auto" }, h("h3", {}, "Who objects"), h("p", {}, verdict.dissent.text), h("p", { class: "cite" }, "— ", h("a", { href: `#/s/${side.session_id}/${verdict.dissent.turn}` }, verdict.dissent.label))) : null,
         verdict.path ? h("div", { class: "panel path", dir: "auto" }, h("h3", {}, verdict.path.title), markup(verdict.path.html)) : null]
      : h("p", { class: "note" }, side.why));
}

const head = (data) => h("thead", {}, h("tr", {}, h("td", {}), data.sides.map((side, at) => h("th", { scope: "col" }, at ? "Second" : "First", h("span", { class: "hidden" }, ` (${side.session_id})`)))));

function figures(data) {
  const rows = data.figures.map((row) =>
    h("tr", { class: row.same ? "same" : "differs" }, h("th", { scope: "row" }, row.name), row.values.map((value) => h("td", {}, value || "–"))));
  return h("section", { class: "panel" }, h("h2", {}, "What differs"), h("div", { class: "scroll" }, h("table", { class: "figures" }, head(data), h("tbody", {}, rows))));
}

function seats(data) {
  if (!data.seats.length) return null;
  const cell = (one) => (one ? h("span", { class: `badge ${one.tone}` }, one.text || one.tone) : "not at the table");
  const rows = data.seats.map((row) => h("tr", {}, h("th", { scope: "row", dir: "auto" }, row.label), row.cells.map((one) => h("td", {}, cell(one)))));
  return h("section", { class: "panel grid" }, h("h2", {}, "Where each ended"), h("div", { class: "scroll" }, h("table", {}, head(data), h("tbody", {}, rows))));
}

/** Which debate to compare with. */
export async function choose(main, [first]) {
  document.title = "Compare · council";
  const box = $("#q");
  box.value = ""; // what narrowed the list may leave nothing to choose from
  const rows = h("ul", { class: "picks" });
  main.replaceChildren(h("h1", {}, "Compare with which debate?"), h("p", { class: "soft" }, "The search above narrows the list."), rows);
  const load = async () => {
    const found = await get(`/api/sessions?${new URLSearchParams({ q: box.value.trim(), limit: "30" })}`);
    rows.replaceChildren(...found.sessions.filter((row) => row.session_id !== first).map((row) =>
      h("li", {}, h("a", { class: "row", "data-stop": "", href: `#/compare/${first}/${row.session_id}` },
        h("span", { class: `sign ${row.state}`, "aria-hidden": "true" }), h("span", { class: "topic", dir: "auto" }, row.topic),
        h("span", { class: "about" }, `${row.workflow ?? ""} · ${row.outcome ?? row.state}`), h("time", { datetime: row.started_at }, row.age)))));
    if (!rows.children.length) rows.replaceChildren(h("li", { class: "soft" }, "There is no other debate."));
  };
  box.addEventListener("input", load);
  await load();
  return () => box.removeEventListener("input", load);
}
