/** Markup that needs no escaping. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Piece = Html | string | number | null | undefined | false | readonly Piece[];

/** Tagged template for markup: escapes every value that is not `Html`; null, undefined and false render nothing. */
export const html = (strings: TemplateStringsArray, ...values: readonly Piece[]): Html =>
  new Html(strings.reduce((text, string, index) => text + textOf(values[index - 1]) + string));

function textOf(value: Piece): string {
  if (value instanceof Html) return value.text;
  if (value === null || value === undefined || value === false) return "";
  if (typeof value === "string") return escape(value);
  if (typeof value === "number") return String(value);
  return value.map(textOf).join("");
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? "");

/** Renders backquoted parts as code. */
export const prose = (text: string): Html =>
  html`${text.split("`").map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;

const TOKENS = /("(?:\\.|[^"\\])*")(\s*:)?|\b(?:true|false|null)\b|-?\b\d+(?:\.\d+)?\b/g;

/** Indented JSON with syntax highlighting. */
export function json(value: unknown): Html {
  const text = JSON.stringify(value, null, 2);
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(TOKENS)) {
    const [token, string, colon] = match;
    const kind = colon === undefined ? (string === undefined ? "lit" : "str") : "key";
    pieces.push(text.slice(end, match.index), html`<span class="${kind}">${string ?? token}</span>${colon}`);
    end = match.index + token.length;
  }
  return html`${pieces}${text.slice(end)}`;
}

/** Code block with a heading; `site.js` adds a copy button. */
export const codeBlock = (heading: string, code: Html | string): Html =>
  html`<figure class="code">
    <figcaption>${heading}</figcaption>
    <pre tabindex="0"><code>${code}</code></pre>
  </figure>`;
