import type { Schema } from "../../src/lib/schema.ts";
import type { Random } from "./random.ts";

/** Literal JSON text that no JavaScript value serialises to: `1e400`, `-0`, a duplicate key. */
class Written {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** An object as a list of members, so that a name can occur twice or be `__proto__`. */
class Members {
  readonly list: [string, Json][];

  constructor(list: [string, Json][]) {
    this.list = list;
  }
}

export type Json = string | number | boolean | null | Json[] | Members | Written;

export function write(json: Json): string {
  if (json instanceof Written) return json.text;
  if (Array.isArray(json)) return `[${json.map(write).join(",")}]`;
  if (json instanceof Members)
    return `{${json.list.map(([name, value]) => `${JSON.stringify(name)}:${write(value)}`).join(",")}}`;
  return JSON.stringify(json);
}

const NUMBERS = [
  "15550100100", "+15550100100", "919876543210", "+91 98765-43210", "447700900123", "15550109001", "15550109003",
  "15550109006", "15550109007", "15550109008", "1 (555) 010.0100", "4915112345678", "33612345678",
] as const; // prettier-ignore

const TEXTS = [
  "Hello", "Your order 4711 is on its way.", "482913 is your code.", "आपका ऑर्डर रास्ते में है।", "été à Paris €", "🎉🎉", "[brackets] {and} ~more~\\",
  "שלום \u202Eעולם\u202C", "👩‍👩‍👧‍👦 family", "line\r\nbreak\tand tab", "\u200bzero\u200dwidth\ufeff", "'; drop table messages; --", "<script>alert(1)</script>",
  "${jndi:ldap://x}", "%s%n%x", "\u{10ffff}", "\uffff\ufffe",
] as const; // prettier-ignore

const ODD_STRINGS = [
  "", " ", "\u0000", "a\u0000b", "\ud800", "\udfff\ud800", "x\ud83d", "null", "undefined", "NaN", "Infinity", "-0", "0", "1", "true", "[]", "{}",
  "__proto__", "constructor", "toString", "hasOwnProperty", "١٥٥٥٠١٠٠١٠٠", "１５５５０１００１００", "+", "++15550100100", "0015550100100", "15550100100,15550100101",
  ",,,", "15550100100;15550100101", "\u000115550100100", "15550100100\n", "999999999999999", "1234567", "123456", "1".repeat(16), "1".repeat(5000),
  "TRANS", "trans", "OTP ", "PROMO\u0000", "IN", "in", "XX", "live", "sms", "manage", "::1", "fe80::1%eth0", "10.0.0.0/8", "10.0.0.0/33", "256.1.1.1",
  "::ffff:127.0.0.1", "0.0.0.0/0", "\u2028\u2029", "\u0085\u009f", "🎉".repeat(40), "x".repeat(29) + "🎉",
] as const; // prettier-ignore

const ODD_NUMBERS = [
  "0", "-0", "1", "-1", "2", "0.1", "0.0000001", "1.0", "1e0", "100", "100.0001", "1e400", "-1e400", "1e308", "1e300", "9007199254740993", "9223372036854775808",
  "281474976710656", "8640000000000001", "4294967296", "2147483648", "1e-400", "15550100100", "3600000", "720", "33.333333",
] as const; // prettier-ignore

export const number = (random: Random): string => random.pick(NUMBERS);
export const text = (random: Random): string => random.pick(TEXTS);

export function oddString(random: Random): string {
  const kind = random.below(20);
  if (kind === 0) return random.pick(["a", "é", "€", "🎉", "\u0000", "{"]).repeat(1 + random.below(20_000));
  if (kind === 1)
    return Array.from({ length: random.below(12) }, () => String.fromCharCode(random.below(65_536))).join("");
  if (kind === 2) return text(random).repeat(1 + random.below(120));
  return random.pick(ODD_STRINGS);
}

const deep = (depth: number, open: string, close: string): Written =>
  new Written(open.repeat(depth) + "1" + close.repeat(depth));

function anything(random: Random): Json {
  switch (random.below(10)) {
    case 0:
      return null;
    case 1:
      return random.chance(0.5);
    case 2:
    case 3:
      return new Written(random.pick(ODD_NUMBERS));
    case 4:
      return Array.from({ length: random.below(4) }, () => anything(random));
    case 5:
      return new Members([[random.pick(ODD_STRINGS), oddString(random)]]);
    case 6:
      return random.chance(0.5) ? deep(1 + random.below(60), "[", "]") : deep(1 + random.below(60), '{"a":', "}");
    default:
      return oddString(random);
  }
}

/** Probability of optional fields; fields that rarely go together are rare. */
const USUAL: Record<string, number> = {
  to: 0.95, text: 0.95, number: 0.9, numbers: 0.1,
  recipients: 0.06, custom: 0.1, templateId: 0.15, shortenUrlData: 0.08, sendAt: 0.1,
}; // prettier-ignore

/** A value that conforms to a schema. */
function fitting(random: Random, shape: Schema, name = ""): Json {
  if (shape.anyOf) return fitting(random, random.pick(shape.anyOf), name);
  if (shape.const !== undefined) return shape.const;
  if (shape.type === "object") {
    const required = new Set(shape.required);
    const named = Object.entries(shape.properties ?? {}).filter(
      ([field]) => required.has(field) || random.chance(USUAL[field] ?? 0.3),
    );
    const { additionalProperties: others = true } = shape;
    const free = others === true ? [] : ["Shop", "42", "a.b"].map((field): [string, Schema] => [field, others]);
    return new Members(
      [...named, ...free].map(([field, inner]): [string, Json] => [field, fitting(random, inner, field)]),
    );
  }
  if (shape.type === "array") {
    return Array.from({ length: 1 + random.below(4) }, () => fitting(random, shape.items ?? {}, name));
  }
  if (shape.type === "integer") {
    if (name === "expiresAt" || name === "sendAt") return Date.now() + 1000 + random.below(1_000_000_000);
    return (shape.minimum ?? 0) + random.below(Math.min(shape.maximum ?? 1000, 1000));
  }
  if (shape.type === "number") return Math.round(random.next() * (shape.maximum ?? 100) * 100) / 100;
  if (shape.type === "null") return null;
  if (shape.type === "boolean") return random.chance(0.5);
  return fittingString(random, name, shape);
}

function fittingString(random: Random, name: string, { pattern }: Schema): string {
  if (name === "to" || name === "number" || name === "numbers") return number(random);
  if (name === "text") return random.chance(0.8) ? text(random) : random.pick(["Hi {#var#}", "{{1}} {{2}}", "{SORT}"]);
  if (name === "targetUrl") return random.pick(["https://shop.example/a", "http://x.example"]);
  if (name === "prefix" || name === "prefixes") return random.pick(["91", "1555", "44", "0", ""]);
  if (name === "carrier") return random.pick(["simulator", "simulator", "line", "a"]);
  if (name === "from" || name === "to") return random.pick(["21:00", "10:00", "24:00"]);
  if (name === "defaultRegion" || name === "allowedCountries") return random.pick(["IN", "US", "FR", "ZZ"]);
  if (name === "id") return random.pick(["0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47", "x"]);
  if (name === "sender") return random.pick(["HELIOG", "Shop", "15550100100", "Ünïcode"]);
  if (name === "allowedIps") return random.pick(["127.0.0.1", "10.0.0.0/8", "::1", "2001:db8::/32", "0.0.0.0/0"]);
  if (name === "mimeType") return random.pick(["image/png", "application/pdf", "png"]);
  if (pattern) return random.pick(["1101987654321098765", "IN", "a b"]);
  return random.pick(["autumn", "Shop", "a", "Ünïcode 🎉", "x".repeat(100), `line-${random.below(1000)}`]);
}

/** A request body for a schema: mostly valid, then mutated. */
export function body(random: Random, schema: Schema): Json {
  let made = fitting(random, schema);
  if (random.chance(0.25)) return made;
  for (let i = 1 + random.below(3); i > 0; i -= 1) made = mutate(random, made);
  return made;
}

function mutate(random: Random, json: Json): Json {
  if (!(json instanceof Members) || json.list.length === 0) return random.chance(0.3) ? anything(random) : json;
  const at = random.below(json.list.length);
  const [name, value] = json.list[at] as [string, Json];
  const changed = (...entries: [string, Json][]): Members => new Members(json.list.toSpliced(at, 1, ...entries));
  switch (random.below(12)) {
    case 0:
      return changed();
    case 1:
      return changed([name, value], [name, anything(random)]);
    case 2:
      return changed(
        [name, value],
        [
          random.pick(["__proto__", "constructor", "prototype", "toString", "", "extra", "unicode", "flash"]),
          anything(random),
        ],
      );
    case 3:
      return changed([random.pick([name.toUpperCase(), `${name} `, `\u0000${name}`]), value]);
    case 4:
      return changed([
        name,
        typeof value === "number" ? String(value) : Array.isArray(value) ? (value[0] ?? null) : [value],
      ]);
    case 5:
      return changed([name, recipients(random)]);
    case 6:
      return changed([name, oddString(random)]);
    case 7:
      return random.chance(0.2) ? anything(random) : json;
    default:
      return changed([name, anything(random)]);
  }
}

/** Recipient lists from valid to malformed. */
function recipients(random: Random): Json {
  switch (random.below(8)) {
    case 0:
      return Array.from({ length: 1 + random.below(5) }, () => number(random));
    case 1: {
      const same = number(random);
      return Array.from({ length: 1 + random.below(50) }, () => same);
    }
    case 2:
      return Array.from({ length: 1 + random.below(6) }, () =>
        random.chance(0.5) ? number(random) : oddString(random).slice(0, 200),
      );
    case 3:
      return Array.from({ length: 1 + random.below(6) }, () => anything(random));
    case 4:
      return Array.from({ length: 1 + random.below(6) }, () =>
        random.chance(0.7) ? number(random) : oddString(random).slice(0, 50),
      ).join(",");
    case 5:
      return random.chance(0.1) ? many(random, 1001) : [];
    case 6:
      return random.chance(0.05) ? many(random, 990 + random.below(11)) : [null, number(random)];
    default:
      return new Written(random.pick(["15550100100", "[[]]", "[1,2,3]", "{}", '[""]', '","']));
  }
}

const many = (random: Random, count: number): Json => {
  const first = 15_550_200_000 + random.below(1_000_000);
  return Array.from({ length: count }, (_, index) => String(first + index));
};

/** Mutates the bytes of a body. */
export function spoil(random: Random, bytes: Buffer): Buffer {
  const at = random.below(bytes.length + 1);
  switch (random.below(7)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return Buffer.concat([bytes.subarray(0, at), Buffer.from([random.below(256)]), bytes.subarray(at)]);
    case 2: {
      const copy = Buffer.from(bytes);
      if (copy.length > 0) copy[Math.min(at, copy.length - 1)] = random.below(256);
      return copy;
    }
    case 3:
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]);
    case 4:
      return Buffer.concat([bytes, Buffer.from(random.pick(["}", ",", "{}", "\u0000", " ", "\n\n"]))]);
    case 5:
      return Buffer.from(bytes.toString("utf8"), "utf16le");
    default:
      return Buffer.alloc(0);
  }
}
