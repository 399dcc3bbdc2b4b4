// Calls as they happen, and what else does.
import { events } from "/ui/api.js";
import { alertOf, h, visible } from "/ui/dom.js";

const MOST_ROWS = 200;

function time(event) {
  return new Date(event.timeMs ?? event.time).toLocaleTimeString();
}

function cells(columns) {
  return columns.map(([title, text, kind]) => h("td", { "data-title": title, class: kind ?? null }, visible(text ?? "")));
}

export function live(signal) {
  const calls = h("tbody", {});
  const happened = h("tbody", {});
  const rows = new Map();
  const note = h("p", { class: "quiet", role: "status" }, "Waiting for something to happen.");
  let seen = 0;
  function add(body, row) {
    body.prepend(row);
    while (body.children.length > MOST_ROWS) {
      body.lastElementChild.remove();
    }
  }
  function onCall(name, event) {
    const isOver = name === "call.ended";
    const row = h("tr", {}, cells([["Time", time(event)], ["Who", event.who], ["Tool", `${event.toolset}:${event.name}`], ["Method", event.method],
      ["Outcome", isOver ? event.outcome : "in flight", isOver ? (event.outcome === "ok" ? "good" : "bad") : "warn"], ["ms", isOver ? Math.round(event.durationMs) : "", "number"]]));
    const before = rows.get(event.call);
    if (before?.isConnected) {
      before.replaceWith(row);
    } else {
      add(calls, row);
    }
    if (isOver) {
      rows.delete(event.call);
    } else {
      rows.set(event.call, row);
    }
  }
  function onEvent(name, event) {
    seen++;
    note.textContent = `${seen} events so far.`;
    if (name === "call.begun" || name === "call.ended") {
      onCall(name, event);
    } else if (name === "dropped") {
      add(happened, h("tr", {}, cells([["Time", ""], ["Event", "dropped"], ["More", `${event.count} events came too fast to be shown`]])));
    } else {
      const { time: at, timeMs, event: what, level, ...more } = event;
      add(happened, h("tr", {}, cells([["Time", time({ time: at, timeMs })], ["Event", what, level === "error" ? "bad" : level === "warning" ? "warn" : null],
        ["More", Object.entries(more).map(([key, value]) => `${key}=${value}`).join(" ")]])));
    }
  }
  const head = (titles) => h("thead", {}, h("tr", {}, titles.map((title) => h("th", { scope: "col" }, title))));
  const trouble = h("div", {});
  events(signal, onEvent).then(() => trouble.replaceChildren(alertOf({ message: "The hub has ended the stream: open this view again." }))).catch((error) => {
    if (!signal.aborted) {
      trouble.replaceChildren(alertOf({ message: visible(error.message) }));
    }
  });
  return [h("h2", {}, "Live"), note, trouble, h("h3", {}, "Calls"), h("table", { "aria-label": "Calls" }, head(["Time", "Who", "Tool", "Method", "Outcome", "ms"]), calls),
    h("h3", {}, "Events"), h("table", { "aria-label": "Events" }, head(["Time", "Event", "More"]), happened)];
}
