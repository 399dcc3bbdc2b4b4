// Every server: is it up, and why not.
import { get, post } from "/ui/api.js";
import { act, alertOf, duration, h, table, visible } from "/ui/dom.js";

const CLASS = { ready: "good", failed: "bad", connecting: "warn" };

function stateOf(toolset) {
  const status = toolset.status;
  return h("span", { class: `state ${CLASS[status.state] ?? "quiet"}` }, status.state);
}

function why(one) {
  return visible([one.refusedPlugin, one.status.lastError].filter(Boolean).join(" "));
}

const COLUMNS = [
  ["Toolset", (one) => h("a", { href: `#/toolset/${encodeURIComponent(one.key)}` }, visible(one.key))],
  ["State", stateOf],
  ["Why", why],
  ["Tools", (one) => one.status.tools, true],
  ["Calls", (one) => one.status.calls, true],
  ["Errors", (one) => one.status.errors, true],
  ["Mean ms", (one) => one.status.latencyMs.mean, true],
  ["Max ms", (one) => one.status.latencyMs.max, true],
];

function numbers(hub, toolsets) {
  const failed = toolsets.filter((one) => one.status.state === "failed").length;
  const facts = [["up for", duration(hub.upMs)], ["toolsets", toolsets.length], ["failed", failed], ["servers", hub.servers], ["calls in flight", hub.inFlight], ["refused", hub.refused]];
  return h("ul", { class: "numbers" }, facts.map(([name, value]) => h("li", {}, h("b", {}, value), name)));
}

export async function overview() {
  const { hub, toolsets } = await get("/status");
  const order = { failed: 0, connecting: 1 };
  toolsets.sort((a, b) => (order[a.status.state] ?? 2) - (order[b.status.state] ?? 2) || a.key.localeCompare(b.key));
  const refused = hub.refusedReload ? alertOf({ message: `The last reload was refused. ${hub.refusedReload.reason ?? ""}` }) : null;
  const store = hub.state?.condition === "unavailable" ? alertOf({ message: visible(`The store cannot be used: what is changed now is not kept. ${hub.state.reason ?? ""}`) }) : null;
  return [h("h2", {}, visible(`${hub.name} ${hub.version}`)), refused, store, numbers(hub, toolsets), table("Toolsets", COLUMNS, toolsets)];
}

export async function toolset(key, again, me) {
  const one = await get(`/toolsets/${encodeURIComponent(key)}`);
  const facts = Object.entries(one.status).filter(([, value]) => typeof value !== "object" && value !== "");
  const trouble = one.reason ?? (one.status.state === "failed" ? one.status.lastError : null);
  const action = (verb, title) => act(title, again, () => post(`/toolsets/${encodeURIComponent(key)}/${verb}`));
  return [
    h("h2", {}, visible(key), " ", stateOf(one)),
    trouble ? alertOf({ message: visible(trouble) }) : null,
    one.refusedPlugin ? alertOf({ message: visible(one.refusedPlugin) }) : null,
    one.description ? h("p", {}, visible(one.description)) : null,
    h("p", { class: "quiet" }, visible(one.origin || one.module), one.source ? ` (${visible(one.source)})` : ""),
    h("div", { class: "row" },
      action("enable", "Enable for me"), action("disable", "Disable for me"),
      me.right === "admin" ? action("restart", "Restart") : null,
      h("a", { href: `#/tools?toolset=${encodeURIComponent(key)}` }, "Its tools")),
    table("Facts", [["Fact", ([name]) => name], ["Value", ([, value]) => visible(value)]], facts),
    h("h3", {}, "The end of its standard error"),
    one.stderr ? h("pre", { tabindex: "0" }, visible(one.stderr)) : h("p", { class: "quiet" }, "It has said nothing."),
  ];
}
