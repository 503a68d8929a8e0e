// Evidence for a new debate: texts that are pasted, or read out of files here in the browser. The server gets no path.

import { h, plural } from "./dom.js";

const LONGEST_NAME = 60;
const LARGEST = 800_000; // bytes together: what a request may have, with room for the question

const given = []; // {name, text}: kept while the tab is open, so that a look at another debate loses nothing

export const facts = () => Object.fromEntries(given.map((one) => [one.name, one.text]));
export const forget = () => given.splice(0);

/** The part of the form that takes them; `changed` hears of each change. `take` adds what was pasted and not added yet. */
export function evidence(changed) {
  const rows = h("ol", { class: "given" });
  const wrong = h("p", { class: "wrong", role: "alert", hidden: true });
  const name = h("input", { id: "fact-name", type: "text", maxlength: LONGEST_NAME, placeholder: "load-test.txt", autocomplete: "off" });
  const text = h("textarea", { id: "fact-text", rows: 4, dir: "auto", spellcheck: "false", class: "pasted" });
  const picker = h("input", { id: "fact-files", type: "file", multiple: true, hidden: true });
  const summary = h("span", { class: "brief" });

  function draw() {
    summary.textContent = given.length ? plural(given.length, "fact") : "what members can cite, such as a log or a schema";
    // In the order in which they are sent, which puts a name such as 2026 first: members cite them by these numbers.
    const order = Object.keys(facts());
    given.sort((one, other) => order.indexOf(one.name) - order.indexOf(other.name));
    rows.replaceChildren(...given.map((one, at) =>
      h("li", {},
        h("strong", {}, `E${at + 1}`), h("span", { class: "name", dir: "auto", title: one.name }, one.name),
        h("span", { class: "soft" }, plural(one.text.replace(/\n$/, "").split("\n").length, "line")),
        h("button", { class: "plain", type: "button", "aria-label": `Remove ${one.name}`, onclick: () => { given.splice(at, 1); draw(); changed(); } }, "×"))));
  }

  function complain(why) {
    wrong.hidden = !why;
    wrong.textContent = why;
  }

  /** Adds a fact; why not, if it cannot be one. */
  function add(called, words) {
    if (!words.trim() || words.includes("\0")) return `${called} is empty, or not text.`;
    const bytes = [...given.map((one) => one.text), words].reduce((sum, one) => sum + new TextEncoder().encode(one).length, 0);
    if (bytes > LARGEST) return `${called} is too much: all facts together may have ${LARGEST / 1000} kB here. A terminal takes more, with --evidence.`;
    given.push({ name: unused(called), text: words });
    return "";
  }

  async function read(files) {
    const complaints = [];
    for (const file of files) {
      try {
        complaints.push(file.size > LARGEST ? add(file.name, "x".repeat(LARGEST + 1)) : add(file.name, new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer())));
      } catch {
        complaints.push(`${file.name} is not a text file in UTF-8.`);
      }
    }
    complain(complaints.filter(Boolean).join(" "));
    draw();
    changed();
  }

  picker.addEventListener("change", () => read([...picker.files]).then(() => { picker.value = ""; }));
  function paste() {
    const why = add(name.value.trim() || "pasted.txt", text.value);
    complain(why && (text.value.trim() ? why : "Paste the text first."));
    if (!why) name.value = text.value = "";
    draw();
    changed();
    return !why;
  }
  draw();
  const part = h("details", { id: "evidence" },
    h("summary", {}, h("span", {}, "Evidence"), " ", summary),
    rows, wrong,
    h("p", {}, picker, h("button", { class: "button quiet", type: "button", onclick: () => picker.click() }, "Add text files …")),
    h("p", { class: "field" }, h("label", { for: "fact-text" }, "Or paste a text"), text),
    h("p", { class: "field name-of" }, h("label", { for: "fact-name" }, "Its name"), name, h("button", { class: "button quiet", type: "button", onclick: paste }, "Add it")));
  part.open = given.length > 0;
  part.addEventListener("dragover", (event) => event.preventDefault());
  part.addEventListener("drop", (event) => { event.preventDefault(); read([...event.dataTransfer.files]); });
  return { part, take: () => !text.value.trim() || paste() };
}

/** A name that no other fact has, and that the server accepts. */
function unused(called) {
  const plain = called.replace(/[/\\\p{Cc}\p{Cs}]/gu, "-").replaceAll('"', "'").replace(/^\.+$/, "text");
  const names = new Set(given.map((one) => one.name));
  for (let number = 1; ; number++) {
    const more = number > 1 ? ` (${number})` : "";
    const name = [...plain].slice(0, LONGEST_NAME - more.length).join("").trim() + more;
    if (!names.has(name)) return name;
  }
}
