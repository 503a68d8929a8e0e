// The list: what waits for you, what runs, and everything else, found as you type.

import { $, age, announce, dollars, h, plural, released, sentence } from "./dom.js";
import { get, listen } from "./api.js";
import { KINDS } from "./steer.js";

const FILTERS = [["", "All"], ["unfinished", "Not finished"], ["finished", "Finished"], ["damaged", "Damaged"]];
export const STATES = {
  complete: "finished", running: "running", waiting: "waiting", paused: "paused",
  interrupted: "interrupted", damaged: "damaged",
};
const USUAL = 30; // rows of one page
const MOST = 200; // rows of one answer
const FOLLOWED = 100; // rows whose changes are told
const PAUSE = 30; // milliseconds without a key before the server is asked

let kept = { q: "", state: "", workflow: "", outcome: "" }; // so that Back finds the list as it was

export async function list(main, _, shell) {
  document.title = "council";
  const box = $("#q");
  if (document.activeElement === box) kept.q = box.value.trim(); // typed on another view
  else box.value = kept.q;
  const figures = h("p", { class: "end" }, h("a", { href: "#/figures" }, "Figures by month"));
  const places = { gates: h("div"), filters: h("div", { class: "filters" }), building: h("p", { class: "soft", role: "status" }), rows: h("div", { class: "rows" }, h("p", { class: "loading" }, "Loading …")) };
  main.replaceChildren(h("h1", { class: "hidden" }, "Debates"), places.gates, places.filters, places.building, places.rows, figures);
  const view = { places, shell, cursor: null, asked: 0, rows: [] };
  const typed = () => {
    kept.q = box.value.trim();
    clearTimeout(view.timer);
    view.timer = setTimeout(() => load(view), PAUSE);
  };
  box.addEventListener("input", typed);
  box.addEventListener("keydown", enter);
  await load(view, true);
  return () => {
    view.closed = true;
    view.stop?.();
    clearTimeout(view.timer);
    clearTimeout(view.later);
    clearTimeout(view.again);
    box.removeEventListener("input", typed);
    box.removeEventListener("keydown", enter);
  };
}

/** Listens to the changes of the rows that are shown, and to new ones. */
function follow(view) {
  const ids = view.rows.slice(0, FOLLOWED).map((row) => row.session_id).sort().join();
  if (ids === view.followed || view.closed) return;
  clearTimeout(view.later);
  view.later = setTimeout(() => {
    view.stop?.();
    view.followed = ids;
    view.stop = listen(`/api/events?ids=${ids}`, { list: () => soon(view) }, (there, locked) => {
      view.shell.connection(there, locked);
      if (there && view.lost) load(view);
      view.lost = !there;
    });
  }, view.stop ? 1000 : 0);
}

/** From the search box, Enter and the arrow lead to the first hit. */
function enter(event) {
  if (event.key !== "Enter" && event.key !== "ArrowDown") return;
  event.preventDefault();
  $(".rows [data-stop]")?.focus();
}

function soon(view) {
  clearTimeout(view.again);
  view.again = setTimeout(() => load(view), 250);
}

/** Asks for the rows; an answer that a newer question has overtaken is dropped. */
async function load(view, first = false) {
  const asked = ++view.asked;
  const filters = Object.entries(kept).filter(([, value]) => value);
  const same = view.drawn === String(filters); // a change somewhere: whatever was unfolded stays
  const rows = same ? Math.min(Math.max(view.rows.length, USUAL), MOST) : USUAL;
  const query = new URLSearchParams([...filters, ["limit", rows]]);
  try {
    const [found, gates] = await Promise.all([
      get(`/api/sessions?${query}`),
      get("/api/gates").catch(() => ({ gates: [] })),
    ]);
    await released();
    if (asked !== view.asked) return;
    // Rows that are older than all of these were pushed out by new ones, or are more than one answer has.
    const last = found.sessions.at(-1)?.started_at ?? "";
    const older = same && found.next && !kept.q ? view.rows.filter((row) => row.started_at < last) : [];
    view.rows = [...found.sessions, ...older];
    if (!older.length) view.cursor = found.next;
    view.drawn = String(filters);
    draw(view, found, gates.gates);
    follow(view);
    build(view, found.building);
    if (kept.q) announce(plural(found.total, "debate"));
  } catch (failure) {
    if (first) throw failure;
    view.shell.connection(![0, 401].includes(failure.status), failure.status === 401);
  }
}

