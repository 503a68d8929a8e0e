// One debate, while it runs and when it is over: first the answer or the question, then the evidence.

import { announce, dollars, h, listed, markup, plural, released, sentence, slot } from "./dom.js";
import { get, listen, of } from "./api.js";
import { STATES } from "./list.js";
import { table } from "./live.js";
import { documents, follow, receipts, rounds, synthesis } from "./rounds.js";
import { controls, desk } from "./steer.js";
import { concerns, course, dissent, path, pictures, pills, sections } from "./verdict.js";

export async function session(main, [id, turn], shell) {
  main.replaceChildren(h("p", { class: "loading" }, "Loading …"));
  const view = { id, shell, data: await get(of(id)), table: null, closed: false, asked: 0, drawn: 0 };
  view.table = table(view);
  view.desk = desk(id, () => refresh(view));
  frame(main, view);
  draw(view);
  show(turn);
  const stop = follows(view);
  return () => {
    view.closed = true;
    clearTimeout(view.soon);
    stop();
  };
}

/** Listens as long as anything can still happen. A cut-off stream resumes exactly where it was. */
function follows(view) {
  if (!view.data.readable) return () => {};
  return listen(`${of(view.id)}/events`, {
    words: (event) => view.table.words(event),
    turn: (event) => {
      view.table.spoke(event);
      refreshSoon(view);
    },
    due: () => refreshSoon(view),
    state: (row) => {
      if (row.state !== view.data.state) announce(`The debate is ${STATES[row.state] ?? row.state}`);
      view.data = { ...view.data, ...row, title: view.data.title };
      refreshSoon(view);
    },
  }, (there, locked) => {
    view.shell.connection(there, locked);
    view.table.connected(there);
    if (there && view.lost) refresh(view);
    view.lost = !there;
  });
}

function refreshSoon(view) {
  clearTimeout(view.soon);
  view.soon = setTimeout(() => refresh(view), 120);
}

/** Draws it as it is now; an answer that a newer one has overtaken is dropped, or what is over would seem to go on. */
async function refresh(view) {
  const asked = ++view.asked;
  try {
    const data = await get(of(view.id));
    await released();
    if (view.closed || asked < view.drawn) return;
    view.drawn = asked;
    view.data = data;
    draw(view);
  } catch (failure) {
    if (failure.status === 0) view.shell.connection(false);
  }
}

// ---- the frame: a column to read and, where there is room, one that stays in sight ----

const SLOTS = ["head", "question", "live", "notes", "against", "stood", "path", "sections", "concerns", "synthesis", "documents", "rounds", "course", "record"];

function frame(main, view) {
  view.slots = Object.fromEntries([...SLOTS, "state", "strip", "facts"].map((name) => [name, slot("div", { class: `slot slot-${name}` })]));
  const places = SLOTS.map((name) => view.slots[name].place);
  const aside = h("aside", { "aria-label": "State of the debate" }, ["state", "strip", "facts"].map((name) => view.slots[name].place));
  main.replaceChildren(h("div", { class: "columns" }, h("div", { class: "debate" }, places), aside));
  view.slots.live.place.append(view.table.place);
  view.slots.question.place.append(view.desk.place);
}

function draw(view) {
  const { data, slots } = view;
  document.title = `${data.questions?.length ? "● " : ""}${data.title || data.session_id} · council`;
  slots.state.draw([data.questions?.length, data.state, data.why, data.usd, data.totals, data.due], () => state(view));
  if (!data.readable) {
    slots.head.draw(data, () => unreadable(data));
    return;
  }
  const waits = Boolean(data.questions?.length);
  const { verdict } = data;
  slots.head.draw([data.title, verdict, data.question, data.given, data.state, data.kind, data.started_at, waits], () => head(data));
  view.desk.draw(data.questions ?? [], allCards(data), data.state === "running");
  view.table.draw(data.open, data.state, new Set((data.questions ?? []).map((one) => one.turn)));
  slots.notes.draw([data.notes, data.absent], () => notes(data));
  slots.against.draw([verdict.dissent, verdict.blocking], () => dissent(verdict, view.id));
  slots.stood.draw(data.pictures, pictures);
  slots.course.draw(data.course, course);
  slots.path.draw([verdict.path, verdict.carried], () => path(verdict));
  slots.sections.draw(data.sections, () => sections(data.sections));
  slots.concerns.draw(data.concerns, () => concerns(data.concerns, view.id));
  slots.synthesis.draw([data.synthesis, data.effect], () => synthesis(data));
  slots.documents.draw(data.documents, () => documents(data.documents));
  slots.rounds.draw(data.stages, () => rounds(data.stages, view.id));
  slots.strip.draw(data.strip, () => strip(data.strip));
  slots.facts.draw([data.facts, data.receipts, data.completed_at, data.head, Boolean(data.open)], () => aboutIt(data));
  slots.record.draw([data.receipts, data.following, data.usage], () => [...follow(data.following), ...receipts(data)]);
}

