// The scripts of the documentation: copy buttons, the choice of a language, the search, and forms that send requests.

const here = new URL(".", import.meta.url);

/** The first element that the reader sees. */
const visible = (elements) => [...elements].find((element) => !element.hidden);

// Addresses from when the reference was one page at /docs lead to the place that has the same name now.
const wanted = decodeURIComponent(location.hash.slice(1));
if (wanted !== "") {
  const found = document.getElementById(wanted);
  const isFirstPage = location.pathname.replace(/\/$/, "").endsWith("/docs");
  const link = found?.querySelector?.("a[href*='/docs/reference/']");
  if (!found && isFirstPage) location.replace(new URL(`reference#${wanted}`, here));
  else if (link && location.pathname.endsWith("/docs/reference")) location.replace(link.href);
}

// The side bar opens at the page that is read, on screens where it scrolls by itself.
const side = document.getElementById("contents");
const current = side.querySelector("[aria-current]");
if (current && side.scrollHeight > side.clientHeight) side.scrollTop = current.offsetTop - side.clientHeight / 4;

// Copy buttons, where the browser lets a page write to the clipboard.
for (const figure of navigator.clipboard ? document.querySelectorAll("figure.code") : []) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", () => {
    const text = visible(figure.querySelectorAll("pre")).textContent;
    navigator.clipboard.writeText(text).then(
      () => {
        button.textContent = "Copied";
        setTimeout(() => (button.textContent = "Copy"), 1500);
      },
      // Not allowed after all: the text can be marked by hand.
      () => button.remove(),
    );
  });
  figure.querySelector("figcaption").append(button);
}

// One choice of language for all samples of the page.
const choices = [];
for (const figure of document.querySelectorAll("figure.code:has([data-sample])")) {
  const choice = document.createElement("select");
  choice.setAttribute("aria-label", "Language");
  for (const { dataset } of figure.querySelectorAll("[data-sample]"))
    choice.append(new Option(dataset.language, dataset.sample));
  choice.addEventListener("change", () => {
    for (const each of choices) each.value = choice.value;
    for (const sample of document.querySelectorAll("[data-sample]"))
      sample.hidden = sample.dataset.sample !== choice.value;
  });
  choices.push(choice);
  figure.querySelector("figcaption").prepend(choice);
}

// The search: a combo box over an index that is loaded when it is first needed.
const MAX_FOUND = 12;
const searchArea = document.querySelector("search");
const field = document.getElementById("search");
const list = document.getElementById("found");
const count = searchArea.querySelector("[role=status]");
searchArea.hidden = false;

let index;
const loadIndex = () =>
  (index ??= fetch(new URL("search.json", here))
    .then((response) => (response.ok ? response.json() : Promise.reject(new Error(`HTTP ${response.status}`))))
    .then((entries) =>
      entries.map(([kind, title, address, line, words]) => ({
        kind,
        title,
        address,
        line,
        name: title.toLowerCase(),
        words: ` ${title.toLowerCase()} ${line.toLowerCase()} ${words} `,
      })),
    ));

const BEFORE_WORDS = [" ", "/", "_"];

/** Every word must occur at the beginning of a word, of a path's part or of a code's part; titles count most. */
function scoreOf({ name, line, words, kind }, asked) {
  let score = kind === "Guide" ? 1 : 0;
  for (const word of asked) {
    if (!BEFORE_WORDS.some((mark) => words.includes(mark + word))) return 0;
    if (name === word) score += 40;
    else if (name.startsWith(word)) score += 12;
    else if (` ${name}`.includes(` ${word}`)) score += 8;
    else score += line.includes(word) ? 3 : words.includes(` ${word} `) ? 2 : 1;
  }
  // A short section is more about its words than a long one.
  return score - Math.min(0.9, words.length / 5000);
}

