// Logins of the hub to servers: which there are, which somebody has to make, beginning one, ending one.
import { get, post, remove } from "/ui/api.js";
import { act, alertOf, empty, h, say, table, visible } from "/ui/dom.js";

const STATES = { logged_in: ["good", "logged in"], wanted: ["warn", "somebody has to log in"], expired: ["bad", "expired"] };

function stateOf(state) {
  const [kind, text] = STATES[state] ?? ["quiet", state];
  return h("span", { class: kind }, visible(text));
}

// What a server says where to log in may be anything: only what is a page is made a link.
function linkOf(key, url) {
  return /^https?:\/\//.test(url) ? h("p", {}, h("a", { class: "button", href: url, target: "_blank", rel: "noopener noreferrer" }, `Open the page that logs in to ${visible(key)}`))
    : alertOf({ message: `Its server names an address that is no page: ${visible(url)}` });
}

export async function logins(again) {
  const title = h("h2", {}, "Logins");
  const link = h("div", { role: "status" });
  let found;
  try {
    found = await get("/logins");
  } catch (error) {
    return [title, error.status === 401 ? alertOf(error) : empty(visible(error.message))];
  }
  const { toolsets } = await get("/status");
  const begin = async (key) => {
    try {
      const begun = await post(`/logins/${encodeURIComponent(key)}`);
      link.replaceChildren(begun.url ? linkOf(key, begun.url) : h("p", { class: "good" }, `${visible(key)}: logged in; nobody has to do anything.`));
      link.querySelector("a")?.focus();
    } catch (error) {
      link.replaceChildren(alertOf({ message: visible(error.message) }));
    }
  };
  const key = h("select", { id: "login-toolset" }, toolsets.map((one) => h("option", { value: one.key }, visible(one.key))));
  const end = (one) => () => remove(`/logins/${encodeURIComponent(one.toolset)}?principal=${encodeURIComponent(one.principal ?? "")}`).then((answer) => {
    say(answer.revoked ? "The login has ended." : visible(answer.reason ?? ""));
    return { message: answer.revoked ? "The login has ended." : answer.reason };
  });
  const columns = [
    ["Toolset", (one) => h("a", { href: `#/toolset/${encodeURIComponent(one.toolset)}` }, visible(one.toolset))], ["Whose", (one) => visible(one.principal || "the hub's own")],
    ["State", (one) => stateOf(one.state)], ["Server", (one) => visible(one.server ?? "")], ["By", (one) => visible(one.issuer ?? "")], ["Scopes", (one) => visible(one.scope ?? "")],
    ["Do", (one) => act("Log out", again, end(one), `Log out of ${one.toolset}`)],
  ];
  return [title,
    found.wanted.length > 0 ? h("ul", { class: "plain" }, found.wanted.map((one) => h("li", { class: "row" }, h("span", { class: "warn" }, `${visible(one.toolset)} wants a login${one.principal ? ` of ${visible(one.principal)}` : ""}.`),
      h("button", { class: "plain", type: "button", "aria-label": `Log in to ${visible(one.toolset)}`, onclick: () => begin(one.toolset) }, "Log in")))) : null,
    found.logins.length > 0 ? table("Logins", columns, found.logins) : empty("The hub is logged in nowhere."),
    h("h3", {}, "Log in"),
    h("form", { class: "row", onsubmit: (event) => { event.preventDefault(); begin(key.value); } }, h("label", { for: "login-toolset" }, "To the server of", key), h("button", {}, "Log in")), link];
}
