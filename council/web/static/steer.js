// What a person decides: the question with its options, and the controls of a run. Whatever was typed is kept.

import { $, all, announce, h, sentence } from "./dom.js";
import { of, post } from "./api.js";

export const KINDS = { checkpoint: "Checkpoint", approval: "Approval", appeal: "Your decision", text: "Your turn" };

// ---- questions ----

// What the tabs of this browser have sent, by session and turn: whoever is second is told that it was the same person.
const sent = new Set();
const tabs = new BroadcastChannel("council answers");
tabs.onmessage = ({ data }) => sent.add(data);

export function desk(id, refresh) {
  const place = h("div", { class: "desk" });
  const forms = new Map(); // turn → form; a form is never drawn again while its question is open

  function draw(questions, cards, running) {
    const wanted = new Set(questions.map((one) => one.turn));
    for (const [turn, form] of forms) {
      if (!wanted.has(turn) && !form.closing) form.gone(cards.find((card) => card.turn === turn)?.by);
      if (form.node.parentNode === null) forms.delete(turn);
    }
    for (const question of questions) {
      if (forms.has(question.turn)) continue;
      const form = ask(id, question, refresh);
      forms.set(question.turn, form);
      place.append(form.node);
      announce(`A question for you: ${question.title}`);
    }
    for (const form of forms.values()) form.clock.hidden = !running;
  }

  return { place, draw };
}

function ask(id, question, refresh) {
  const form = { node: null, clock: null, closing: false };
  const drafts = draft(id, question.turn);
  // Only a run that waits has a limit, and only it knows when it began to wait.
  const minutes = question.deadline ? Math.round(question.deadline / 60) : 0;
  form.clock = h("span", { class: "deadline", title: "An answer that does not come counts as absent, which is never approval." },
    question.deadline ? `the run waits ${minutes ? `${minutes} min` : `${Math.round(question.deadline)} s`} in all` : "");
  const fields = h("div", { class: "fields" });
  const send = h("button", { class: "button send", type: "submit" }, "Send");
  const wrong = h("p", { class: "wrong", role: "alert", hidden: true });
  const choices = question.options.map((option, at) => choice(option, question, at));
  const picked = () => question.options[choices.findIndex((one) => $("input", one).checked)];

  function changed() {
    const option = picked();
    const shown = question.fields.filter((field) => needed(field, option, question));
    const before = new Map(all("[name]", fields).map((one) => [one.name, one.value]));
    // Leaving a field is a change, too: the button must not move away between pressing and letting go.
    if ([...before.keys()].join() !== shown.map((field) => field.name).join())
      fields.replaceChildren(...shown.map((field) => entry(field, before.get(field.name) ?? drafts.get(field.name) ?? "", question)));
    send.textContent = option ? sentence(option.label) : question.options.length ? "Choose an answer" : "Send";
    send.disabled = question.options.length > 0 && !option;
    drafts.set("option", option?.letter ?? "");
  }

  let unheard = false; // an answer was sent, and nothing came back: it may have been recorded

  async function submit(event) {
    event.preventDefault();
    const answers = { ...picked()?.answers };
    for (const one of all("[name]", fields)) if (one.value.trim() || one.required) answers[one.name] = one.value;
    form.closing = true;
    send.disabled = true;
    send.classList.add("busy");
    wrong.hidden = true;
    tabs.postMessage(`${id} ${question.turn}`);
    try {
      const done = await post(`${of(id)}/answers`, { turn: question.turn, answers });
      drafts.clear();
      finish("agree", [h("strong", {}, "Recorded. "), `Your answer is a turn of the debate${done.by ? `, by ${done.by}` : ""}.`]);
      refresh();
    } catch (failure) {
      if (failure.status === 409 && failure.body.recorded === false && failure.body.by) return taken(failure.body, answers);
      form.closing = false;
      unheard = !failure.status;
      send.disabled = false;
      wrong.hidden = false;
      wrong.textContent = failure.message;
      if (unheard) refresh(); // what the page heard while it was sent, it did not draw
    } finally {
      send.classList.remove("busy");
    }
  }

  /** Somebody else was first. What was typed stays where it can be copied. */
  function taken({ by, via }, answers) {
    const own = ["page", ""].includes(via) && sent.has(`${id} ${question.turn}`);
    const where = own ? "in another tab of yours" : { terminal: "in the terminal", page: "on another page", record: "with `council record`", api: "over the API" }[via] ?? "";
    const typed = Object.values(answers ?? {}).filter((text) => String(text).length > 20).join("\n\n");
    const whose = unheard ? ". This may be your answer: nothing came back when it was sent." : `. ${own ? "It" : "Theirs"} came first, so it counts.`;
    finish("mixed", [h("strong", {}, `Answered by ${by} ${where}`.trim()), whose,
      typed ? h("label", { class: "typed" }, "What you typed:", h("textarea", { readonly: true, value: typed })) : null]);
    refresh();
  }

  function finish(tone, content) {
    form.closing = true;
    form.node.classList.remove("ask");
    form.node.replaceChildren(h("p", { class: `answered ${tone}`, role: "status" }, content));
    setTimeout(() => { if (!$("textarea", form.node)) form.node.remove(); }, 30_000);
  }

  form.gone = (by) => taken({ by: by || "somebody else", via: "" }, Object.fromEntries(all("[name]", fields).map((one) => [one.name, one.value])));
  form.node = h("form", { class: `ask ${question.kind}`, onsubmit: submit, onchange: changed, oninput: (event) => drafts.set(event.target.name, event.target.value), "aria-labelledby": `ask-${question.turn}` },
    h("header", {}, h("span", { class: "kind" }, KINDS[question.kind] ?? "Your turn"), form.clock),
    h("h2", { id: `ask-${question.turn}`, dir: "auto" }, question.title),
    question.tension ? h("p", { class: "tension", dir: "auto" }, question.tension) : null,
    question.task ? h("p", { class: "task", dir: "auto" }, reflow(question.task)) : null,
    positions(question.positions, id),
    exhibits(question.artifacts),
    question.options.length ? h("fieldset", { class: "choices" }, h("legend", { class: "hidden" }, "Your answer"), choices) : null,
    question.recommendation ? h("p", { class: "advice", dir: "auto" }, h("strong", {}, "Recommended: "), question.recommendation) : null,
    fields, wrong,
    h("p", { class: "soft elsewhere" }, "This page is read-only. In a terminal, ", h("code", {}, `council answer ${id}`), " takes the answer."),
    h("footer", {}, send, h("span", { class: "soft hint" }, h("kbd", {}, "Enter"), " sends")));
  const kept = question.options.findIndex((option) => (drafts.get("option") ? option.letter === drafts.get("option") : option.recommended));
  if (kept >= 0) $("input", choices[kept]).checked = true;
  changed();
  return form;
}

