/** Text that is safe to stand in a page as it is. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Piece = Html | string | number | null | undefined | false | readonly Piece[];

/** Markup with values in it: every value is escaped unless it is markup itself, and what is absent leaves nothing. */
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

/** A sentence in which backquotes mark code. */
export const prose = (text: string): Html =>
  html`${text.split("`").map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;

const TOKENS = /("(?:\\.|[^"\\])*")(\s*:)?|\b(?:true|false|null)\b|-?\b\d+(?:\.\d+)?\b/g;

/** A JSON value, indented, with its parts told apart for the style sheet. */
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

/** A block of code with a heading; the script gives it a button to copy it. */
export const codeBlock = (heading: string, code: Html | string): Html =>
  html`<figure class="code">
    <figcaption>${heading}</figcaption>
    <pre tabindex="0"><code>${code}</code></pre>
  </figure>`;