async function search() {
  const asked = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (asked.length === 0) return show([]);
  let entries;
  try {
    entries = await loadIndex();
  } catch {
    index = undefined;
    show([]);
    count.textContent = "The search could not be loaded. Type again to retry.";
    return undefined;
  }
  const found = entries
    .map((entry) => ({ entry, score: scoreOf(entry, asked) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || a.entry.title.length - b.entry.title.length);
  show(found.slice(0, MAX_FOUND).map(({ entry }) => entry));
  count.textContent = found.length === 0 ? "Nothing found" : `${found.length} found`;
  return undefined;
}

function show(entries) {
  list.replaceChildren(
    ...entries.map(({ kind, title, address, line }, at) => {
      const option = document.createElement("li");
      option.id = `found-${at}`;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      option.dataset.href = new URL(address, here).href;
      for (const [name, text] of [
        ["kind", kind],
        ["title", title],
        ["line", line],
      ]) {
        const part = document.createElement("span");
        part.className = name;
        part.textContent = text;
        option.append(part);
      }
      return option;
    }),
  );
  list.hidden = entries.length === 0;
  field.setAttribute("aria-expanded", String(entries.length > 0));
  field.removeAttribute("aria-activedescendant");
  count.textContent = "";
}

function select(option) {
  list.querySelector("[aria-selected=true]")?.setAttribute("aria-selected", "false");
  option.setAttribute("aria-selected", "true");
  field.setAttribute("aria-activedescendant", option.id);
  option.scrollIntoView({ block: "nearest" });
}

field.addEventListener("focus", () => void loadIndex().catch(() => (index = undefined)));
field.addEventListener("input", () => void search());
field.addEventListener("keydown", (event) => {
  const options = [...list.children];
  const at = options.findIndex((option) => option.getAttribute("aria-selected") === "true");
  if (event.key === "Escape") show([]);
  if (options.length === 0) return;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    const next = event.key === "ArrowDown" ? at + 1 : at < 0 ? options.length - 1 : at - 1;
    select(options[(next + options.length) % options.length]);
  } else if (event.key === "Enter") {
    event.preventDefault();
    const { href } = options[Math.max(at, 0)].dataset;
    show([]);
    location.assign(href);
  }
});
// Not "click": the field would lose the focus first and close the list.
list.addEventListener("mousedown", (event) => {
  event.preventDefault();
  const href = event.target.closest("[data-href]")?.dataset.href;
  if (href === undefined) return;
  show([]);
  location.assign(href);
});
field.addEventListener("blur", () => show([]));
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches("input, textarea, select");
  const isAsked = (event.key === "/" && !isTyping) || (event.key === "k" && (event.ctrlKey || event.metaKey));
  if (!isAsked) return;
  event.preventDefault();
  field.focus();
});

// Forms that send a request to this server.
const MAX_SHOWN = 100_000;
const keys = document.querySelectorAll("form [data-place=key]");
for (const key of keys) key.addEventListener("input", () => keys.forEach((other) => (other.value = key.value)));
for (const details of document.querySelectorAll("details.try")) {
  details.hidden = false;
  details.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    void send(event.target);
  });
}

function requestOf(form) {
  const fields = [...form.querySelectorAll("[data-place]")];
  const given = (place) => fields.filter(({ dataset, value }) => dataset.place === place && value !== "");
  const headers = new Headers();
  for (const { dataset, value } of given("header")) headers.set(dataset.name, value);
  for (const { value } of given("key")) headers.set("apikey", value);
  const path = given("path").reduce(
    (said, { dataset, value }) => said.replace(`{${dataset.name}}`, () => encodeURIComponent(value)),
    form.dataset.path,
  );
  const query = new URLSearchParams(given("query").map(({ dataset, value }) => [dataset.name, value]));
  const [body] = given("body");
  if (body) headers.set("content-type", "application/json");
  return {
    url: new URL(query.size === 0 ? path : `${path}?${query}`, location.origin),
    // Without cookies: a login in this browser must not lend the request its rights.
    options: { method: form.dataset.method, headers, body: body?.value, credentials: "omit", cache: "no-store" },
  };
}

async function send(form) {
  const [button, outcome, answer] = ["button", ".outcome", ".answer"].map((part) => form.querySelector(part));
  button.disabled = true;
  answer.hidden = true;
  outcome.textContent = "Waiting for the response…";
  const startedAt = performance.now();
  try {
    const { url, options } = requestOf(form);
    const response = await fetch(url, options);
    const text = await response.text();
    const id = response.headers.get("request-id");
    outcome.textContent =
      `HTTP ${response.status} ${response.statusText} in ${Math.round(performance.now() - startedAt)} ms` +
      (id === null ? "" : `, request id ${id}`);
    answer.textContent = readable(text).slice(0, MAX_SHOWN);
    answer.hidden = text === "";
  } catch (error) {
    // A header that the browser refuses, or no connection. The request may have arrived.
    outcome.textContent = `No response: ${error.message}. Check before you send it again.`;
  }
  button.disabled = false;
}

function readable(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
