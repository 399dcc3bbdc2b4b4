// Tools: find one, read it, call it.
import { get, post } from "/ui/api.js";
import { alertOf, h, pretty, say, table, visible } from "/ui/dom.js";

const COLUMNS = [
  ["Tool", (one) => h("a", { href: `#/tool/${encodeURIComponent(one.id)}` }, visible(one.id))],
  ["Called", (one) => (one.name ? visible(one.name) : h("span", { class: "quiet" }, "not shown to you"))],
  ["Does", (one) => visible(one.description ?? "")],
  ["Kind", (one) => [one.readOnly ? "reads" : one.destructive ? "may destroy" : "writes", one.withheld ? "withheld" : null, one.overridden ? "overridden" : null].filter(Boolean).join(", ")],
  ["Tokens", (one) => one.tokens, true],
];

function queryOf(fields) {
  return new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== "" && value !== null)).toString();
}

export async function tools(query) {
  const found = h("div", {});
  const words = h("input", { id: "words", type: "search", value: query.get("query") ?? "", autocomplete: "off" });
  const key = h("input", { id: "toolset", value: query.get("toolset") ?? "", autocomplete: "off" });
  let last = 0;
  async function look(after = 0) {
    const turn = ++last;
    try {
      const list = await get(`/tools?${queryOf({ query: words.value.trim(), toolset: key.value.trim(), limit: 100, after })}`);
      if (turn !== last) {
        return; // something else is looked for by now
      }
      const tokens = list.tools.reduce((sum, one) => sum + one.tokens, 0);
      const sentence = `${list.total} ${list.total === 1 ? "tool" : "tools"}${after > 0 || list.next ? `, from ${after + 1} on` : ""}; those shown take about ${tokens} tokens of a model's context.`;
      const pages = [after > 0 ? h("button", { class: "plain", onclick: () => look(Math.max(0, after - 100)) }, "Earlier") : null,
        list.next ? h("button", { class: "plain", onclick: () => look(list.next) }, "Later") : null];
      found.replaceChildren(h("p", { role: "status" }, sentence), table("Tools", COLUMNS, list.tools), h("div", { class: "row" }, pages));
    } catch (error) {
      found.replaceChildren(alertOf(error));
    }
  }
  const form = h("form", { class: "row", role: "search", onsubmit: (event) => { event.preventDefault(); look(); } },
    h("label", { for: "words" }, "Words", words), h("label", { for: "toolset" }, "Toolset", key), h("button", {}, "Search"));
  form.addEventListener("input", () => look());
  await look();
  return [h("h2", {}, "Tools"), form, found];
}

// ---- the playground: a form of a schema ------------------------------------------------------------

function typeOf(schema) {
  const type = Array.isArray(schema.type) ? schema.type.find((one) => one !== "null") : schema.type;
  return schema.enum ? "enum" : type;
}

function inputOf(schema, id, described) {
  const common = { id, "aria-describedby": described };
  switch (typeOf(schema)) {
    case "enum":
      return h("select", common, h("option", { value: "" }, ""), schema.enum.map((one) => h("option", { value: JSON.stringify(one) }, visible(typeof one === "string" ? one : JSON.stringify(one)))));
    case "boolean":
      return h("select", common, ["", "true", "false"].map((one) => h("option", { value: one }, one)));
    case "number":
    case "integer":
      return h("input", { ...common, type: "number", step: typeOf(schema) === "integer" ? 1 : "any", min: schema.minimum, max: schema.maximum });
    case "string":
      return h("input", { ...common, autocomplete: "off", maxlength: schema.maxLength });
    default:
      return h("textarea", { ...common, spellcheck: "false", placeholder: "JSON" });
  }
}

// What a field says; undefined: nothing.
function valueOf(schema, input, isRequired) {
  const text = input.value;
  if (text === "" && !(isRequired && typeOf(schema) === "string")) {
    return undefined;
  }
  return typeOf(schema) === "string" ? text : JSON.parse(text);
}

function formOf(schema) {
  const properties = Object.entries(schema.properties ?? {});
  const required = new Set(schema.required ?? []);
  const fields = properties.map(([name, given], at) => {
    const one = typeof given === "object" && given !== null ? given : {};
    const id = `field-${at}`;
    const hint = `hint-${at}`;
    const input = inputOf(one, id, hint);
    if (one.default !== undefined) {
      input.placeholder = visible(JSON.stringify(one.default));
    }
    const about = [one.description ?? "", required.has(name) ? "Required." : ""].filter(Boolean).join(" ");
    return { name, one, input, isRequired: required.has(name), element: h("div", {}, h("label", { for: id }, visible(name)), h("p", { class: "hint", id: hint }, visible(about)), input) };
  });
  const read = () => {
    const entries = [];
    for (const { name, one, input, isRequired } of fields) {
      let value;
      try {
        value = valueOf(one, input, isRequired);
      } catch {
        throw new Error(`${name} is not JSON`);
      }
      if (value !== undefined) {
        entries.push([name, value]);
      }
    }
    return Object.fromEntries(entries);
  };
  return { elements: fields.map((field) => field.element), read };
}