/** A text that was broken into lines for a terminal, with a line for each paragraph and each item. */
const reflow = (text) => text.replace(/([^\n])\n(?=[^\s\-*\d])/g, "$1 ");

function choice(option, question, at) {
  const id = `choice-${question.turn}-${at}`;
  return h("label", { class: "choice", for: id, "data-letter": option.letter },
    h("input", { type: "radio", name: `choice-${question.turn}`, id, value: option.letter }),
    h("kbd", {}, option.letter),
    h("span", { class: "what" },
      h("strong", { dir: "auto" }, sentence(option.label)), option.recommended ? h("span", { class: "badge agree" }, "recommended") : null,
      option.text && option.text.replace(/\.$/, "") !== option.label ? h("span", { class: "text", dir: "auto" }, sentence(option.text)) : null));
}

/** A field is asked for unless the choice has answered it, or it belongs to another choice. */
function needed(field, option, question) {
  if (!question.options.length) return true;
  if (!option || field.name in option.answers) return false;
  return !field.only_with.length || field.only_with.some((one) => Object.values(option.answers).includes(one));
}

function entry(field, value, question) {
  const id = `field-${question.turn}-${field.name}`;
  const common = { id, name: field.name, value, required: field.required };
  const box = field.choices.length
    ? h("select", common, field.choices.map((one) => h("option", { value: one, selected: one === value }, one)))
    : ["integer", "range"].includes(field.type)
      ? h("input", { ...common, type: "text", inputmode: "numeric" })
      : h("textarea", { ...common, rows: question.options.length ? 3 : 8, dir: "auto" });
  return h("p", { class: "field" },
    h("label", { for: id }, sentence(field.name.replaceAll("_", " ")), field.required ? null : h("span", { class: "soft" }, " (optional)")),
    box, h("span", { class: "soft" }, sentence(field.about || field.hint)));
}

