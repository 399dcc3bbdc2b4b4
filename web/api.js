// The administration API. The secret is this tab's alone, and goes in Authorization: no cookie has authority.

const KEY = "patchbay-token";
const BASE = "/api/v1";

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export const token = {
  get: () => sessionStorage.getItem(KEY),
  set: (value) => sessionStorage.setItem(KEY, value),
  forget: () => sessionStorage.removeItem(KEY),
};

function headers(more = {}) {
  return token.get() ? { Authorization: `Bearer ${token.get()}`, ...more } : more;
}

async function read(response) {
  const text = await response.text();
  let body = {};
  try {
    body = JSON.parse(text);
  } catch {
    body = {};
  }
  if (!response.ok) {
    const error = body.error ?? {};
    throw new Refused(response.status, error.message ?? `the hub answers ${response.status}`);
  }
  return body;
}

export async function get(path) {
  return read(await fetch(BASE + path, { headers: headers(), cache: "no-store" }));
}

export async function post(path, body = {}) {
  return read(await fetch(BASE + path, { method: "POST", headers: headers({ "Content-Type": "application/json" }), body: JSON.stringify(body) }));
}

export async function put(path, body = {}) {
  return read(await fetch(BASE + path, { method: "PUT", headers: headers({ "Content-Type": "application/json" }), body: JSON.stringify(body) }));
}

export async function remove(path) {
  return read(await fetch(BASE + path, { method: "DELETE", headers: headers() }));
}

export async function exchange(code) {
  const answer = await read(await fetch("/ui/login", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ code }) }));
  token.set(answer.token);
}

// All that happens, until `signal` says that nobody looks any more.
export async function events(signal, onEvent) {
  const response = await fetch(`${BASE}/events`, { headers: headers({ Accept: "text/event-stream" }), signal });
  if (!response.ok) {
    await read(response);
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) {
      return;
    }
    text += value;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const lines = text.slice(0, end).split("\n");
      text = text.slice(end + 2);
      const of = (name) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      if (of("data")) {
        onEvent(of("event") ?? "message", JSON.parse(of("data")));
      }
    }
  }
}
