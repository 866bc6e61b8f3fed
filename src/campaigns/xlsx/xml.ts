import { StringDecoder } from "node:string_decoder";
import { BadSpreadsheet } from "./bad-spreadsheet.ts";

export interface XmlHandler {
  /** Names are without their prefix. */
  open(name: string, tag: string): void;
  close(name: string): void;
  /** A text may come in pieces. */
  text(text: string): void;
}

/** The longest tag, comment or entity. */
const TOKEN_MAX = 1_048_576;
const NAME = /^<\/?(?:[^\s/>:]*:)?([^\s/>]+)/;

/**
 * A streaming reader of XML that holds one token in memory. It refuses document types, and with them entities of their own
 * (XML bombs, external entities); spreadsheets have none.
 */
export class XmlReader {
  readonly #handler: XmlHandler;
  readonly #decoder = new StringDecoder("utf8");
  #rest = "";

  constructor(handler: XmlHandler) {
    this.#handler = handler;
  }

  write(chunk: Buffer): void {
    const text = this.#rest + this.#decoder.write(chunk);
    let at = 0;
    while (at < text.length) {
      const end = text[at] === "<" ? this.#readMarkup(text, at) : this.#readText(text, at);
      if (end < 0) break;
      at = end;
    }
    this.#rest = text.slice(at);
    if (this.#rest.length > TOKEN_MAX) throw new BadSpreadsheet("SPREADSHEET");
  }

  /** Returns the end of the text, or -1 if an entity may go on. */
  #readText(text: string, at: number): number {
    const next = text.indexOf("<", at);
    if (next >= 0) {
      this.#handler.text(decoded(text.slice(at, next)));
      return next;
    }
    const entity = text.lastIndexOf("&");
    const end = entity >= at && !text.includes(";", entity) ? entity : text.length;
    if (end === at) return -1;
    this.#handler.text(decoded(text.slice(at, end)));
    return end;
  }

  /** Returns the end of the markup, or -1 if it is not complete. */
  #readMarkup(text: string, at: number): number {
    const second = text[at + 1];
    if (second === undefined) return -1;
    if (second === "?") return after(text, "?>", at);
    if (second === "!") return this.#readDeclaration(text, at);
    const end = tagEnd(text, at);
    if (end < 0) return -1;
    const tag = text.slice(at, end);
    const name = NAME.exec(tag)?.[1];
    if (name === undefined) throw new BadSpreadsheet("SPREADSHEET");
    if (second === "/") {
      this.#handler.close(name);
      return end;
    }
    this.#handler.open(name, tag);
    if (tag.endsWith("/>")) this.#handler.close(name);
    return end;
  }

  #readDeclaration(text: string, at: number): number {
    if (text.startsWith("<!--", at)) return after(text, "-->", at + 4);
    if (text.startsWith("<![CDATA[", at)) {
      const end = text.indexOf("]]>", at);
      if (end < 0) return -1;
      this.#handler.text(text.slice(at + 9, end));
      return end + 3;
    }
    if ("<!--".startsWith(text.slice(at)) || "<![CDATA[".startsWith(text.slice(at))) return -1;
    throw new BadSpreadsheet("SPREADSHEET");
  }
}

function after(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found < 0 ? -1 : found + mark.length;
}

/** The end of a tag. Its values in quotes may hold `>`. */
function tagEnd(text: string, at: number): number {
  for (let from = at; ;) {
    const end = text.indexOf(">", from);
    if (end < 0) return -1;
    const quote = openQuote(text, from, end);
    if (quote === null) return end + 1;
    const closing = text.indexOf(quote, end);
    if (closing < 0) return -1;
    from = closing + 1;
  }
}

const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;

/** The quote that is open at `end`, or null. */
function openQuote(text: string, from: number, end: number): string | null {
  let quote = 0;
  for (let at = from; at < end; at += 1) {
    const char = text.charCodeAt(at);
    if (quote === 0 ? char === DOUBLE_QUOTE || char === SINGLE_QUOTE : char === quote) quote = quote === 0 ? char : 0;
  }
  return quote === 0 ? null : String.fromCharCode(quote);
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const CODE_POINT_MAX = 0x10ffff;

/** Resolves the five entities of XML and characters by number; anything else stays as it is written. */
const decoded = (text: string): string =>
  text.includes("&")
    ? text.replaceAll(/&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|([a-z]{2,4}));/g, (written, decimal, hex, name) => {
        if (name !== undefined) return ENTITIES[String(name)] ?? written;
        const point = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal);
        return point <= CODE_POINT_MAX ? String.fromCodePoint(point) : written;
      })
    : text;

/** Finds an attribute of a tag by its name, with any prefix. */
export const attributeOf = (name: string): ((tag: string) => string | undefined) => {
  const pattern = new RegExp(`\\s(?:[\\w.-]+:)?${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`);
  return (tag) => {
    const [, double, single] = pattern.exec(tag) ?? [];
    const value = double ?? single;
    return value === undefined ? undefined : decoded(value);
  };
};
