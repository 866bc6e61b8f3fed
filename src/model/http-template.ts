import type { HttpBodyType } from "./http-line.ts";

/** What a request can say of a message. */
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

/** Where a template stands; each place has its own way for a text to break out of it, and its own escape from that. */
export type TemplatePlace = "path" | "query" | "header" | "constant" | Exclude<HttpBodyType, "none">;

/** What is the same for every message, by the whole name of its placeholder: `secret:token`. */
export type TemplateConstants = Readonly<Record<string, string>>;

export interface Template {
  render(fields: TemplateFields): string;
  /** What it uses, as its placeholders name it. */
  uses: ReadonlySet<string>;
}

type Say = (fields: TemplateFields) => string;
type Holds = (fields: TemplateFields) => boolean;

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;
const CONSTANT = /^(?:secret|value):[A-Za-z][A-Za-z0-9_]*$/;
const WORD = /^(\w+)(?:\|(plus|max:(\d{1,9})))?$/;
const SECTION = /^([?!/])(\w+)$/;
/** What cannot lead out of the path however it is escaped: `..` would, and whoever sends a message may call himself so. */
const IN_PATH = new Set(["recipient", "messageId", "segments"]);
/** What of a message may stand in our own address, which travels through logs of others. */
const IN_QUERY = new Set(["messageId", "type", "segments"]);
const PRINTABLE = /^[\x21-\x7e]*$/;
const PRINTABLE_OR_SPACE = /^[\x20-\x7e]*$/;

/**
 * Reads a template once, so that a message only costs the joining of its parts. What is wrong with it goes to `tell`, and
 * then what was made of it must not be used.
 */
export function compileTemplate(
  written: string,
  place: TemplatePlace,
  constants: TemplateConstants,
  tell: (message: string) => void,
): Template {
  const reader = new Reader(place, constants, tell);
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
  holds: Holds;
  says: Say[];
  wasInString: boolean;
}

class Reader {
  readonly #place: TemplatePlace;
  readonly #constants: TemplateConstants;
  readonly #tell: (message: string) => void;
  readonly #says: Say[] = [];
  readonly #uses = new Set<string>();
  #section: Section | null = null;
  /** In a template of JSON: whether it is between two quotes. */
  #isInString = false;
  #isEscaped = false;
  #isInQuery = false;

  constructor(place: TemplatePlace, constants: TemplateConstants, tell: (message: string) => void) {
    this.#place = place;
    this.#constants = constants;
    this.#tell = tell;
    this.#isInQuery = place === "query";
  }

  literal(text: string): void {
    if (text === "") return;
    if (text.includes("{{")) this.#tell("{{ opens a placeholder that }} never closes.");
    this.#checkLiteral(text);
    this.#add(() => text);
  }

