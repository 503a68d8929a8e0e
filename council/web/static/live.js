// The round that is open: a card for each seat, words as they are spoken, and who waits for whom.

import { announce, h, listed, markup } from "./dom.js";
import { seatClass, title } from "./rounds.js";

const SAYS = { due: "speaking", waits: "", hidden: "has spoken", spoken: "", absent: "absent" };
const KEPT = 20_000; // characters of a stream that are shown; the whole turn replaces them

export function table(view) {
  const place = h("section", { class: "live", "aria-label": "The open round", hidden: true });
  const heading = h("header", { class: "round-head" });
  const seats = h("div", { class: "seats" });
  place.append(heading, seats);
  const cards = new Map(); // by turn: the node and the card
  const heard = new Map(); // by turn: the words so far, up to which byte; they may come before the card
  let state = "";

  function draw(open, now, asked) {
    state = now;
    place.hidden = !open;
    if (!open) return;
    const count = open.most > 1 ? `round ${open.round} of at most ${open.most}` : "";
    heading.replaceChildren(
      h("h2", {}, open.title),
      h("span", { class: "brief" }, [open.step, count].filter(Boolean).join(" · ")),
      ...open.before.map((one) => h("p", { class: "decision", dir: "auto" }, h("strong", {}, `${one.title}: `), one.text)));
    const shown = open.cards.filter((card) => !asked.has(card.turn)); // a question has a form of its own
    place.hidden = !shown.length && !open.before.length;
    const wanted = new Set(shown.map((card) => card.turn));
    for (const [turn, card] of cards) if (!wanted.has(turn)) { card.node.remove(); cards.delete(turn); }
    shown.forEach((card, at) => {
      const one = update(card);
      if (seats.children[at] !== one.node) seats.insertBefore(one.node, seats.children[at] ?? null);
    });
  }

  function update(card) {
    const one = cards.get(card.turn) ?? { node: h("article", { "data-stop": "", tabindex: "-1", id: card.turn }), known: "" };
    cards.set(card.turn, one);
    const now = JSON.stringify([card, state, heard.get(card.turn)?.broken]);
    if (one.known === now) return one;
    const news = one.scene && one.scene.state !== card.state;
    one.known = now;
    one.scene = card;
    render(one, card);
    if (news && card.state === "spoken") {
      one.node.classList.add("arrived");
      announce(`${card.label} has spoken`);
    }
    return one;
  }

  function render(one, card) {
    const speaks = card.state === "due";
    const { text = "", broken: cut = false } = heard.get(card.turn) ?? {};
    const broken = speaks && cut;
    one.node.className = `seat ${seatClass(card)} ${card.state}${broken ? " broken" : ""}`;
    one.body = h("div", { class: "words" });
    if (speaks) {
      one.body.append(h("p", { class: "stream", dir: "auto" }, text));
      if (state === "running") one.body.append(h("span", { class: "caret", "aria-hidden": "true" }));
    } else if (card.html) {
      one.body.append(markup(card.html));
    } else if (card.state === "hidden") {
      one.body.append(h("p", { class: "soft" }, "You can read this once you have answered."));
    }
    const note = h("p", { class: `says ${card.state}` }, speaks && state === "running" && !card.person ? dots() : null, says(card, broken));
    one.node.replaceChildren(title(card, ""), note, one.body);
    one.stream = one.body.querySelector(".stream");
  }

  function says(card, broken) {
    if (broken) return "broken off: the program that ran this debate has ended";
    if (card.person && card.state === "due") return "waits for a person";
    if (card.state === "waits") return `waits for ${listed(card.after)}`;
    if (card.state === "due" && state !== "running") return "not asked yet";
    if (card.state === "due") return card.again ? "asked once more" : card.machine ? "running" : "speaking";
    return SAYS[card.state] ?? "";
  }

  /** Words come with their place in the stream: what was heard before a reconnection is not said twice. */
  function words({ turn, at, text, broken }) {
    const said = heard.get(turn) ?? { text: "", end: 0 };
    if (at > 0 && at < said.end) return;
    const before = at === 0 ? "" : said.text; // a first call, or another one after a call that failed
    heard.set(turn, { text: (before + text).slice(-KEPT), end: at + new TextEncoder().encode(text).length, broken });
    const one = cards.get(turn);
    if (!one?.stream) return; // its card is still to come, or the turn itself is there already
    if (said.broken !== broken) update(one.scene);
    one.stream.textContent = heard.get(turn).text;
    one.body.scrollTop = one.body.scrollHeight;
  }

  function spoke(card) {
    heard.delete(card.turn);
    if (!place.hidden && cards.has(card.turn)) update(card);
  }

  function connected(now) {
    place.classList.toggle("stale", !now);
  }

  return { place, draw, words, spoke, connected };
}

const dots = () => h("span", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i"));
