// Talks to the server: JSON over fetch, and the events of a session. Each request shows the token in a header.

export class Failure extends Error {
  constructor(message, status, body = {}) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

// The address that `council serve` prints has the token behind its #. The browser keeps it for all tabs of this origin,
// which is this port alone, and it is worth nothing once this server has ended.
const KEPT = "council token";
const AGAIN = 500; // milliseconds until a stream that was cut off is asked for again
const REFUSED = 3000; // and one that was refused
const kept = () => ({ "X-Council-Token": localStorage.getItem(KEPT) ?? "" });

/** Keeps the token of an address, if the server takes it: a page of somebody else may have led here with another. */
export async function admit(token) {
  const answer = await fetch("/api/openapi.json", { headers: { "X-Council-Token": token } }).catch(() => null);
  if (answer?.ok) localStorage.setItem(KEPT, token);
}

async function ask(path, options = {}) {
  let answer;
  try {
    answer = await fetch(path, { ...options, headers: { ...options.headers, ...kept() } });
  } catch {
    throw new Failure("The server does not answer. Is `council serve` still running?", 0);
  }
  document.body.classList.toggle("read-only", answer.headers.has("X-Council-Read-Only"));
  const text = await answer.text();
  let body = {};
  try {
    body = JSON.parse(text);
  } catch {
    body = { error: text.trim() };
  }
  if (!answer.ok) throw new Failure(body.error || `The server answered ${answer.status}.`, answer.status, body);
  return body;
}

export const get = (path, signal) => ask(path, { signal });

export function post(path, body = {}) {
  return ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
}

export const of = (id) => `/api/sessions/${encodeURIComponent(id)}`;

/** Listens to events until the function that it returns is called. `connected` hears of every cut. An EventSource could
 * show no token; like one, this goes on after the last event that it heard. */
export function listen(path, heard, connected) {
  const end = new AbortController();
  follow(path, heard, connected, end.signal);
  return () => end.abort();
}

async function follow(path, heard, connected, signal) {
  let last = "";
  const tell = (event) => {
    last = event.id || last;
    queueMicrotask(() => signal.aborted || heard[event.event]?.(JSON.parse(event.data))); // its mistakes end no stream
  };
  while (!signal.aborted) {
    const answer = await fetch(path, { signal, headers: { ...kept(), "Last-Event-ID": last } }).catch(() => null);
    const streams = answer?.ok && answer.headers.get("Content-Type")?.startsWith("text/event-stream");
    if (streams) {
      connected(true);
      await read(answer.body, tell).catch(() => {});
    }
    if (signal.aborted) return;
    connected(false, answer?.status === 401); // another server, or the same one, which was started again
    await new Promise((done) => setTimeout(done, answer && !streams ? REFUSED : AGAIN));
  }
}

/** The events of a stream, one for each group of lines; a line that begins with a colon has no name, and says nothing. */
async function read(stream, tell) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = "", part; !(part = await reader.read()).done; ) {
    const groups = (rest + part.value).split("\n\n");
    rest = groups.pop();
    for (const group of groups) {
      const event = Object.fromEntries(group.split("\n").map((line) => line.split(/: (.*)/)));
      if (event.event) tell(event);
    }
  }
}