  placeholder(inner: string): void {
    const section = SECTION.exec(inner);
    if (section) return this.#turnSection(section[1] ?? "", section[2] ?? "");
    if (this.#isEscaped) this.#tell(`{{${inner}}} stands behind a backslash: take that away.`);
    if (CONSTANT.test(inner)) return this.#constant(inner);
    const [, name = "", filter, max] = WORD.exec(inner) ?? [];
    if (!isField(name)) {
      this.#tell(`{{${inner}}} is nothing that a message has: use one of ${Object.keys(FIELDS).join(", ")}.`);
      return;
    }
    this.#field(name, filter, max);
  }

  finish(written: string): Template {
    if (this.#section)
      this.#tell(`{{?${this.#section.name}}} is never closed: end it with {{/${this.#section.name}}}.`);
    if (this.#place === "raw" && !/^\{\{[^{}]*\}\}$/.test(written))
      this.#tell("A raw body is one placeholder and nothing else, so that no text can pass for something else.");
    const says = this.#says;
    return { uses: this.#uses, render: (fields) => joined(says, fields) };
  }

  #add(say: Say): void {
    (this.#section?.says ?? this.#says).push(say);
  }

  #checkLiteral(text: string): void {
    if (this.#place === "json") this.#followJson(text);
    if (this.#place === "header" && !PRINTABLE_OR_SPACE.test(text))
      this.#tell("A header has letters, digits and signs of ASCII only.");
    if (this.#place !== "path" && this.#place !== "query" && this.#place !== "form") return;
    if (!PRINTABLE.test(text) || text.includes("#"))
      this.#tell("Write what is neither a letter nor a digit with percent signs, like %20 for a space.");
    if (this.#place !== "path" || !text.includes("?")) return;
    if (this.#section) this.#tell("The question mark stands outside of what may be left out.");
    this.#isInQuery = true;
  }

  #followJson(text: string): void {
    for (const sign of text) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (this.#isInString && sign === "\\") this.#isEscaped = true;
      else if (sign === '"') this.#isInString = !this.#isInString;
    }
  }

  #turnSection(mark: string, name: string): void {
    if (mark === "/") return this.#closeSection(name);
    if (this.#section)
      return this.#tell(`{{${mark}${name}}} stands within {{?${this.#section.name}}}: close that first.`);
    if (!isField(name)) return this.#tell(`{{${mark}${name}}} asks for nothing that a message has.`);
    const isThere: Holds = ({ [name]: value }) => (typeof value === "string" ? value !== "" : Boolean(value));
    const holds: Holds = mark === "?" ? isThere : (fields) => !isThere(fields);
    this.#uses.add(name);
    this.#section = { name, holds, says: [], wasInString: this.#isInString };
  }

  #closeSection(name: string): void {
    const section = this.#section;
    if (section?.name !== name) return this.#tell(`{{/${name}}} closes what is not open.`);
    if (section.wasInString !== this.#isInString || this.#isEscaped)
      this.#tell(`What stands between {{?${name}}} and {{/${name}}} has a quote without its other one.`);
    this.#section = null;
    const { holds, says } = section;
    this.#says.push((fields) => (holds(fields) ? joined(says, fields) : ""));
  }

  #constant(name: string): void {
    this.#uses.add(name);
    const value = this.#constants[name];
    if (this.#place === "query") return this.#tell(`{{${name}}} may not stand in our own address.`);
    if (this.#place === "json" && !this.#isInString) return this.#tell(`{{${name}}} stands between quotes in JSON.`);
    if (value === undefined) return this.#tell(missing(name));
    // What was given for a header is told as it is or not at all: a secret that is changed on the way opens nothing.
    if (this.#place === "header" && !PRINTABLE_OR_SPACE.test(value))
      return this.#tell(`${name} has letters, digits and signs of ASCII only, because it stands in a header.`);
    const escaped = this.#place === "header" ? value : this.#escape(value);
    this.#add(() => escaped);
  }

  #field(name: keyof TemplateFields, filter: string | undefined, max: string | undefined): void {
    this.#uses.add(name);
    const kind = FIELDS[name];
    const fault = this.#misplaced(name, kind, filter);
    if (fault !== null) return this.#tell(fault);
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

  /** Why something may not stand where it does; null when it may. */
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

const joined = (says: readonly Say[], fields: TemplateFields): string => {
  let all = "";
  for (const say of says) all += say(fields);
  return all;
};

const KEPT = /[!'()*]/g;

/** Colons stay as they are: ids have them, and there is no place that they lead out of. */
const percentEncoded = (value: string): string =>
  encodeURIComponent(value.toWellFormed())
    .replaceAll(KEPT, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%3A", ":");

const NUMBER = /^[1-9][0-9]{6,14}$/;

/** Names and short numbers have no plus. */
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

/** Messages of every kind that a section can ask for, to try a template with before it is saved. */
export function* sampleFields(): Generator<TemplateFields> {
  yield FULL;
  yield BARE;
  for (const name of ["campaign", "dltEntityId", "dltContentId", "flash", "unicode", "long", "dlt"] as const) {
    yield { ...BARE, [name]: FULL[name] };
    yield { ...FULL, [name]: BARE[name] };
  }
}
