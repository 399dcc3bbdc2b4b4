// What servers offer that nobody has approved as it is: before, and now.
import { get, post } from "/ui/api.js";
import { act, alertOf, empty, h, visible } from "/ui/dom.js";

const WORDS = { new: "is new", changed: "has changed", gone: "is gone" };

// The members that differ, by their paths; bounded by what the server may send.
function differences(before, now, path = "") {
  const isMap = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  if (JSON.stringify(before) === JSON.stringify(now)) {
    return [];
  }
  if (!isMap(before) || !isMap(now)) {
    return [[path || "all of it", before, now]];
  }
  const keys = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
  return keys.flatMap((key) => differences(before[key], now[key], path ? `${path}.${key}` : key));
}

function show(value) {
  return visible(typeof value === "string" ? value : JSON.stringify(value, null, 2));
}

function differenceOf(change) {
  const rows = differences(change.before ?? undefined, change.now ?? undefined);
  return rows.map(([path, before, now]) => h("div", { class: "difference" }, h("p", { class: "path" }, visible(path)),
    before === undefined ? null : h("pre", { class: "before", tabindex: "0", "aria-label": "before" }, show(before)),
    now === undefined ? null : h("pre", { class: "after", tabindex: "0", "aria-label": "now" }, show(now))));
}

function cardOf(change, again, me) {
  const isItem = change.what === "tool" || change.what === "prompt";
  const title = isItem ? `${change.toolset}:${change.name}` : `${change.toolset}: ${change.what === "origin" ? "command or URL" : change.what}`;
  const approve = () => post("/approvals", isItem ? { toolset: change.toolset, tool: change.name, ...(change.digest ? { digest: change.digest } : {}) } : { toolset: change.toolset, ...(change.digest ? { digest: change.digest } : {}) });
  const button = me.right === "admin" && change.what !== "origin" ? act("Approve", again, approve, `Approve ${title}`) : null;
  return h("section", { class: "card" },
    h("h3", {}, visible(title), " ", h("span", { class: change.withheld ? "bad" : "warn" }, `${WORDS[change.change]}${change.withheld ? ", and is kept from clients" : ""}`)),
    change.suspect ? h("p", { class: "alert" }, `It holds what a reader does not see as it is: ${visible(change.suspect)}`) : null,
    differenceOf(change),
    change.what === "origin" ? h("p", { class: "quiet" }, `What is started is approved on the hub's machine: patchbay approve ${visible(change.toolset)}`) : null,
    h("div", { class: "row" }, button));
}

export async function approvals(again, me) {
  const title = h("h2", {}, "Approvals");
  let found;
  try {
    found = await get("/approvals");
  } catch (error) {
    return [title, error.status === 401 ? alertOf(error) : empty(visible(error.message))];
  }
  return [title, found.changes.length === 0 ? empty("All that servers offer is as somebody has approved it.") : h("p", {}, "Read what has changed before you approve it: a model follows what a definition says."),
    found.changes.map((change) => cardOf(change, again, me)),
    found.more > 0 ? empty(`And ${found.more} more: see patchbay lock --show.`) : null];
}