function contentOf(result) {
  const texts = (result.content ?? []).map((one) => (one.type === "text" ? h("pre", { tabindex: "0" }, visible(one.text)) : h("pre", { tabindex: "0" }, pretty(one))));
  const structured = result.structuredContent !== undefined ? [h("h3", {}, "As data"), h("pre", { tabindex: "0" }, pretty(result.structuredContent))] : [];
  return [...texts, ...structured];
}

function playground(one) {
  const answer = h("div", { role: "status" });
  const form = formOf(one.definition.inputSchema ?? {});
  const button = h("button", {}, "Call");
  return [h("h3", {}, "Call it"),
    h("form", {
      class: "fields",
      onsubmit: async (event) => {
        event.preventDefault();
        const begin = performance.now();
        button.disabled = true;
        try {
          const { result } = await post("/call", { name: one.name, arguments: form.read() });
          const took = Math.round(performance.now() - begin);
          answer.replaceChildren(h("p", { class: result.isError ? "bad" : "good" }, result.isError ? `It reports an error, after ${took} ms.` : `It has answered, after ${took} ms.`), ...contentOf(result));
        } catch (error) {
          answer.replaceChildren(alertOf({ message: visible(error.message) }));
        }
        button.disabled = false;
      },
    }, form.elements, h("div", {}, button)), answer];
}

// ---- the rule that decides -------------------------------------------------------------------------

const DECISIONS = { allow: "good", deny: "bad", refuse: "bad", confirm: "warn", challenge: "warn" };

function sentenceOf(one) {
  const more = [one.reason, one.scopes ? `a call needs the scopes ${one.scopes}` : null, one.conditional ? "other arguments may decide otherwise" : null,
    one.withheld ? "it is withheld until somebody approves it" : one.listed ? "it is listed" : "it is not listed"];
  return more.filter(Boolean).join("; ");
}

async function ruleOf(id, me) {
  const answer = h("div", { role: "status" });
  const principals = me.right === "own" ? [] : (await get("/principals")).principals.map((one) => one.name);
  const who = h("input", { id: "principal", value: me.principal, autocomplete: "off", list: "principals" });
  async function look() {
    try {
      const { answers } = await get(`/tools/${encodeURIComponent(id)}/access?principal=${encodeURIComponent(who.value.trim())}`);
      answer.replaceChildren(...answers.map((one) => h("p", {}, h("b", { class: DECISIONS[one.decision] ?? null }, visible(one.decision)),
        one.rule === undefined ? "" : ` by ${one.rule === null ? "the default" : visible(one.rule)}`, h("span", { class: "quiet" }, `: ${visible(sentenceOf(one))}`))));
    } catch (error) {
      answer.replaceChildren(alertOf({ message: visible(error.message) }));
    }
  }
  await look();
  return [h("h3", {}, "The rule that decides"),
    me.right === "own" ? null : h("form", { class: "row", onsubmit: (event) => { event.preventDefault(); look(); } },
      h("label", { for: "principal" }, "For whom", who), h("datalist", { id: "principals" }, principals.map((name) => h("option", { value: name }))), h("button", { class: "plain" }, "Explain")),
    answer];
}

// What model APIs refuse, so that clients may drop the tool: as `patchbay check --connect` has it (core/cli/advice.c).
const REFUSED = ["oneOf", "anyOf", "allOf", "enum", "not"];

function refusalOf(schema) {
  const keywords = REFUSED.filter((one) => Object.hasOwn(schema, one));
  const names = Object.keys(schema.properties ?? {}).filter((one) => !/^[A-Za-z0-9_.-]{1,64}$/.test(one));
  return [keywords.length > 0 ? `${keywords.join(", ")} at the top of its input schema (an override with flat: true leaves these out)` : null,
    names.length > 0 ? `the argument ${names[0]}${names.length > 1 ? `, and ${names.length - 1} more` : ""}` : null].filter(Boolean).join("; ");
}

export async function tool(id, me) {
  const one = await get(`/tools/${encodeURIComponent(id)}`);
  const rule = await ruleOf(id, me);
  const facts = [["Toolset", one.toolset], ["Name for clients", one.name ?? "not shown to you"], ["Size", `${one.bytes} bytes, about ${one.tokens} tokens`],
    ["Says that it only reads", one.readOnly ? "yes" : "no"], ["May destroy", one.destructive ? "yes" : "no"], ["Withheld", one.withheld ? "yes" : "no"]];
  const refusal = refusalOf(one.definition.inputSchema);
  if (refusal !== "") {
    facts.push(["Model APIs may refuse it", refusal]);
  }
  return [h("h2", {}, visible(id)), one.definition.description ? h("p", {}, visible(one.definition.description)) : null,
    table("Facts", [["Fact", ([name]) => name], ["Value", ([, value]) => visible(value)]], facts),
    ...(one.name ? playground(one) : [h("p", { class: "quiet" }, "You are not shown this tool, so you cannot call it: its toolset is off for you, or a rule hides it.")]),
    ...rule, h("h3", {}, "Definition"), h("pre", { tabindex: "0" }, pretty(one.definition)),
    one.original ? h("h3", {}, "As its server gave it") : null, one.original ? h("pre", { tabindex: "0" }, pretty(one.original)) : null];
}