const allCards = (data) => [...data.stages.flatMap((stage) => stage.rounds).flatMap((round) => round.cards), ...(data.open?.cards ?? [])];

/** Opens what leads to a turn, and brings it into sight. */
export function show(turn) {
  const there = turn && document.getElementById(turn);
  if (!there) return;
  for (let one = there.closest("details"); one; one = one.parentElement.closest("details")) one.open = true;
  there.scrollIntoView({ block: "start" });
  there.focus({ preventScroll: true });
  there.classList.add("meant");
}

// ---- the head ----

const LONG = 120; // characters: an answer is a whole paragraph, and in large letters a long one would fill the screen

function head(data) {
  const { verdict } = data;
  const when = new Date(data.started_at);
  const kicker = h("p", { class: "kind" }, `${data.kind} · `, h("time", { datetime: data.started_at, title: when.toLocaleString("en") }, moment(when)));
  const whole = data.question
    ? h("details", { id: "whole-question" }, h("summary", {}, "The whole question"), markup(data.question, "div", { class: "panel", dir: "auto" }))
    : null;
  const material = given(data.given);
  if (data.open) {
    return [h("header", {}, kicker, h("h1", { class: "answer open", dir: "auto" }, data.title), whole, material)];
  }
  return [
    h("header", {}, kicker,
      h("p", { class: "asked", dir: "auto" }, data.title),
      h("h1", { class: verdict.answer.length > LONG ? "answer long" : "answer", dir: "auto" }, verdict.answer),
      pills(verdict), whole, material)];
}

/** The documents and facts that members had before them, each as they read it. */
function given(texts) {
  if (!texts?.length) return null;
  return h("details", { id: "given" }, h("summary", {}, `What members were given: ${plural(texts.length, "text")}`),
    texts.map((one, at) =>
      h("details", { class: "given", id: `given-${at}` },
        h("summary", { dir: "auto" }, one.title, " ", h("span", { class: "brief" }, plural(one.lines, "line"))),
        h("pre", { tabindex: "0", "aria-label": one.title }, one.text, one.cut ? "\n…" : null),
        one.cut ? h("p", { class: "soft" }, "This is its beginning. All of it is in ", h("code", {}, "topic.md"), " of the session.") : null)));
}

function moment(when) {
  const today = when.toDateString() === new Date().toDateString();
  const time = when.toLocaleTimeString("en", { hour: "2-digit", minute: "2-digit", hour12: false });
  return today ? `today, ${time}` : `${when.toLocaleDateString("en", { day: "numeric", month: "long", year: "numeric" })}, ${time}`;
}

function unreadable(data) {
  const damaged = data.state === "damaged";
  return [
    h("header", {}, h("p", { class: "kind id" }, data.session_id), h("h1", { class: "answer", dir: "auto" }, data.title || "A session that cannot be read")),
    h("div", { class: "note" }, h("p", {}, h("strong", {}, damaged ? "Damaged: " : "Kept as it is: "), data.why)),
    data.kept ? markup(data.kept, "div", { class: "kept", dir: "auto" }) : null,
    damaged ? h("p", { class: "soft" }, "In a terminal, ", h("code", {}, `council verify ${data.session_id}`), " says what is wrong, file by file.") : null];
}

function notes(data) {
  const absent = data.absent.length ? [{ name: "Degraded", text: `absent: ${data.absent.join("; ")}` }] : [];
  return [...data.notes, ...absent].map((note) =>
    h("div", { class: "note", dir: "auto" }, h("p", {}, h("strong", {}, `${note.name}: `), note.text)));
}