/** Says that there may be more, and asks again until the server has read everything. */
function build(view, share) {
  const text = share === undefined ? "" : `The index is being built: ${Math.round(100 * share)} %. More debates may follow.`;
  if (view.places.building.textContent !== text) view.places.building.textContent = text;
  if (share !== undefined) soon(view);
}

function draw(view, found, gates) {
  view.places.gates.replaceChildren(...(kept.q || kept.state ? [] : waiting(gates)));
  view.places.filters.replaceChildren(...filters(view, found.facets ?? {}));
  if (!view.rows.length) return view.places.rows.replaceChildren(empty(view));
  const at = document.activeElement?.dataset?.id;
  view.places.rows.replaceChildren(...grouped(view.rows), ...more(view, found));
  if (at) $(`.rows [data-id="${CSS.escape(at)}"]`)?.focus({ preventScroll: true });
}

/** The questions that wait for a person, each with the words it is about. */
function waiting(gates) {
  if (!gates.length) return [];
  return [
    h("section", { class: "asks", "aria-labelledby": "waiting" },
      h("h2", { id: "waiting" }, "Waiting for you"),
      h("ul", {}, gates.map((one) =>
        h("li", {},
          h("a", { href: `#/s/${one.session}`, "data-stop": "" },
            h("span", { class: "kind" }, KINDS[one.kind] ?? "Your turn"),
            h("strong", { dir: "auto" }, one.topic || one.title),
            one.tension ? h("span", { class: "tension", dir: "auto" }, one.tension) : null,
            h("span", { class: "button" }, one.options.length ? "Decide" : "Answer")))))),
  ];
}

function filters(view, facets) {
  if (!Object.keys(facets.state ?? {}).length) return [];
  const counts = facets.state;
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const chips = FILTERS.filter(([state]) => !state || counts[state] || kept.state === state).map(([state, title]) =>
    h("button", { class: "chip", type: "button", "aria-pressed": String(kept.state === state), onclick: () => set(view, { state }) },
      title, " ", h("span", { class: "count" }, (state ? counts[state] ?? 0 : total).toLocaleString("en"))));
  return [h("div", { class: "chips", role: "group", "aria-label": "State" }, chips), ...["workflow", "outcome"].map((name) => picker(view, name, facets[name] ?? {}))];
}

function picker(view, name, counts) {
  const options = Object.entries(counts).sort((a, b) => b[1] - a[1]);
  if (options.length < 2 && !kept[name]) return "";
  const all = h("option", { value: "" }, `Any ${name}`);
  const choices = options.map(([value, count]) => h("option", { value, selected: kept[name] === value }, `${value} (${count})`));
  return h("select", { "aria-label": sentence(name), onchange: (event) => set(view, { [name]: event.target.value }) }, all, choices);
}

function set(view, changes) {
  kept = { ...kept, ...changes };
  load(view);
}

// ---- rows ----

/** The rows under the days on which they began. */
function grouped(rows) {
  const groups = new Map();
  for (const row of rows) {
    const title = kept.q ? "" : day(new Date(row.started_at));
    groups.set(title, [...(groups.get(title) ?? []), row]);
  }
  return [...groups].map(([title, found]) =>
    h("section", {}, title ? h("h2", {}, title) : h("h2", { class: "hidden" }, "Results"), h("ul", {}, found.map(item))));
}

function day(moment) {
  const midnight = new Date().setHours(0, 0, 0, 0);
  if (moment >= midnight) return "Today";
  if (moment >= midnight - 86400e3) return "Yesterday";
  if (moment >= midnight - 6 * 86400e3) return moment.toLocaleDateString("en", { weekday: "long" });
  return moment.toLocaleDateString("en", { month: "long", year: "numeric" });
}

