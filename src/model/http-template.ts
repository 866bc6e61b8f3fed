import type { HttpBodyType } from "./http-connection.ts";

/** Message fields available to templates. */
export interface TemplateFields {
  recipient: string;
  sender: string;
  text: string;
  messageId: string;
  type: string;
  encoding: string;
  expiresAt: string;
  campaign: string;
  dltEntityId: string;
  dltContentId: string;
  callbackUrl: string;
  segments: number;
  validitySeconds: number;
  validityMinutes: number;
  flash: boolean;
  unicode: boolean;
  long: boolean;
  dlt: boolean;
}

type Kind = "text" | "number" | "flag";

const FIELDS: Readonly<Record<keyof TemplateFields, Kind>> = {
  recipient: "text",
  sender: "text",
  text: "text",
  messageId: "text",
  type: "text",
  encoding: "text",
  expiresAt: "text",
  campaign: "text",
  dltEntityId: "text",
  dltContentId: "text",
  callbackUrl: "text",
  segments: "number",
  validitySeconds: "number",
  validityMinutes: "number",
  flash: "flag",
  unicode: "flag",
  long: "flag",
  dlt: "flag",
};

const isField = (name: string): name is keyof TemplateFields => Object.hasOwn(FIELDS, name);

/** Each place has its own injection risk and its own escape. */
export type TemplatePlace = "path" | "query" | "header" | "constant" | Exclude<HttpBodyType, "none">;

/** Values that are the same for every message, by full placeholder name, for example `secret:token`. */
export type TemplateConstants = Readonly<Record<string, string>>;

export interface Template {
  render(fields: TemplateFields): string;
  /** Placeholder names in use. */
  uses: ReadonlySet<string>;
}

type Render = (fields: TemplateFields) => string;
type Condition = (fields: TemplateFields) => boolean;

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;
const CONSTANT = /^(?:secret|value):[A-Za-z][A-Za-z0-9_]*$/;
const WORD = /^(\w+)(?:\|(plus|max:(\d{1,9})))?$/;
const SECTION = /^([?!/])(\w+)$/;
/** Safe in a path. `..` would change the path even if escaped, and senders are chosen by customers. */
const IN_PATH = new Set(["recipient", "messageId", "segments"]);
/** Safe in our own webhook URL, which appears in logs of others. */
const IN_QUERY = new Set(["messageId", "type", "segments"]);
const PRINTABLE = /^[\x21-\x7e]*$/;
const PRINTABLE_OR_SPACE = /^[\x20-\x7e]*$/;

/**
 * Parses a template once, so that rendering only joins strings. Faults go to `tell`; a template with faults must not be
 * used.
 */
export function compileTemplate(
  written: string,
  place: TemplatePlace,
  constants: TemplateConstants,
  onFault: (message: string) => void,
): Template {
  const reader = new Reader(place, constants, onFault);
  let end = 0;
  for (const found of written.matchAll(PLACEHOLDER)) {
    reader.literal(written.slice(end, found.index));
    reader.placeholder(found[1] ?? "");
    end = found.index + found[0].length;
  }
  reader.literal(written.slice(end));
  return reader.finish(written);
}

interface Section {
  name: string;
  condition: Condition;
  renderers: Render[];
  wasInString: boolean;
}

class Reader {
  readonly #place: TemplatePlace;
  readonly #constants: TemplateConstants;
  readonly #onFault: (message: string) => void;
  readonly #renderers: Render[] = [];
  readonly #uses = new Set<string>();
  #section: Section | null = null;
  /** In a JSON template: inside a string literal. */
  #isInString = false;
  #isEscaped = false;
  #isInQuery = false;

  constructor(place: TemplatePlace, constants: TemplateConstants, onFault: (message: string) => void) {
    this.#place = place;
    this.#constants = constants;
    this.#onFault = onFault;
    this.#isInQuery = place === "query";
  }

  literal(text: string): void {
    if (text === "") return;
    if (text.includes("{{")) this.#onFault("{{ opens a placeholder that }} never closes.");
    this.#checkLiteral(text);
    this.#add(() => text);
  }

