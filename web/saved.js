// Saved toolsets: build one by ticking, equip it, see what has changed since.
import { get, post, put, remove } from "/ui/api.js";
import { act, alertOf, empty, h, say, table, visible } from "/ui/dom.js";

const STATES = {
  same: ["good", "as it was saved"],
  changed: ["bad", "its definition has changed"],
  gone: ["bad", "its server has it no more"],
  unknown: ["quiet", "its server has not been asked"],
  hidden: ["quiet", "not shown to you"],
};
const MOST_TOOLS = 1000; // in one page of the API

const pathOf = (name) => `/saved/${encodeURIComponent(name)}`;
const linkTo = (name) => h("a", { href: `#/toolbox/${encodeURIComponent(name)}` }, visible(name));

export async function saved(again) {
  const [{ toolsets }, { equipped }] = await Promise.all([get("/saved"), get("/equipped")]);
  const columns = [
    ["Name", (one) => [linkTo(one.name), one.name === equipped ? h("span", { class: "good" }, " equipped") : ""]],
    ["For", (one) => visible(one.description ?? "")],
    ["Of", (one) => one.origin ?? "you"],
    ["Tools", (one) => one.toolCount, true],
    ["Do", (one) => (one.name === equipped ? null : act("Equip", again, () => put("/equipped", { name: one.name })))],
  ];
  return [h("h2", {}, "Saved toolsets"),
    h("p", {}, equipped ? ["You have equipped ", linkTo(equipped), ": your clients see its tools and no others. "] : "Nothing is equipped: your clients see the tools of all enabled toolsets. "),
    h("div", { class: "row" }, h("a", { class: "button", href: "#/build" }, "Build one"), equipped ? act("Unequip", again, () => remove("/equipped")) : null),
    toolsets.length > 0 ? table("Saved toolsets", columns, toolsets) : empty("There is none yet. Build one out of the tools of any servers.")];
}

export async function toolbox(name, again) {
  const [one, { equipped }, { toolsets }] = await Promise.all([get(pathOf(name)), get("/equipped"), get("/saved")]);
  const others = toolsets.filter((other) => other.name !== name);
  const difference = h("div", { role: "status" });
  const other = h("select", { id: "other" }, h("option", { value: "" }, "what servers offer now"), others.map((it) => h("option", { value: it.name }, visible(it.name))));
  async function compare() {
    try {
      const found = await get(`${pathOf(name)}/diff${other.value ? `?other=${encodeURIComponent(other.value)}` : ""}`);
      const rows = [["+", "added", "good"], ["−", "removed", "bad"], ["~", "changed", "warn"]].flatMap(([sign, key, kind]) => found[key].map((id) => h("li", { class: kind }, `${sign} ${visible(id)} `, h("span", { class: "quiet" }, key))));
      difference.replaceChildren(rows.length > 0 ? h("ul", { class: "plain" }, rows) : empty("No difference."));
    } catch (error) {
      difference.replaceChildren(alertOf({ message: visible(error.message) }));
    }
  }
  const mine = one.origin === "own";
  return [h("h2", {}, visible(one.name), one.name === equipped ? h("span", { class: "state good" }, " equipped") : ""),
    one.description ? h("p", {}, visible(one.description)) : null,
    h("p", { class: "quiet" }, `Version ${one.version}, ${one.origin}${one.updatedAt ? `, changed ${visible(one.updatedAt)}` : ""}`),
    h("div", { class: "row" },
      one.name === equipped ? act("Unequip", again, () => remove("/equipped")) : act("Equip", again, () => put("/equipped", { name: one.name })),
      mine ? h("a", { class: "button plain", href: `#/build/${encodeURIComponent(name)}` }, "Edit") : null,
      one.origin !== "manifest" ? act("Delete", () => { location.hash = "#/saved"; }, () => remove(pathOf(name)), `Delete ${name}`) : null),
    table("Tools", [["Tool", (tool) => h("a", { href: `#/tool/${encodeURIComponent(tool.id)}` }, visible(tool.id))], ["Now", (tool) => h("span", { class: STATES[tool.state][0] }, STATES[tool.state][1])]], one.tools),
    h("h3", {}, "Compare"),
    h("form", { class: "row", onsubmit: (event) => { event.preventDefault(); compare(); } }, h("label", { for: "other" }, "With", other), h("button", { class: "plain" }, "Compare")), difference];
}

