// Begin: a question, a protocol, and what it can cost at most before it starts.

import { coded, h, plural, sentence } from "./dom.js";
import { get, post } from "./api.js";
import { evidence, facts, forget } from "./facts.js";

const USUAL = ["debate", "quick", "perspectives", "delphi", "consensus", "board"]; // the others follow by name

export async function begin(main) {
  document.title = "New debate · council";
  main.replaceChildren(h("p", { class: "loading" }, "Loading …"));
  const known = await get("/api/workflows");
  const rank = (one) => (USUAL.includes(one.name) ? USUAL.indexOf(one.name) : USUAL.length);
  const workflows = known.workflows.filter((one) => !one.refused).toSorted((one, other) => rank(one) - rank(other));
  const view = { workflows, asked: 0, kept: sessionStorage };
  const topic = h("textarea", { id: "topic", rows: 4, required: true, dir: "auto", placeholder: "Should we …?", value: view.kept.getItem("council topic") ?? "" });
  const bound = h("div", { class: "bound", role: "status" }, "The cost is shown here before anything is spent.");
  const wrong = h("div", { class: "wrong", role: "alert", hidden: true });
  const send = h("button", { class: "button", type: "submit" }, "Begin");
  const cards = workflows.map(protocol);
  const usual = workflows.filter((one) => USUAL.includes(one.name)).length || cards.length;
  const others = cards.slice(usual);
  const gates = h("div", { class: "gates" });
  const most = h("input", { id: "most", type: "text", inputmode: "decimal", placeholder: "the most that is shown below" });
  const offered = evidence(() => priced());
  const form = h("form", { class: "begin" },
    h("h1", {}, "What should the council decide?"),
    h("p", { class: "field" }, h("label", { for: "topic" }, "The question"), topic),
    h("fieldset", {}, h("legend", {}, "Protocol"),
      h("div", { class: "choices" }, cards.slice(0, usual)),
      others.length ? h("details", { id: "others" }, h("summary", {}, plural(others.length, "other protocol")), h("div", { class: "choices" }, others)) : null),
    offered.part,
    h("details", { id: "more" }, h("summary", {}, "More"),
      gates,
      h("p", { class: "field" }, h("label", { for: "most" }, "Pause before it could cost more than (US dollars)"), most)),
    elsewhere(known.workflows.filter((one) => one.refused)),
    h("div", { class: "last" }, bound, wrong, h("footer", {}, send)));
  main.replaceChildren(form);
  const workflow = () => workflows.find((one) => one.name === form.elements.workflow.value) ?? workflows[0];
  const request = (dry) => ({
    topic: topic.value.trim(), workflow: workflow().name, dry,
    evidence: facts(),
    gates: [...form.querySelectorAll("[name=gate]:checked")].map((one) => one.value),
    ...(most.value.trim() ? { max_cost: amount(most.value) } : {}),
  });
  const priced = () => {
    clearTimeout(view.timer);
    view.timer = setTimeout(() => price(view, request(true), bound), 300);
  };
  const changed = () => {
    gates.replaceChildren(...gatesOf(workflow()));
    priced();
  };
  form.addEventListener("change", (event) => (event.target.name === "workflow" ? changed() : priced()));
  topic.addEventListener("input", () => {
    view.kept.setItem("council topic", topic.value);
    priced();
  });
  most.addEventListener("input", priced);
  topic.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit(); });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (send.disabled) return; // Ctrl+Enter once more, or held down: each would begin a debate, and pay for it
    wrong.hidden = true;
    if (!offered.take()) return;
    send.disabled = true;
    try {
      const made = await post("/api/sessions", request(false));
      view.kept.removeItem("council topic");
      forget();
      location.hash = `#/s/${made.session_id}`;
    } catch (failure) {
      wrong.hidden = false;
      const lost = failure.status === 0 ? " The debate may have begun: look at the list before you begin it again." : "";
      wrong.replaceChildren(...complaint(failure.message + lost));
      send.disabled = false;
    }
  });
  changed();
  topic.focus();
}

/** A text that is no number goes to the server as it is, which refuses it: nothing begins without the limit that was meant. */
const amount = (text) => (Number.isFinite(Number(text)) ? Number(text) : text.trim());

function protocol(one, at) {
  const id = `workflow-${one.name}`;
  return h("label", { class: "choice", for: id },
    h("input", { type: "radio", name: "workflow", id, value: one.name, checked: at === 0 || one.name === "debate" }),
    h("span", { class: "what" }, h("strong", {}, sentence(one.title ?? one.name)), h("span", { class: "text" }, one.description ?? "")));
}

/** What cannot be begun from a page, and why. */
function elsewhere(found) {
  if (!found.length) return null;
  return h("details", { id: "elsewhere" }, h("summary", {}, "Only in a terminal"),
    h("dl", { class: "facts" }, found.map((one) => [h("dt", {}, sentence(one.name)), h("dd", {}, sentence(one.refused))])));
}

/** A gate in front of what follows a phase: a person approves first. */
function gatesOf(workflow) {
  const phases = (workflow.phases ?? []).map((one) => one.name ?? one);
  if (!phases.length) return [];
  return [h("fieldset", { class: "boxes" }, h("legend", {}, "Ask me before the debate goes on after"),
    phases.map((name) => h("label", {}, h("input", { type: "checkbox", name: "gate", value: name }), " ", name)))];
}

const SHORT = 140; // characters of a complaint that are always in sight

/** Why it cannot begin. What is long is folded behind what it says first: this place covers a part of the form. */
function complaint(text) {
  const [, what, why] = (text.length > SHORT && /^(.{1,80}?): (.+)$/s.exec(text)) || [];
  if (!what) return coded(sentence(text));
  return [h("details", {}, h("summary", {}, sentence(what)), h("div", { class: "scroll" }, coded(sentence(why))))];
}

/** The bound; an answer that a newer question has overtaken is dropped. */
async function price(view, request, place) {
  if (!request.topic) return;
  const asked = ++view.asked;
  try {
    const found = await post("/api/sessions", request);
    if (asked === view.asked) place.replaceChildren(h("strong", {}, found.cost ?? found.bound ?? ""), " ", h("span", { class: "soft" }, found.calls ?? ""));
  } catch (failure) {
    if (asked === view.asked) place.replaceChildren(...complaint(failure.message));
  }
}