function positions(found, id) {
  if (!found.length) return null;
  return h("details", { class: "positions", open: found.length <= 4 && matchMedia("(min-width: 40rem)").matches, id: "positions" }, h("summary", {}, "Who holds what"),
    h("ul", {}, found.map((one) =>
      h("li", { dir: "auto" }, h("a", { href: `#/s/${id}/${one.turn}` }, one.label), one.stance ? h("span", { class: "badge" }, one.stance) : null, h("span", { class: "text" }, one.text)))));
}

/** What is approved: how it did, its files, and the change itself. */
function exhibits(found) {
  return (found ?? []).map((one, at) => {
    const figures = Object.entries({ ...one.tests, ...one.scores });
    return h("details", { class: "exhibit", open: found.length < 3, id: `exhibit-${at}` },
      h("summary", { dir: "auto" }, h("strong", {}, one.title), one.state ? h("span", { class: "badge" }, one.state) : null),
      figures.length ? h("dl", { class: "figures-of" }, figures.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, String(value))))) : null,
      one.failing.length ? h("p", { dir: "auto" }, `Failing: ${one.failing.slice(0, 20).join(", ")}${one.failing.length > 20 ? ", …" : ""}`) : null,
      one.paths.length ? h("p", { class: "soft", dir: "auto" }, one.paths.join(", ")) : null,
      one.diff ? h("pre", { class: "diff", "aria-label": "The change" }, one.diff.split("\n").map(line)) : null,
      one.hash ? h("p", { class: "soft" }, "hash ", h("code", {}, one.hash.slice(0, 16))) : null);
  });
}

function line(text) {
  const kind = text.startsWith("+") ? "added" : text.startsWith("-") ? "gone" : text.startsWith("@@") ? "place" : null;
  return h("span", { class: kind }, `${text}\n`);
}

/** What is typed, kept in this tab until it is sent. */
function draft(id, turn) {
  const key = (name) => `council ${id} ${turn} ${name}`;
  return {
    get: (name) => sessionStorage.getItem(key(name)),
    set: (name, value) => name && sessionStorage.setItem(key(name), value),
    clear: () => Object.keys(sessionStorage).filter((one) => one.startsWith(key(""))).forEach((one) => sessionStorage.removeItem(one)),
  };
}

/** A letter chooses and Enter sends, while no text is typed. Whether the key meant the question. */
export function answered(event) {
  const form = $(".desk form.ask");
  if (!form || event.target.closest?.("a, button, summary") || document.body.classList.contains("read-only")) return false;
  if (event.key === "Enter" && $(".send:not(:disabled)", form)) {
    form.requestSubmit();
    return true;
  }
  const box = $(`[data-letter="${CSS.escape(event.key.toUpperCase())}"] input`, form);
  box?.click();
  box?.focus();
  return Boolean(box);
}

// ---- the controls of a run ----

const ASKED = {
  pause: "It will pause as soon as those who speak now have spoken.",
  cancel: "It is being stopped.",
  recover: "It will go on in a moment.",
};
const asked = new Map(); // by session: what was asked of it in which state, until that state is over

export function controls(id, data, refresh) {
  const before = asked.get(id);
  if (before && before.state !== data.state) asked.delete(id);
  const message = h("p", { class: "soft", role: "status" }, ASKED[asked.get(id)?.what] ?? "");
  const act = (what) => async (event) => {
    event.target.disabled = true;
    try {
      await post(`${of(id)}/${what}`);
      asked.set(id, { what, state: data.state });
      message.className = "soft";
      message.textContent = ASKED[what];
    } catch (failure) {
      message.className = "wrong";
      message.textContent = failure.message;
      event.target.disabled = false;
    }
    refresh();
  };
  const button = (what, title, kind = "quiet") =>
    h("button", { class: `button ${kind}`, type: "button", disabled: asked.get(id)?.what === what, onclick: act(what) }, title);
  const found = {
    running: [button("pause", "Pause"), confirmed("Cancel", "Really cancel?", act("cancel"))],
    paused: [button("recover", "Go on", "")],
    interrupted: [button("recover", "Recover", "")],
  }[data.state];
  return found ? [h("p", { class: "controls" }, found), message] : [];
}

/** A button that asks again before it acts: turns that are being spoken are lost, and may have been paid for. */
function confirmed(title, again, act) {
  const button = h("button", { class: "button quiet", type: "button" }, title);
  button.addEventListener("click", (event) => {
    if (button.textContent === again) return act(event);
    button.textContent = again;
    button.classList.add("grave");
    setTimeout(() => { button.textContent = title; button.classList.remove("grave"); }, 4000);
  });
  return button;
}