// ---- building ------------------------------------------------------------------------------------

function groupOf(key, list, chosen, onChange) {
  const all = h("input", { type: "checkbox" });
  const boxes = list.map((one) => {
    const box = h("input", { type: "checkbox", value: one.id, checked: chosen.has(one.id) });
    box.addEventListener("change", () => onChange(one, box.checked));
    return { one, box, row: h("li", {}, h("label", { class: "tick" }, box, h("span", {}, h("b", {}, visible(one.tool)), " ", h("span", { class: "hint" }, visible(one.description ?? "")))), h("span", { class: "quiet" }, `${one.tokens}`)) };
  });
  all.addEventListener("change", () => boxes.filter(({ row }) => !row.hidden).forEach(({ one, box }) => {
    box.checked = all.checked;
    onChange(one, box.checked);
  }));
  const element = h("fieldset", {}, h("legend", {}, h("label", { class: "tick" }, all, visible(key))), h("ul", { class: "ticks" }, boxes.map(({ row }) => row)));
  const filter = (words) => {
    for (const { one, row } of boxes) {
      const text = `${one.id} ${one.description ?? ""}`.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    element.hidden = boxes.every(({ row }) => row.hidden);
  };
  return { element, filter };
}

export async function build(name) {
  const [{ tools }, before] = await Promise.all([get(`/tools?limit=${MOST_TOOLS}`), name ? get(pathOf(name)) : null]);
  const chosen = new Map((before?.tools ?? []).map((one) => [one.id, 0]));
  const sum = h("p", { role: "status" });
  const onChange = (one, is) => {
    if (is) {
      chosen.set(one.id, one.tokens);
    } else {
      chosen.delete(one.id);
    }
    sum.textContent = `${chosen.size} ${chosen.size === 1 ? "tool" : "tools"}, about ${[...chosen.values()].reduce((a, b) => a + b, 0)} tokens of a model's context.`;
  };
  tools.filter((one) => chosen.has(one.id)).forEach((one) => onChange(one, true));
  const keys = [...new Set(tools.map((one) => one.toolset))].sort();
  const groups = keys.map((key) => groupOf(key, tools.filter((one) => one.toolset === key), chosen, onChange));
  const words = h("input", { id: "words", type: "search", autocomplete: "off" });
  words.addEventListener("input", () => groups.forEach((group) => group.filter(words.value.toLowerCase().split(/\s+/).filter(Boolean))));
  const title = h("input", { id: "name", required: true, pattern: "[a-z0-9\\-]{2,50}", autocomplete: "off", value: name || "", readonly: Boolean(name), "aria-describedby": "name-hint" });
  const about = h("input", { id: "about", maxlength: 200, autocomplete: "off", value: before?.description ?? "" });
  const equip = h("input", { type: "checkbox", id: "equip" });
  const trouble = h("div", {});
  const save = async (event) => {
    event.preventDefault();
    try {
      // Those that stay keep the definitions that were saved: only what is added is taken as it is now.
      const kept = new Set((before?.tools ?? []).map((one) => one.id));
      const tools = [...chosen.keys()].filter((id) => !kept.has(id));
      const change = name ? { from: name, without: [...kept].filter((id) => !chosen.has(id)), replace: true } : {};
      await post("/saved", { name: title.value, description: about.value, tools, ...change, autoEquip: equip.checked });
      say("Saved.");
      location.hash = `#/toolbox/${encodeURIComponent(title.value)}`;
    } catch (error) {
      trouble.replaceChildren(alertOf({ message: visible(error.message) }));
    }
  };
  return [h("h2", {}, name ? `Edit ${visible(name)}` : "Build a toolset"),
    h("form", { class: "fields", onsubmit: save },
      h("div", {}, h("label", { for: "name" }, "Name"), h("p", { class: "hint", id: "name-hint" }, "2 to 50 of a-z, 0-9 and -."), title),
      h("div", {}, h("label", { for: "about" }, "What it is for"), about),
      h("div", {}, h("label", { for: "words" }, "Find tools"), words),
      groups.length > 0 ? groups.map((group) => group.element) : empty("No tools are known yet."),
      sum, h("label", { class: "tick", for: "equip" }, equip, "Equip it at once"), trouble,
      h("div", {}, h("button", {}, "Save")))];
}
