// Renders docs/*.md as the guides that the server serves at /docs/guides, with their images and an index for the search.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./pinned-node.mjs";

const source = join(root, "docs");
/** Inside the dashboard's build, so that every package that has the dashboard has the guides. */
const builtDocs = join(root, "dashboard", "dist", "docs");

/** The guides by task, in reading order. A guide that is missing here comes last. */
const TASKS = [
  ["Set up", ["install", "configuration", "serving", "users", "dashboard"]],
  [
    "Send and receive",
    [
      "sending",
      "campaigns",
      "contacts",
      "callbacks",
      "media",
      "answers",
      "inbox",
      "verify",
      "timeline",
      "errors",
      "simulator",
      "mcp",
    ],
  ],
  ["Connect carriers", ["smpp", "carriers-http", "carriers-whatsapp", "carriers-rbm", "carriers-email", "records"]],
  ["Move from another product", ["twilio", "kannel", "jasmin", "smpp-server"]],
  ["Operate", ["monitoring", "backup", "high-availability", "move-to-postgres", "upgrade", "scaling", "sql"]],
  [
    "How it works",
    [
      "glossary",
      "architecture",
      "decisions",
      "performance",
      "performance-notes",
      "simulation",
      "roadmap",
      "style",
      "changelog",
    ],
  ],
];
const LAST = "More";

/** Renders the guides if they or this script have changed; takes about a third of a second. */
export async function buildDocs(folder = builtDocs) {
  const stamp = hashOfSource();
  if (stampOf(folder) === stamp) return;
  const { Marked } = await import("marked").catch((error) => {
    if (error.code === "ERR_MODULE_NOT_FOUND") return {};
    throw error;
  });
  if (!Marked) {
    process.stdout.write(`The guides are not built: "npm ci --include=dev" brings what builds them.\n`);
    return;
  }
  // Atomic replacement, as of the dashboard, and beside it, because another process may replace the whole dashboard.
  const fresh = join(dirname(dirname(folder)), `dist-docs-${process.pid}`);
  mkdirSync(fresh, { recursive: true });
  const texts = new Map(markdownFiles().map((file) => [nameOf(file), { file, text: readFileSync(file, "utf8") }]));
  const images = new Map();
  const guides = [...texts].map(([name, { file, text }]) => render(Marked, { name, file, text, texts, images }));
  for (const [file, name] of images) writeFileSync(join(fresh, name), readFileSync(file));
  writeFileSync(join(fresh, "guides.json"), JSON.stringify({ tasks: tasksOf(guides), guides }));
  writeFileSync(join(fresh, "made-of"), stamp);
  takePlace(fresh, folder);
}

const nameOf = (file) => basename(file, ".md").toLowerCase();

function markdownFiles() {
  const files = readdirSync(source).filter((name) => name.endsWith(".md"));
  return [...files.toSorted().map((name) => join(source, name)), join(root, "CHANGELOG.md")];
}

function tasksOf(guides) {
  const known = new Set(TASKS.flatMap(([, names]) => names));
  const rest = guides.map(({ name }) => name).filter((name) => !known.has(name));
  return [...TASKS, [LAST, rest]]
    .map(([title, names]) => ({ title, names: names.filter((name) => guides.some((guide) => guide.name === name)) }))
    .filter(({ names }) => names.length > 0);
}

