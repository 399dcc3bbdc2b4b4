// What the hub is configured to be, what a reload would change, limits, and the end of the audit.
import { get } from "/ui/api.js";
import { empty, h, pretty, table, visible } from "/ui/dom.js";

const LISTENERS = [
  ["Listener", (one) => visible(one.kind === "http" ? `${one.tls ? "https" : "http"} ${one.address}:${one.port}` : one.address)],
  ["Serves", (one) => ["metrics", "rest", "api", "ui"].filter((face) => one[face]).concat(one.profile ? [`profile ${one.profile}`] : []).map(visible).join(", ")],
];

const TOOLSETS = [
  ["Toolset", (one) => h("a", { href: `#/toolset/${encodeURIComponent(one.key)}` }, visible(one.key))], ["Is", (one) => visible(one.origin || one.module)],
  ["Where", (one) => visible(one.source ?? "")],
  ["Rules", (one) => visible([one.enabled ? null : "switched off", one.active ? null : "not active at start", one.isolated ? "in a process of its own" : null, one.withheld ? "withheld" : null,
    one.overrides ? "overrides" : null, one.allow ? `allows ${one.allow.join(" ")}` : null, one.deny ? `denies ${one.deny.join(" ")}` : null, one.scopes ? `scopes ${one.scopes.join(" ")}` : null].filter(Boolean).join("; "))],
];

const RULES = [["Then", (one) => one.then], ["Where", (one) => visible(one.source ?? "")], ["Because", (one) => visible(one.reason ?? "")]];

const LIMITS = [
  ["Limit", (one) => visible(one.name)], ["Is", (one) => h("span", { class: one.value === one.default ? null : "warn" }, visible(one.value)), true],
  ["Default", (one) => visible(one.default), true], ["For", (one) => visible(one.about)],
];

function changesOf(found) {
  if (found.refused) {
    return h("p", { class: "alert" }, `A reload would be refused. ${visible(found.refused)}`);
  }
  const parts = [["adds", found.added], ["removes", found.removed], ["changes", found.changed], ["needs a restart for", found.restart]].filter(([, list]) => list.count > 0);
  return parts.length === 0 ? empty("Nothing: the files are as the hub has read them.") : h("ul", { class: "plain" }, parts.map(([word, list]) => h("li", {}, `${word} ${visible(list.names)}`)));
}

export async function configuration() {
  const [one, { limits }, changes] = await Promise.all([get("/configuration"), get("/limits"), get("/configuration/changes").catch((error) => ({ refused: error.message }))]);
  const facts = [["Generation", one.generation], ["Tokens wanted", one.auth.required ? `yes: ${one.auth.tokens} tokens, ${one.auth.issuers} issuers` : "no"], ["Approvals", one.pins], ["Remembers", one.remember],
    ["Audit", one.audit], ["State", one.state]];
  return [h("h2", {}, "Configuration"), table("Facts", [["Fact", ([name]) => name], ["Value", ([, value]) => visible(value)]], facts),
    h("h3", {}, "What a reload would change"), changesOf(changes),
    h("h3", {}, "Listeners"), one.listeners.length > 0 ? table("Listeners", LISTENERS, one.listeners) : empty("None: the hub's client is on its standard input."),
    h("h3", {}, "Profiles"), h("pre", { tabindex: "0" }, pretty(one.profiles)),
    h("h3", {}, "Toolsets"), table("Toolsets", TOOLSETS, one.toolsets),
    h("h3", {}, "Rules"), one.access.length > 0 ? table("Rules", RULES, one.access) : empty("None: everybody who may use the hub may use all of it."),
    h("h3", {}, "Limits"), table("Limits", LIMITS, limits)];
}

const RECORDS = [
  ["Time", (one) => visible(one.time ?? "")], ["Who", (one) => visible(one.principal ?? one.who ?? "")], ["What", (one) => visible([one.toolset, one.name].filter(Boolean).join(":") || (one.event ?? ""))],
  ["Outcome", (one) => h("span", { class: one.outcome === "ok" ? "good" : "bad" }, visible(one.outcome ?? ""))], ["ms", (one) => (one.durationMs === undefined ? "" : Math.round(one.durationMs)), true],
];

export async function audit() {
  const title = h("h2", {}, "Audit");
  let records;
  try {
    ({ records } = await get("/audit?limit=200"));
  } catch (error) {
    return [title, empty(visible(error.message))];
  }
  return [title, records.length > 0 ? table("Records", RECORDS, records.reverse()) : empty("Nothing is recorded yet.")];
}
