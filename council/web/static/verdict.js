// What was decided: the figures beside the answer, who objects, the pictures, the recommended path.

import { h, markup, plural, sentence } from "./dom.js";

export const place = (id, turn) => `#/s/${id}/${turn}`;

export function pills(verdict) {
  const shown = [
    [verdict.outcome, `outcome ${verdict.tone}`],
    [verdict.tally, ""],
    [verdict.confidence && `confidence: ${verdict.confidence}`, ""],
    [verdict.changes ? `${plural(verdict.changes, "change")} of mind` : "", ""],
  ];
  return h("ul", { class: "pills" }, shown.filter(([text]) => text).map(([text, kind]) => h("li", { class: `pill ${kind}` }, text)));
}

/** The strongest dissent, and what blocks. */
export function dissent(verdict, id) {
  const { dissent: strongest, blocking } = verdict;
  if (!strongest && !blocking.length) return [];
  const cite = (one) => h("a", { href: place(id, one.turn) }, one.label);
  return [
    h("section", { class: "panel against", dir: "auto" },
      strongest ? [h("h2", {}, "Who objects"), h("blockquote", { class: "quote" }, strongest.text), h("p", { class: "cite" }, "— ", cite(strongest))] : null,
      blocking.length ? [h("h2", {}, "What blocks"), h("ul", {}, blocking.map((one) => h("li", {}, one.text, " ", h("span", { class: "cite" }, "— ", cite(one)))))] : null)];
}

export function path(verdict) {
  if (!verdict.path) return [];
  const kind = verdict.carried ? "path" : "path opinion";
  return [h("section", { class: `panel ${kind}`, dir: "auto" }, h("h2", {}, verdict.path.title), markup(verdict.path.html))];
}

const OTHERS = 5; // open concerns that block nothing, in sight: a board may have dozens

/** The ledger of concerns: what is open, and below it, folded, how the others ended. */
export function concerns(found, id) {
  if (!found) return [];
  const open = found.rows.filter((one) => one.status === "open");
  const blocking = open.filter((one) => one.kind === "blocking").length;
  const shown = open.slice(0, blocking + OTHERS);
  const list = (rows) => h("ul", { class: "ledger" }, rows.map((one) => concern(one, id)));
  const rest = [["open", open.slice(shown.length)], ["settled", found.rows.slice(open.length)]].filter(([, rows]) => rows.length);
  const folded = rest.map(([name, rows]) =>
    shown.length
      ? h("details", { id: `concerns-${name}` }, h("summary", {}, name === "open" ? `${plural(rows.length, "other")} open` : `${rows.length} settled`), list(rows))
      : list(rows));
  return [
    h("details", { class: "round", id: "concerns", open: blocking > 0 || (open.length > 0 && open.length <= OTHERS) },
      h("summary", {}, h("h2", {}, "Concerns"), " ", h("span", { class: "brief" }, found.summary)),
      shown.length ? list(shown) : null, folded)];
}

function concern(one, id) {
  const parts = [
    `${one.id}, ${one.kind}`,
    ["raised by ", h("a", { href: place(id, one.turn) }, one.label), `, round ${one.round}`],
    one.settled ? [`${one.ended} `, h("a", { href: place(id, one.settled) }, one.settled_by)] : null,
    one.more];
  return h("li", { dir: "auto", class: one.tone },
    h("p", {}, one.text),
    h("p", { class: "cite" }, h("span", { class: `badge ${one.tone}` }, one.status), " ",
      parts.filter(Boolean).map((part, at) => [at ? " · " : "", part])));
}

/** A protocol's own lists, such as the findings of a review, by severity. */
export function sections(found) {
  return found.map((one) =>
    h("section", { class: "listed", dir: "auto" },
      one.answer ? null : h("h2", {}, one.title),
      markup(one.html),
      one.parts.map(graded)));
}

function graded(part) {
  const made = markup(part.html, "div", { class: part.tone ? `graded ${part.tone}` : null });
  made.prepend(h("h3", {}, part.title));
  return made;
}

/** Drawn by the server, as in `show --html`. */
export function pictures(found) {
  return found.map((one) =>
    h("section", { class: "panel drawn" }, h("h2", {}, one.title),
      markup(one.svg, "div", { class: "scroll", role: "region", "aria-label": one.title })));
}

/** How it went: the protocol with its reasons, and the cost of each round. */
export function course(found) {
  if (!found.length) return [];
  const titles = sentence(found.map((one) => one.title.toLowerCase()).join(", "));
  return [h("details", { class: "round", id: "course" }, h("summary", {}, h("h2", {}, "How it went"), " ", h("span", { class: "brief" }, titles)), pictures(found))];
}
