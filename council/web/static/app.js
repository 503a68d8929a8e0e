// The shell: which view the address means, the keys that work everywhere, and what is said if something goes wrong.

import { $, all, coded, h, sentence } from "./dom.js";
import { admit, Failure } from "./api.js";
import { compare, choose } from "./compare.js";
import { help, keys } from "./keys.js";
import { list } from "./list.js";
import { begin } from "./new.js";
import { session } from "./session.js";
import { stats } from "./stats.js";

const ROUTES = [
  [/^#\/(?:\?.*)?$/, () => list],
  [/^#\/new$/, () => begin],
  [/^#\/figures$/, () => stats],
  [/^#\/compare\/([^/]+)\/([^/]+)$/, () => compare],
  [/^#\/compare\/([^/]+)$/, () => choose],
  [/^#\/s\/([^/]+)(?:\/(.+))?$/, () => session],
];

let leave = () => {};
let turned = 0;
let admitted;

/** Opens what the address means. A view draws itself into a place of its own, which a later view takes out of the page,
 *  and returns how it is left: what is slow to come draws over nothing. */
async function open() {
  const turn = ++turned;
  const [, token] = /^#token=([\w-]+)$/.exec(location.hash) ?? [];
  if (token) {
    history.replaceState(null, "", shown); // the address bar and the history lose it
    admitted = admit(token);
  }
  await admitted;
  if (turn !== turned) return;
  const hash = location.hash || "#/";
  if (hash === "#main") return;
  if (!hash.startsWith("#/")) return jump(hash.slice(1));
  leave();
  leave = () => {};
  connection(true);
  const main = $("#main");
  for (const [pattern, view] of ROUTES) {
    const found = pattern.exec(hash);
    if (!found) continue;
    main.className = view().name;
    const place = h("div", { class: "view" });
    main.replaceChildren(place);
    try {
      const left = await view()(place, found.slice(1).map((part) => part && decodeURIComponent(part)), { connection });
      if (turn === turned) leave = left ?? leave;
      else left?.();
    } catch (failure) {
      if (turn === turned) explain(main, failure);
    }
    return;
  }
  explain(main, new Failure(`There is nothing at ${hash}.`, 404));
}

/** A link to a turn from a picture or a report, within the session that is shown. */
function jump(turn) {
  const [, id] = /^#\/s\/([^/]+)/.exec(shown) ?? [];
  location.replace(id ? `#/s/${id}/${turn}` : "#/");
}

let shown = location.hash.startsWith("#/") ? location.hash : "#/";

function explain(main, failure) {
  const locked = failure.status === 401 || failure.status === 403;
  const gone = failure.status === 404;
  const title = locked ? "This page is locked" : gone ? "Nothing is here" : failure.status === 0 ? "Disconnected" : "That did not work";
  document.title = "council";
  main.replaceChildren(
    h("section", { class: "empty" },
      h("h1", {}, title),
      h("p", {}, coded(sentence(failure.message.replace(/([^.!?…])$/, "$1.")))),
      locked ? h("p", { class: "soft" }, coded("Each start of `council serve` prints a new address. Open that one.")) : null,
      h("p", {}, gone
        ? h("a", { class: "button", href: "#/" }, "All debates")
        : h("button", { class: "button", type: "button", onclick: open }, "Try again"))));
}

/** Shows that the server is gone, or does not know this page any more, and that it is back. */
export function connection(there, locked = false) {
  const place = $("#connection");
  place.hidden = there;
  document.body.classList.toggle("offline", !there);
  const text = locked
    ? "The server was started again and does not know this page. Open the address that it printed; nothing that you typed is lost."
    : "Disconnected. Trying again … What you see may be out of date; nothing that you typed is lost.";
  if (place.textContent !== (there ? "" : text)) place.textContent = there ? "" : text;
}

addEventListener("hashchange", () => {
  open();
  shown = location.hash.startsWith("#/") ? location.hash : shown;
});
$("#search").addEventListener("submit", (event) => event.preventDefault());
// Typing leads to the list; only passing through with Tab does not.
$("#q").addEventListener("input", () => {
  if (!/^#\/(\?.*)?$/.test(location.hash || "#/") && !/^#\/compare\/[^/]+$/.test(location.hash)) location.hash = "#/";
});
$("#help").addEventListener("click", help);
addEventListener("keydown", keys);

// Whatever scrolls can be reached with the keyboard, and nothing else is a stop on the way. Headings that members wrote
// begin at a level of their own: to a screen reader, each is at most one below the heading before it.
let measuring = 0;
function measure() {
  measuring ||= requestAnimationFrame(() => {
    measuring = 0;
    let level = 0;
    for (const one of all("h1, h2, h3, h4, h5, h6", $("#main")).filter((one) => one.checkVisibility())) {
      const own = Number(one.tagName[1]);
      level = Math.min(own, level + 1);
      if (level !== own) one.ariaLevel = level;
      else one.removeAttribute("aria-level");
    }
    for (const one of all("pre, .scroll, .words")) {
      one.toggleAttribute("tabindex", one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1);
      if (one.hasAttribute("tabindex")) one.tabIndex = 0;
      if (one.matches(".seat:not(.due) .words")) one.classList.toggle("cut", one.hasAttribute("tabindex"));
    }
  });
}
new MutationObserver(measure).observe($("#main"), { childList: true, subtree: true });
addEventListener("resize", measure);
addEventListener("toggle", measure, true);
open();