// ---- beside it ----

function state(view) {
  const { data } = view;
  const asked = data.questions?.length > 0;
  const sign = asked ? "waiting" : data.state;
  const word = asked ? "Waiting for you" : data.state === "complete" ? "Finished" : sentence(STATES[data.state] ?? data.state);
  const due = (data.open?.cards ?? []).filter((card) => card.state === "due").map((card) => (card.person ? "you" : card.label));
  const before = { waiting: "for", interrupted: "before" }[data.state];
  const why = before && due.length ? `${before} ${listed(due)}` : data.why.replace(/; run `council recover`.*$/, ""); // there is a button for that
  const known = data.usd ?? data.totals?.usd_at_least; // what a call that still runs costs is not known
  const figure = known ? dollars(known) : data.usd === 0 ? "No cost" : "Cost unknown";
  return [
    h("p", { class: "state", title: data.state === "running" ? data.why : null }, h("span", { class: `sign ${sign}`, "aria-hidden": "true" }), h("strong", {}, word)),
    asked || ["complete", "damaged", "running"].includes(data.state) ? null : h("p", { class: "why", dir: "auto" }, why),
    h("p", { class: "money" },
      known && data.usd === null ? "at least " : null, h("strong", { class: known ? "figure" : null }, figure),
      known ? (data.state === "complete" ? " in all" : " so far") : null,
      data.totals ? h("span", { class: "soft" }, ` · ${plural(data.totals.calls, "turn")}`) : null),
    ...controls(view.id, data, () => refresh(view))];
}

const STRIP = { done: "over", current: "now", skipped: "skipped", ahead: "to come" };

/** The protocol, phase by phase, with the current one lit. */
function strip(phases) {
  const items = phases.map((one) => {
    const count = one.most > 1 && one.state !== "ahead" && one.state !== "skipped" ? `round ${one.rounds} of ${one.most}` : "";
    const unsure = one.state === "ahead" && !one.sure ? "if it is needed" : "";
    const ends = one.outcome && one.outcome !== "complete" ? one.outcome : "";
    return h("li", { class: one.state, "aria-current": one.state === "current" ? "step" : null },
      h("span", { class: "step" }, one.title),
      h("span", { class: "hidden" }, ` (${STRIP[one.state]})`),
      count || unsure || ends ? h("span", { class: "more" }, [count, ends, unsure].filter(Boolean).join(" · ")) : null);
  });
  return [h("h2", {}, "Protocol"), h("ol", { class: "strip" }, items)];
}

const SHOWN = ["Session ID", "Council Members", "Rounds", "Head"]; // elsewhere on the page, or below in better words

function aboutIt(data) {
  const models = [...new Set(data.receipts.map((one) => one.answered || one.asked).filter(Boolean))];
  const facts = [
    ["Session", h("code", {}, data.session_id)],
    ["Models", models.length ? models.join(", ") : null],
    ["Took", data.completed_at ? span(Date.parse(data.completed_at) - Date.parse(data.started_at)) : null],
    ...data.facts.filter((fact) => !SHOWN.includes(fact.name)).map((fact) => [fact.name, fact.text]),
    ["Fingerprint", [h("code", { title: data.head }, data.head.slice(0, 16)), " of every turn so far. ", h("code", {}, "council verify"), " finds whether a file was changed."]],
  ];
  return [
    h("details", { id: "about" }, h("summary", {}, "About this session"),
      h("dl", { class: "facts" }, facts.filter(([, what]) => what).map(([name, what]) => [h("dt", {}, name), h("dd", { dir: "auto" }, what)]))),
    data.open ? null : h("p", {}, h("a", { href: `#/compare/${data.session_id}` }, "Compare with another debate"))];
}

/** From the beginning to the end, in its largest unit. */
function span(milliseconds) {
  const found = [["day", 86400e3], ["hour", 3600e3], ["minute", 60e3]].find(([, size]) => milliseconds >= size);
  const [word, size] = found ?? ["second", 1000];
  return plural(Math.round(milliseconds / size), word);
}