  placeholder(inner: string): void {
    const section = SECTION.exec(inner);
    if (section) return this.#toggleSection(section[1] ?? "", section[2] ?? "");
    if (this.#isEscaped) this.#onFault(`{{${inner}}} stands behind a backslash: take that away.`);
    if (CONSTANT.test(inner)) return this.#constant(inner);
    const [, name = "", filter, max] = WORD.exec(inner) ?? [];
    if (!isField(name)) {
      this.#onFault(`{{${inner}}} is nothing that a message has: use one of ${Object.keys(FIELDS).join(", ")}.`);
      return;
    }
    this.#field(name, filter, max);
  }

  finish(written: string): Template {
    if (this.#section)
      this.#onFault(`{{?${this.#section.name}}} is never closed: end it with {{/${this.#section.name}}}.`);
    if (this.#place === "raw" && !/^\{\{[^{}]*\}\}$/.test(written))
      this.#onFault("A raw body is one placeholder and nothing else, so that no text can pass for something else.");
    const renderers = this.#renderers;
    return { uses: this.#uses, render: (fields) => joined(renderers, fields) };
  }

  #add(renderPart: Render): void {
    (this.#section?.renderers ?? this.#renderers).push(renderPart);
  }

  #checkLiteral(text: string): void {
    if (this.#place === "json") this.#followJson(text);
    if (this.#place === "header" && !PRINTABLE_OR_SPACE.test(text))
      this.#onFault("A header has letters, digits and signs of ASCII only.");
    if (this.#place !== "path" && this.#place !== "query" && this.#place !== "form") return;
    if (!PRINTABLE.test(text) || text.includes("#"))
      this.#onFault("Write what is neither a letter nor a digit with percent signs, like %20 for a space.");
    if (this.#place !== "path" || !text.includes("?")) return;
    if (this.#section) this.#onFault("The question mark stands outside of what may be left out.");
    this.#isInQuery = true;
  }

  #followJson(text: string): void {
    for (const sign of text) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (this.#isInString && sign === "\\") this.#isEscaped = true;
      else if (sign === '"') this.#isInString = !this.#isInString;
    }
  }

  #toggleSection(mark: string, name: string): void {
    if (mark === "/") return this.#closeSection(name);
    if (this.#section)
      return this.#onFault(`{{${mark}${name}}} stands within {{?${this.#section.name}}}: close that first.`);
    if (!isField(name)) return this.#onFault(`{{${mark}${name}}} asks for nothing that a message has.`);
    const isThere: Condition = ({ [name]: value }) => (typeof value === "string" ? value !== "" : Boolean(value));
    const condition: Condition = mark === "?" ? isThere : (fields) => !isThere(fields);
    this.#uses.add(name);
    this.#section = { name, condition, renderers: [], wasInString: this.#isInString };
  }

  #closeSection(name: string): void {
    const section = this.#section;
    if (section?.name !== name) return this.#onFault(`{{/${name}}} closes what is not open.`);
    if (section.wasInString !== this.#isInString || this.#isEscaped)
      this.#onFault(`What stands between {{?${name}}} and {{/${name}}} has a quote without its other one.`);
    this.#section = null;
    const { condition, renderers } = section;
    this.#renderers.push((fields) => (condition(fields) ? joined(renderers, fields) : ""));
  }

  #constant(name: string): void {
    this.#uses.add(name);
    const value = this.#constants[name];
    if (this.#place === "query") return this.#onFault(`{{${name}}} may not stand in our own address.`);
    if (this.#place === "json" && !this.#isInString) return this.#onFault(`{{${name}}} stands between quotes in JSON.`);
    if (value === undefined) return this.#onFault(missing(name));
    // Header values are sent unchanged or refused: an altered secret would not authenticate.
    if (this.#place === "header" && !PRINTABLE_OR_SPACE.test(value))
      return this.#onFault(`${name} has letters, digits and signs of ASCII only, because it stands in a header.`);
    const escaped = this.#place === "header" ? value : this.#escape(value);
    this.#add(() => escaped);
  }

  #field(name: keyof TemplateFields, filter: string | undefined, max: string | undefined): void {
    this.#uses.add(name);
    const kind = FIELDS[name];
    const fault = this.#misplaced(name, kind, filter);
    if (fault !== null) return this.#onFault(fault);
    const escape = (value: string): string => this.#escape(value);
    if (kind === "text") {
      const isPlus = filter === "plus";
      return this.#add((fields) => {
        const value = String(fields[name]);
        return escape(isPlus ? withPlus(value) : value);
      });
    }
    const most = max === undefined ? Number.MAX_SAFE_INTEGER : Number(max);
    this.#add(({ [name]: value }) => String(typeof value === "number" ? Math.min(most, value) : value));
  }

  /** Reason why a placeholder is not allowed here; null if it is. */
  #misplaced(name: string, kind: Kind, filter: string | undefined): string | null {
    if (filter === "plus" && name !== "recipient" && name !== "sender") return "Only recipient and sender have |plus.";
    if (filter?.startsWith("max:") && kind !== "number") return "Only numbers have |max:.";
    if (this.#place === "json" && !this.#isInString && kind === "text")
      return `{{${name}}} is text, which stands between quotes in JSON.`;
    if (this.#place === "constant")
      return `{{${name}}} differs from message to message: only {{value:…}} and {{secret:…}} stand here.`;
    if (this.#place === "path" && !this.#isInQuery && !IN_PATH.has(name))
      return `{{${name}}} stands behind the question mark: before it, a text could lead to another address.`;
    if (this.#place === "query" && !IN_QUERY.has(name))
      return `{{${name}}} may not stand in our own address: only ${[...IN_QUERY].join(", ")}.`;
    return null;
  }

  #escape(value: string): string {
    switch (this.#place) {
      case "json":
        return JSON.stringify(value.toWellFormed()).slice(1, -1);
      case "header":
        return value.toWellFormed().replaceAll(/[^\x20-\x7e]|%/gu, encodeURIComponent);
      case "path":
      case "query":
      case "form":
        return percentEncoded(value);
      case "raw":
      case "constant":
      default:
        return value;
    }
  }
}

const joined = (renderers: readonly Render[], fields: TemplateFields): string => {
  let all = "";
  for (const renderPart of renderers) all += renderPart(fields);
  return all;
};

const KEPT = /[!'()*]/g;

/** Colons are kept: ids contain them, and they are harmless in every place. */
const percentEncoded = (value: string): string =>
  encodeURIComponent(value.toWellFormed())
    .replaceAll(KEPT, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%3A", ":");

const NUMBER = /^[1-9][0-9]{6,14}$/;

/** Names and short codes have no plus. */
const withPlus = (value: string): string => (NUMBER.test(value) ? `+${value}` : value);

function missing(name: string): string {
  const [kind = "", plain = ""] = name.split(":");
  return kind === "secret"
    ? `It needs the secret ${plain}: give it in secrets.`
    : `It needs ${plain}: give it in values.`;
}

const FULL: TemplateFields = {
  recipient: "15550100100",
  sender: 'A "B"',
  text: 'Line 1\n"2" \\ & = %',
  messageId: "00000000-0000-7000-8000-000000000000:1",
  type: "OTP",
  encoding: "ucs2",
  expiresAt: "2026-01-01T00:00:00.000Z",
  campaign: "Spring",
  dltEntityId: "1",
  dltContentId: "1",
  callbackUrl: "https://example.com/?key=1",
  segments: 2,
  validitySeconds: 3600,
  validityMinutes: 60,
  flash: true,
  unicode: true,
  long: true,
  dlt: true,
};
const BARE: TemplateFields = {
  ...FULL,
  encoding: "gsm7",
  campaign: "",
  dltEntityId: "",
  dltContentId: "",
  flash: false,
  unicode: false,
  long: false,
  dlt: false,
};

/** Sample messages for every template section, to validate a template before it is saved. */
export function* sampleFields(): Generator<TemplateFields> {
  yield FULL;
  yield BARE;
  for (const name of ["campaign", "dltEntityId", "dltContentId", "flash", "unicode", "long", "dlt"] as const) {
    yield { ...BARE, [name]: FULL[name] };
    yield { ...FULL, [name]: BARE[name] };
  }
}
