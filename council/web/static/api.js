// Talks to the server: JSON over fetch, and the events of a session.

export class Failure extends Error {
  constructor(message, status, body = {}) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

async function ask(path, options = {}) {
  let answer;
  try {
    answer = await fetch(path, { credentials: "same-origin", ...options });
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
  const headers = { "Content-Type": "application/json", "X-Council": "1" };
  return ask(path, { method: "POST", headers, body: JSON.stringify(body) });
}

export const of = (id) => `/api/sessions/${encodeURIComponent(id)}`;

/** Listens to events until `close` is called. The browser resumes where it was cut off; `connected` hears of it. */
export function listen(path, heard, connected) {
  let source;
  let timer;
  const open = () => {
    source = new EventSource(path);
    source.onopen = () => connected(true);
    source.onerror = async () => {
      connected(false);
      const refused = source.readyState === EventSource.CLOSED;
      if (!refused) return; // cut off: the browser tries again by itself
      timer = setTimeout(open, 3000);
      const failure = await get("/api/openapi.json").then(() => ({}), (failure) => failure);
      if (failure.status === 401) connected(false, true); // another server, or the same one with another token
    };
    for (const [name, function_] of Object.entries(heard)) {
      source.addEventListener(name, (event) => function_(JSON.parse(event.data)));
    }
  };
  open();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}
