// The evidence: rounds folded, turns with a link each, the synthesis, documents, receipts.

import { coded, h, markup } from "./dom.js";

export function seatClass(card) {
  return card.colour === null || card.colour === undefined ? "" : `seat-${card.colour}`;
}

/** A seat's initial in its colour. Not its icon: many a system has no font for it. */
export const avatar = (one) => h("span", { class: `avatar ${seatClass(one)}`, "aria-hidden": "true" }, one.label.trim().charAt(0).toUpperCase());

/** The heading of a turn: the seat, its one-word answers, and the turn's own address. */
export function title(card, address, level = "h3") {
  const marks = card.caption
    ? [h("span", { class: `badge ${card.tone}` }, card.caption)]
    : (card.badges ?? []).map((one) => h("span", { class: `badge ${one.tone}` }, `${one.title}: ${one.text}`));
  return h("header", {},
    avatar(card), h(level, { dir: "auto" }, card.label),
    card.step ? h("span", { class: "after" }, card.step) : null,
    marks,
    address ? h("a", { class: "anchor", href: address, "aria-label": `Link to ${card.turn}` }, "#") : null);
}

export function turn(card, id) {
  return h("article", { class: `${seatClass(card)} turn`, id: card.turn, tabindex: "-1", "data-stop": "" },
    title(card, `#/s/${id}/${card.turn}`),
    (card.remarks ?? []).map((remark) => h("p", { class: "remark", dir: "auto" }, remark)),
    markup(card.html, "div", { class: "words" }));
}

const decisions = (found) => found.map((one) => h("div", { class: "decision", dir: "auto" }, h("p", {}, h("strong", {}, `${one.title}: `), one.text)));

export function rounds(stages, id) {
  if (!stages.some((stage) => stage.rounds.length || stage.before.length)) return [];
  const parts = stages.map((stage) => [
    decisions(stage.before),
    stage.rounds.map((round) =>
      h("details", { class: "round", id: round.place },
        h("summary", {}, h("h3", {}, round.heading), " ", h("span", { class: "brief" }, round.brief)),
        round.cards.map((card) => turn(card, id)))),
    decisions(stage.after),
  ]);
  return [h("section", {}, h("h2", {}, "The debate"), parts)];
}

export function synthesis(data) {
  const { synthesis: made, effect } = data;
  const parts = [];
  if (made) {
    parts.push(h("details", { class: "round", id: "synthesis" },
      h("summary", {}, h("h2", {}, "Council synthesis"), " ", h("span", { class: "brief" }, `by the ${made.card.label}`)),
      made.preface ? h("div", { class: "note" }, h("p", { dir: "auto" }, made.preface)) : null,
      turn(made.card, data.session_id),
      made.additions.map((html) => markup(html, "div", { class: "note", dir: "auto" }))));
  }
  if (effect) {
    parts.push(h("details", { class: "round", id: "effect" },
      h("summary", {}, h("h2", {}, effect.title), " ", h("span", { class: "brief" }, effect.text)),
      h("ul", { dir: "auto" }, effect.moves.map((move) => h("li", {}, move))),
      effect.cards.map((card) => turn(card, data.session_id))));
  }
  return parts;
}

export function documents(found) {
  return found.map((one) => {
    const [, path, why] = /^(.*?)(?: \((.*)\))?$/s.exec(one.place);
    return h("details", { class: "round document", id: `document-${one.name}` },
      h("summary", {}, h("h2", {}, one.title), " ", h("span", { class: "brief", dir: "auto" }, why ? "not filed" : path)),
      why ? h("p", { class: "soft", dir: "auto" }, "In ", h("code", {}, path), ": ", coded(why), ".") : null,
      markup(one.html, "div", { class: "panel", dir: "auto" }));
  });
}

/** The commands that may come next. They are for a terminal: the page runs none. */
export function follow(lines) {
  if (!lines.length) return [];
  return [h("section", { class: "panel" }, h("h2", {}, "Next, in a terminal"), lines.map((line) => h("p", { dir: "auto" }, h("code", {}, line))))];
}

export function receipts(data) {
  if (!data.receipts.length) return [];
  const unknown = (value, show) => (value === null ? "unknown" : show(value));
  const rows = data.receipts.map((one) =>
    h("tr", {},
      [one.turn, one.state ? `${one.speaker}, ${one.state}` : one.speaker, one.answered || one.asked || "-"].map((text) => h("td", {}, text)),
      [unknown(one.input, (n) => n.toLocaleString("en")), unknown(one.output, (n) => n.toLocaleString("en")), unknown(one.usd, (n) => n.toFixed(4)), one.seconds.toFixed(1)]
        .map((text) => h("td", { class: "number" }, text))));
  const heads = [["Turn"], ["Speaker"], ["Model"], ["Tokens in", 1], ["Out", 1], ["USD", 1], ["Seconds", 1]];
  return [
    h("details", { class: "round", id: "receipts" },
      h("summary", {}, h("h2", {}, "Receipts"), " ", h("span", { class: "brief" }, data.usage)),
      h("div", { class: "scroll", role: "region", "aria-label": "Receipts" },
        h("table", { class: "receipts" }, h("thead", {}, h("tr", {}, heads.map(([name, number]) => h("th", { scope: "col", class: number ? "number" : null }, name)))), h("tbody", {}, rows))))];
}