function item(row) {
  const said = row.waiting?.length ? "waiting for you" : row.state === "complete" ? row.outcome : (STATES[row.state] ?? row.state);
  const hits = (row.hits ?? []).slice(0, 2).map((hit) =>
    h("a", { class: "hit", dir: "auto", href: `#/s/${row.session_id}${hit.turn ? `/${hit.turn}` : ""}` },
      hit.turn ? h("span", { class: "where" }, hit.turn.split("/").at(-1)) : null, ...marked(plainly(hit.snippet))));
  const state = row.waiting?.length ? "waiting" : row.state;
  return h("li", { class: state },
    h("a", { class: "row", href: `#/s/${row.session_id}`, "data-stop": "", "data-id": row.session_id },
      h("span", { class: `sign ${state}`, "aria-hidden": "true" }),
      h("span", { class: "topic", dir: "auto" }, ...(kept.q ? marked(row.title ?? row.topic) : [row.title || row.topic || row.session_id])),
      h("span", { class: "about" },
        row.workflow ? h("span", { class: "workflow" }, row.workflow) : null,
        h("span", { class: "outcome" }, said || "finished"),
        row.state === "damaged" ? h("span", { class: "why" }, row.why) : null),
      h("span", { class: "cost" }, dollars(row.usd)),
      h("time", { datetime: row.started_at, title: new Date(row.started_at).toLocaleString("en") }, age(row.started_at))),
    hits);
}

/** A passage of Markdown on one line, with a dot where a heading or an item begins. */
const plainly = (text) => text.replace(/(^|\s)(?:#{1,6}|[-*>+])\s+/g, "$1· ").replace(/(\*\*|__|`)/g, "");

/** A text with the words that were searched for marked. */
export function marked(text) {
  const words = kept.q.split(/\s+/).filter(Boolean).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (!words.length) return [text];
  return text.split(new RegExp(`(${words.join("|")})`, "gi")).map((part, at) => (at % 2 ? h("mark", {}, part) : part));
}

function more(view, found) {
  if (!view.cursor) return [];
  const left = found.total - view.rows.length;
  const load = async (event) => {
    event.target.disabled = true;
    const query = new URLSearchParams([...Object.entries(kept).filter(([, value]) => value), ["before", view.cursor]]);
    const next = await get(`/api/sessions?${query}`);
    view.rows = [...view.rows, ...next.sessions];
    view.cursor = next.next;
    const focus = next.sessions[0]?.session_id;
    view.places.rows.replaceChildren(...grouped(view.rows), ...more(view, next));
    follow(view);
    $(`.rows [data-id="${CSS.escape(focus ?? "")}"]`)?.focus();
  };
  return [h("p", { class: "more" }, h("button", { class: "button quiet", type: "button", "data-stop": "", onclick: load }, `Show more (${left.toLocaleString("en")} left)`))];
}

function empty(view) {
  const filtered = Object.values(kept).some(Boolean);
  if (filtered) {
    const clear = () => {
      $("#q").value = "";
      set(view, { q: "", state: "", workflow: "", outcome: "" });
    };
    const what = kept.q ? `Nothing matches “${kept.q}”` : "Nothing matches these filters";
    return h("section", { class: "empty" }, h("h2", {}, what),
      h("p", { class: "soft" }, "All words must occur in the debate; the beginning of a word is enough."),
      h("p", {}, h("button", { class: "button", type: "button", onclick: clear }, "Show all debates")));
  }
  return h("section", { class: "empty" },
    h("img", { src: "/static/mark.svg", alt: "", width: "72", height: "72" }),
    h("h2", {}, "No debates yet"),
    h("p", { class: "soft" }, "Ask a question here, or in a terminal: ", h("code", {}, 'council run "Should we …?"')),
    h("p", {}, h("a", { class: "button", href: "#/new" }, "Begin the first one")));
}
