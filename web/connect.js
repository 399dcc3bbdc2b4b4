// How clients are told of this hub: lines to copy.
import { h, say } from "/ui/dom.js";

const URL_OF_MCP = `${location.origin}/mcp`;
const TOKEN = "Bearer YOUR_TOKEN";

const json = (value) => JSON.stringify(value, null, 2);

const SETUPS = [
  ["Claude Code", "Run this.", `claude mcp add --transport http patchbay ${URL_OF_MCP} --header "Authorization: ${TOKEN}"`],
  ["Visual Studio Code", "In .vscode/mcp.json, or in your own mcp.json.", json({ servers: { patchbay: { type: "http", url: URL_OF_MCP, headers: { Authorization: TOKEN } } } })],
  ["Cursor, and most others", "In ~/.cursor/mcp.json, or where the client has its mcpServers.", json({ mcpServers: { patchbay: { url: URL_OF_MCP, headers: { Authorization: TOKEN } } } })],
  ["Codex", "In ~/.codex/config.toml; the token is in the environment as PATCHBAY_TOKEN.", `[mcp_servers.patchbay]\nurl = "${URL_OF_MCP}"\nbearer_token_env_var = "PATCHBAY_TOKEN"`],
  ["A client on the hub's machine", "It starts a hub of its own, or uses this one; patchbay connect writes the files of clients.", "patchbay connect claude-code"],
];

async function copy(text, name) {
  try {
    await navigator.clipboard.writeText(text);
    say(`Copied: ${name}.`);
  } catch {
    say("The browser does not let this page copy: select the text.");
  }
}

export function connect() {
  return [h("h2", {}, "Connect a client"), h("p", {}, "A token of its own for each client: make one under Tokens, or with ", h("code", {}, "patchbay token new NAME"), ". Where the hub wants none, leave the header out."),
    SETUPS.map(([name, about, text]) => h("section", { class: "card" }, h("h3", {}, name), h("p", { class: "hint" }, about),
      h("pre", { tabindex: "0", "aria-label": `set-up of ${name}` }, text), h("div", { class: "row" }, h("button", { class: "plain", "aria-label": `Copy the set-up of ${name}`, onclick: () => copy(text, name) }, "Copy"))))];
}
