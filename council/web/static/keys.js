// The keys, and the dialog that lists them. No key does anything while a text is typed, but Escape.

import { $, all, h } from "./dom.js";
import { answered } from "./steer.js";

const KEYS = [
  ["/", "search"],
  ["j", "next debate or turn"],
  ["k", "previous debate or turn"],
  ["Enter", "open it; at a question, send the chosen answer"],
  ["A B C …", "choose an answer by its letter"],
  ["g", "all debates, what waits for you first"],
  ["n", "new debate"],
  ["f", "figures by month"],
  ["?", "this list"],
  ["Esc", "leave the search, close this"],
];

const typing = (target) => target.closest?.("input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]");

export function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.key === "Escape" && event.target.id === "q") return event.target.blur();
  if (typing(event.target) || $("dialog[open]")) return;
  if (answered(event)) return event.preventDefault(); // the letters of a question come before the page's own
  const does = { "/": search, j: () => move(1), k: () => move(-1), g: home, n: () => go("#/new"), f: () => go("#/figures"), "?": help }[event.key];
  if (!does) return;
  event.preventDefault();
  does();
}

function search() {
  $("#q").focus();
  $("#q").select();
}

function home() {
  $("#q").value = "";
  go("#/");
}

const go = (hash) => { location.hash = hash; };

/** Moves the focus along the debates of the list, or the turns of a debate whose rounds are open. */
function move(by) {
  const stops = all("[data-stop]").filter((one) => one.checkVisibility());
  if (!stops.length) return;
  const at = stops.findIndex((one) => one === document.activeElement || one.contains(document.activeElement));
  const next = stops[at < 0 ? (by > 0 ? 0 : stops.length - 1) : Math.min(Math.max(at + by, 0), stops.length - 1)];
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

export function help() {
  const dialog = $("#keys");
  const rows = KEYS.map(([key, does]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, does)]);
  const close = h("button", { class: "button", type: "button", onclick: () => dialog.close() }, "Close");
  dialog.replaceChildren(h("h2", { id: "keys-title" }, "Keyboard"), h("dl", { class: "facts" }, rows), close);
  dialog.showModal();
}