/** One guide: its title, its first sentence, its HTML, and its sections for the search. */
function render(Marked, { name, file, text, texts, images }) {
  const sections = [];
  const ids = new Map();
  let title = name;
  let section;
  const begin = (heading, id) => {
    section = { heading, id, words: new Set(), text: "" };
    sections.push(section);
  };
  const say = (said) => {
    const words = said.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}_.-]*[\p{L}\p{N}]|[\p{L}\p{N}]/gu) ?? [];
    for (const word of words) section?.words.add(word);
    if (section && section.text.length < SNIPPET) section.text += `${said.replaceAll(/\s+/g, " ").trim()} `;
  };

  const marked = new Marked({ gfm: true });
  marked.use({
    renderer: {
      heading({ tokens, depth }) {
        const heading = plainText(tokens);
        const id = uniqueId(heading, ids);
        if (depth === 1) title = heading;
        begin(heading, id);
        const inner = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1 id="${id}">${inner}</h1>\n`;
        return `<h${depth} id="${id}"><a href="#${id}">${inner.replaceAll(/<\/?a\b[^>]*>/g, "")}</a></h${depth}>\n`;
      },
      paragraph({ tokens }) {
        say(plainText(tokens));
        return `<p>${this.parser.parseInline(tokens)}</p>\n`;
      },
      code({ text: code, lang }) {
        say(code);
        return (
          `<figure class="code"><figcaption>${escape(lang ?? "")}</figcaption>` +
          `<pre tabindex="0"><code>${escape(code)}</code></pre></figure>\n`
        );
      },
      // A table that is wider than a phone scrolls by itself, also by keyboard.
      table(token) {
        const row = (cells, tag) =>
          `<tr>${cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join("")}</tr>`;
        for (const cells of [token.header, ...token.rows]) say(cells.map((cell) => plainText(cell.tokens)).join(" "));
        const hasHead = token.header.some((cell) => cell.text !== "");
        return (
          `<div class="wide" tabindex="0" role="group" aria-label="Table: ${escape(section?.heading ?? title)}"><table>` +
          (hasHead ? `<thead>${row(token.header, "th").replaceAll("<th></th>", "<td></td>")}</thead>` : "") +
          `<tbody>${token.rows.map((cells) => row(cells, "td")).join("")}</tbody></table></div>\n`
        );
      },
      listitem(item) {
        say(plainText(item.tokens));
        return `<li>${this.parser.parse(item.tokens, item.loose)}</li>\n`;
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens);
        const target = targetOf(href, { name, file, texts });
        return target === null ? inner : `<a href="${escape(target)}">${inner}</a>`;
      },
      image({ href, text: alt }) {
        const found = resolve(dirname(file), href);
        if (!existsSync(found)) throw new Error(`${file}: there is no image ${href}`);
        const image = imageName(found, images);
        return `<img src="../files/${image}" alt="${escape(alt)}" loading="lazy" />`;
      },
      // Only comments, which direct our tests. Other markup shows as text.
      html: ({ text: markup }) => escape(markup.replaceAll(/<!--.*?-->/gs, "")).trim(),
    },
  });
  const html = marked.parse(text);
  const [first] = sections;
  return {
    name,
    title,
    about: first?.text.match(/^.*?[.:](?=\s)/)?.[0].replace(/:$/, ".") ?? "",
    html,
    contents: [...html.matchAll(/<h2 id="([^"]+)"><a[^>]*>(.*?)<\/a>/g)].map(([, id, inner]) => ({
      id,
      title: unescape(inner.replaceAll(/<[^>]*>/g, "")),
    })),
    sections: sections.map(({ heading, id, words, text: said }) => ({
      title: heading,
      id,
      text: said.slice(0, SNIPPET).trim(),
      words: [...words].join(" "),
    })),
  };
}

/** Characters of a section that a result of the search shows. */
const SNIPPET = 140;

const plainText = (tokens) =>
  tokens
    .map((token) =>
      token.type === "html" ? "" : token.tokens ? plainText(token.tokens) : unescape(token.text ?? token.raw ?? ""),
    )
    .join("");

/** As GitHub names them, so that one link works there and here. */
function uniqueId(heading, ids) {
  const id = heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
  const count = ids.get(id) ?? 0;
  ids.set(id, count + 1);
  return count === 0 ? id : `${id}-${count}`;
}

/** Relative, so that it also works below the path of a proxy. Null for files that are only in the repository. */
function targetOf(href, { name, file, texts }) {
  if (/^(?:https?:|mailto:)/.test(href)) return href;
  const [path, anchor] = href.split("#");
  const hash = anchor === undefined ? "" : `#${anchor}`;
  if (path === "") return `${name}${hash}`;
  const found = resolve(dirname(file), path);
  const guide = [...texts].find(([, other]) => other.file === found);
  if (guide) return `${guide[0]}${hash}`;
  if (!existsSync(found)) throw new Error(`${file}: there is no ${href}`);
  return null;
}

function imageName(file, images) {
  const hash = createHash("sha256").update(readFileSync(file)).digest("hex").slice(0, 10);
  const extension = extname(file);
  const name = `${basename(file, extension)}-${hash}${extension}`;
  images.set(file, name);
  return name;
}

const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escape = (text) => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]);
const unescape = (text) =>
  Object.entries(ENTITIES)
    .toReversed()
    .reduce((said, [character, entity]) => said.replaceAll(entity, character), text);

function stampOf(folder) {
  try {
    return readFileSync(join(folder, "made-of"), "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

function hashOfSource() {
  const hash = createHash("sha256").update(readFileSync(fileURLToPath(import.meta.url)));
  for (const entry of readdirSync(source, { recursive: true, withFileTypes: true }).toSorted(byPath)) {
    if (entry.isFile()) hash.update(`${entry.name}\0`).update(readFileSync(join(entry.parentPath, entry.name)));
  }
  return hash.update(readFileSync(join(root, "CHANGELOG.md"))).digest("hex");
}

const byPath = (a, b) => (join(a.parentPath, a.name) < join(b.parentPath, b.name) ? -1 : 1);

function takePlace(fresh, folder) {
  const old = `${fresh}-old`;
  try {
    mkdirSync(dirname(folder), { recursive: true });
    if (existsSync(folder)) renameSync(folder, old);
    renameSync(fresh, folder);
  } catch (error) {
    // Another process has built the same guides in the meantime.
    if (!["ENOENT", "ENOTEMPTY", "EEXIST"].includes(error.code)) throw error;
  }
  for (const each of [old, fresh]) rmSync(each, { recursive: true, force: true });
}
