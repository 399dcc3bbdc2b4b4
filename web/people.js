// Who uses the hub, by which tokens, and in which sessions.
import { get, post, remove } from "/ui/api.js";
import { act, alertOf, duration, empty, h, table, visible } from "/ui/dom.js";

const date = (seconds) => (seconds ? new Date(seconds * 1000).toISOString().slice(0, 10) : "never");

const PRINCIPALS = [
  ["Principal", (one) => visible(one.name)], ["Sessions", (one) => one.sessions, true], ["In flight", (one) => one.inFlight, true],
  ["Equipped", (one) => visible(one.equipped ?? "")],
];

const SESSIONS = [
  ["Session", (one) => one.number], ["Principal", (one) => visible(one.principal)], ["By", (one) => visible([one.transport, one.peer].filter(Boolean).join(" "))],
  ["Profile", (one) => visible(one.profile)], ["Protocol", (one) => visible(one.protocol ?? "")], ["Age", (one) => duration(one.ageMs)], ["In flight", (one) => one.inFlight, true],
];

export async function people() {
  const [{ principals, more }, { sessions }] = await Promise.all([get("/principals"), get("/sessions")]);
  return [h("h2", {}, "Principals"), table("Principals", PRINCIPALS, principals), more > 0 ? empty(`And ${more} more.`) : null,
    h("h3", {}, "Sessions"), sessions.length > 0 ? table("Sessions", SESSIONS, sessions) : empty("No client holds a session: over HTTP of 2026-07-28 each request stands for itself.")];
}

function maker(again) {
  const name = h("input", { id: "token-name", required: true, maxlength: 64, autocomplete: "off" });
  const scopes = h("input", { id: "scopes", autocomplete: "off", "aria-describedby": "scopes-hint" });
  const days = h("input", { id: "days", type: "number", min: 1, max: 36500 });
  const answer = h("div", { role: "status" });
  const make = async (event) => {
    event.preventDefault();
    try {
      const body = { name: name.value, scopes: scopes.value.split(/[\s,]+/).filter(Boolean), ...(days.value ? { days: Number(days.value) } : {}) };
      const made = await post("/tokens", body);
      answer.replaceChildren(h("p", {}, "This is shown once. Keep it:"), h("pre", { tabindex: "0" }, made.token), h("button", { class: "plain", type: "button", onclick: again }, "Done"));
    } catch (error) {
      answer.replaceChildren(alertOf({ message: visible(error.message) }));
    }
  };
  return h("details", {}, h("summary", {}, "Make a token"), h("form", { class: "fields", onsubmit: make },
    h("div", {}, h("label", { for: "token-name" }, "Whose it is"), name),
    h("div", {}, h("label", { for: "scopes" }, "Scopes"), h("p", { class: "hint", id: "scopes-hint" }, "No more than yours, with spaces between; none is fine."), scopes),
    h("div", {}, h("label", { for: "days" }, "Days that it is good for; empty: for ever"), days),
    h("div", {}, h("button", {}, "Make")), answer));
}

export async function tokens(again, me) {
  const title = h("h2", {}, "Tokens");
  let list;
  try {
    list = (await get("/tokens")).tokens;
  } catch (error) {
    return [title, error.status === 401 ? alertOf(error) : empty(visible(error.message))];
  }
  const now = Date.now() / 1000;
  const columns = [
    ["Name", (one) => visible(one.name)], ["Id", (one) => visible(one.id)], ["Made", (one) => date(one.created)],
    ["Until", (one) => h("span", { class: one.expires && one.expires <= now ? "bad" : null }, date(one.expires))],
    ["May", (one) => visible([...one.scopes, ...one.groups.map((group) => `group ${group}`), ...(one.profile ? [`profile ${one.profile}`] : [])].join(", ") || "its own")],
    ["Do", (one) => (me.right === "admin" ? act("Revoke", again, () => remove(`/tokens/${encodeURIComponent(one.id)}`), `Revoke ${one.name} ${one.id}`) : null)],
  ];
  return [title, list.length > 0 ? table("Tokens", columns, list) : empty("There are none."), me.right === "admin" ? maker(again) : null];
}
