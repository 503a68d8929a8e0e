// Builds elements. Whatever anybody wrote becomes text; only `markup` takes HTML, and only what the server rendered.

/** h("p", {class: "x", onclick: f}, "text", child, null): null and false are left out. */
export function h(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "value") made.value = value;
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** HTML or SVG that the server made, in an element. It escapes whatever members wrote; see council/reports/markup.py. */
export function markup(html, tag = "div", properties = {}) {
  const made = h(tag, properties);
  made.innerHTML = html;
  return made;
}

export const $ = (selector, inside = document) => inside.querySelector(selector);
export const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];

/** A part of the page that is drawn again only if its data changed, and then keeps what the reader had opened. */
export function slot(tag = "div", properties = {}) {
  const place = h(tag, properties);
  let known;
  return {
    place,
    draw(data, render) {
      const now = JSON.stringify(data ?? null);
      if (now === known) return;
      known = now;
      const open = new Map(all("details[id]", place).map((one) => [one.id, one.open]));
      const focused = place.contains(document.activeElement) ? document.activeElement.id : "";
      place.replaceChildren(...[render(data)].flat(Infinity).filter(Boolean));
      for (const one of all("details[id]", place)) if (open.has(one.id)) one.open = open.get(one.id);
      if (focused) document.getElementById(focused)?.focus();
    },
  };
}

let pressed = false;
for (const name of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) {
  addEventListener(name, (event) => { pressed = event.buttons === 1; }, true);
}

/** Waits until nothing is pressed: what is drawn again between pressing and letting go loses the click. */
export async function released() {
  while (pressed) await new Promise((done) => setTimeout(done, 50));
}

let pending = [];
let timer = 0;

/** Tells screen readers. What happens within a second is told together, so that a busy debate does not chatter. */
export function announce(text) {
  if (!pending.includes(text)) pending.push(text);
  clearTimeout(timer);
  timer = setTimeout(() => {
    $("#said").textContent = pending.slice(-3).join(". ");
    pending = [];
  }, 1000);
}

export const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

export function dollars(usd) {
  if (usd === null || usd === undefined) return "";
  return usd === 0 ? "free" : usd < 0.1 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

/** `5m`, `3h`, `2d`: the age of a moment, in its largest unit. */
export function age(moment) {
  const seconds = Math.max(0, (Date.now() - Date.parse(moment)) / 1000);
  for (const [unit, size] of [["d", 86400], ["h", 3600], ["m", 60]]) {
    if (seconds >= size) return `${Math.floor(seconds / size)}${unit}`;
  }
  return `${Math.floor(seconds)}s`;
}

export const sentence = (words) => words.charAt(0).toUpperCase() + words.slice(1);

/** A sentence of the server's, with what stands between backticks as code. */
export const coded = (text) => text.split("`").map((part, at) => (at % 2 ? h("code", {}, part) : part));

/** Joins names as a list: `Serena, Aditi and Marcus`. */
export function listed(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
