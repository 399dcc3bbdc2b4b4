// Elements are made here and nowhere else: what comes from servers is text, never markup.

export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) {
      element.addEventListener(key.slice(2), value);
    } else if (value === true) {
      element.setAttribute(key, "");
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(key, String(value));
    }
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined).map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

// A table that is a list of cards on a phone. Columns are [title, cell, isNumber].
export function table(caption, columns, rows) {
  const cells = (row) => columns.map(([title, cell, isNumber]) => h("td", { "data-title": title, class: isNumber ? "number" : null }, cell(row)));
  return h("table", { "aria-label": caption },
    h("thead", {}, h("tr", {}, columns.map(([title, , isNumber]) => h("th", { scope: "col", class: isNumber ? "number" : null }, title)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, cells(row)))));
}

export function say(text) {
  document.getElementById("status").textContent = text;
}

export function alertOf(error) {
  return h("p", { class: "alert", role: "alert" }, error.message);
}

// Text of unknown origin for people: what would change how the rest is read is shown as what it is.
export function visible(text) {
  return String(text).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (c) => (c === "\t" || c === "\n" ? c : c.length > 1 ? `\\u{${c.codePointAt(0).toString(16)}}` : `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`));
}

export function pretty(value) {
  return visible(JSON.stringify(value, null, 2));
}

export function empty(text) {
  return h("p", { class: "quiet" }, text);
}

export function duration(ms) {
  const units = [[86400000, "d"], [3600000, "h"], [60000, "min"], [1000, "s"]];
  const [size, name] = units.find(([one]) => ms >= one) ?? [1, "ms"];
  return `${Math.floor(ms / size)} ${name}`;
}

// A button that does something, says how it went, and has the view shown again.
export function act(title, again, run, label = null) {
  return h("button", {
    class: "plain", type: "button", "aria-label": label === null ? null : visible(label),
    onclick: async (event) => {
      const button = event.currentTarget;
      button.disabled = true;
      try {
        const answer = await run();
        say(visible(answer.message ?? `${label ?? title}: done.`));
        await again();
      } catch (error) {
        say(visible(error.message));
      }
      button.disabled = false;
    },
  }, title);
}
