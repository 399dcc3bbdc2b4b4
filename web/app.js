// What is shown is said by the part of the address behind "#".
import { approvals } from "/ui/approvals.js";
import { audit, configuration } from "/ui/configuration.js";
import { connect } from "/ui/connect.js";
import { Refused, exchange, get, post, token } from "/ui/api.js";
import { alertOf, h, say, visible } from "/ui/dom.js";
import { logins } from "/ui/logins.js";
import { live } from "/ui/live.js";
import { overview, toolset } from "/ui/overview.js";
import { people, tokens } from "/ui/people.js";
import { build, saved, toolbox } from "/ui/saved.js";
import { tool, tools } from "/ui/tools.js";

const REFRESH_MS = 5000;
const main = document.getElementById("main");
let me = null;
let current = new AbortController();

const VIEWS = [
  { name: "", title: "Overview", show: () => overview(), refreshes: true },
  { name: "toolset", show: (key, query, again) => toolset(key, again, me) },
  { name: "tools", title: "Tools", show: (key, query) => tools(query) },
  { name: "tool", show: (id) => tool(id, me) },
  { name: "saved", title: "Saved", show: (key, query, again) => saved(again) },
  { name: "toolbox", show: (name, query, again) => toolbox(name, again) },
  { name: "build", show: (name) => build(name) },
  { name: "live", title: "Live", show: (key, query, again, signal) => live(signal), right: "read" },
  { name: "approvals", title: "Approvals", show: (key, query, again) => approvals(again, me), right: "read" },
  { name: "logins", title: "Logins", show: (key, query, again) => logins(again) },
  { name: "people", title: "Principals", show: () => people(), refreshes: true },
  { name: "tokens", title: "Tokens", show: (key, query, again) => tokens(again, me), right: "read" },
  { name: "configuration", title: "Configuration", show: () => configuration(), right: "read" },
  { name: "audit", title: "Audit", show: () => audit(), right: "read" },
  { name: "connect", title: "Connect", show: () => connect() },
];

function mayShow(view) {
  return view.right === undefined || me.right !== "own";
}

function showHeader(name) {
  const links = me ? VIEWS.filter((view) => view.title && mayShow(view)) : [];
  document.getElementById("nav").replaceChildren(...links.map((view) => h("a", { href: `#/${view.name}`, "aria-current": view.name === name ? "page" : null }, view.title)));
  document.getElementById("who").replaceChildren(...(me ? [h("span", {}, visible(me.principal)), token.get() ? h("button", { class: "plain", onclick: leave }, "Log out") : ""] : []));
}

async function leave() {
  try {
    await post("/logout");
  } catch {
    // a token of the hub's own is only forgotten
  }
  token.forget();
  me = null;
  location.hash = "#/";
  await show();
}

function login(why) {
  me = null;
  showHeader("");
  const input = h("input", { id: "token", type: "password", autocomplete: "off", required: true });
  main.replaceChildren(h("h2", {}, "Log in"), why ? alertOf({ message: why }) : "",
    h("form", { class: "fields", onsubmit: async (event) => { event.preventDefault(); token.set(input.value.trim()); await show(); } },
      h("div", {}, h("label", { for: "token" }, "Token"), h("p", { class: "hint", id: "about" }, "One of the hub's, as `patchbay token new` makes them. With the scope admin:read it shows all there is, with admin it changes it. Or run `patchbay ui` on the hub's machine."), input),
      h("div", {}, h("button", {}, "Log in"))));
  input.focus();
}

// A link of `patchbay ui`: the code is good once, and leaves the address at once.
async function takeCode() {
  const code = /^#code=([0-9a-f]+)$/.exec(location.hash)?.[1];
  if (code) {
    history.replaceState(null, "", "/ui/");
    await exchange(code);
  }
}

async function fill(view, key, query, signal, isFirst) {
  const again = () => fill(view, key, query, signal, false);
  try {
    const parts = await view.show(key, query, again, signal);
    if (signal.aborted) {
      return;
    }
    main.replaceChildren(...parts.flat(Infinity).filter((part) => part !== null));
    document.title = `${main.querySelector("h2")?.textContent ?? ""} – Patchbay`;
    if (isFirst) {
      main.focus({ preventScroll: true });
    }
  } catch (error) {
    if (signal.aborted) {
      return;
    }
    if (error instanceof Refused && error.status === 401) {
      token.forget();
      login("This session has ended.");
      current.abort();
    } else {
      main.replaceChildren(h("h2", {}, "That cannot be shown"), alertOf({ message: visible(error.message) }));
    }
  }
}

// What is read or written in is not taken away.
function isInUse() {
  return document.hidden || (main.contains(document.activeElement) && document.activeElement !== main) || String(document.getSelection()) !== "";
}

async function show() {
  current.abort();
  current = new AbortController();
  const { signal } = current;
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/");
  const view = VIEWS.find((one) => one.name === name) ?? VIEWS[0];
  let key = "";
  try {
    key = decodeURIComponent(rest.join("/"));
  } catch {
    key = rest.join("/");
  }
  say("");
  try {
    await takeCode();
    me ??= await get("/me");
  } catch (error) {
    if (error.status === 401) {
      token.forget();
    }
    login(error.status === 401 ? "" : visible(error.message));
    return;
  }
  showHeader(view.name);
  await fill(view, key, new URLSearchParams(query ?? ""), signal, true);
  if (view.refreshes && !signal.aborted) {
    const timer = setInterval(() => (isInUse() ? null : fill(view, key, new URLSearchParams(query ?? ""), signal, false)), REFRESH_MS);
    signal.addEventListener("abort", () => clearInterval(timer));
  }
}

addEventListener("hashchange", () => {
  if (!location.hash.startsWith("#main")) {
    show();
  }
});
show();
