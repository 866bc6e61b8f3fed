import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSync } from "vite";
import { expect, test } from "vitest";
import { HINDI } from "../../dashboard/src/i18n/hi.ts";

const SOURCE = join(import.meta.dirname, "../../dashboard/src");

interface Node {
  type: string;
  start: number;
  [field: string]: unknown;
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value;

/** Attributes and fields whose strings people read. */
const READ = new Set(
  (
    "label title placeholder description hint add lead sentence note heading aria-label alt question consequence yes no " +
    "word words removal subtitle nothingFound about saveWord suffix"
  ).split(" "),
);

/** Names and samples that are the same in every language. */
const UNTRANSLATED =
  /^(?:Heliograph|HELIOG|GSM-7|UCS-2|SMS|RCS|SMPP|HTTP|TLS|TON|NPI|OTP|TRANS|PROMO|GET|POST|PUT|WhatsApp|Kannel|Twilio|Sinch|Vonage|Infobip|Exotel|MSG91|Gupshup|Kaleyra|Route Mobile|SMSGate|Ann|Delivered|Authorization|Asia\/Kolkata|https?:.*|[^\p{L}]*|-----.*|[a-z]+[\w.@/-]*|X-[\w-]+|0x.*|TRANS 91|\d.*|\{ .*\}|\+?\d.*)$/su;

/** The same where a word in small letters is no name of a field: what stands in the page itself, and units. */
const UNTRANSLATED_IN_PAGE =
  /^(?:Heliograph|HELIOG|GSM-7|UCS-2|SMS|RCS|SMPP|HTTP|TLS|TON|NPI|OTP|https?:.*|[^\p{L}]*|\d.*|\+?\d.*)$/su;

/** Attributes and fields that hold words and never names. */
const WORDS = new Set(["suffix", "aria-label", "alt"]);

/** Elements whose content is typed or pasted. */
const VERBATIM = new Set(["Kbd", "Code", "code", "pre"]);

interface Found {
  keys: string[];
  raw: string[];
}

function textsOf(path: string): Found {
  const source = readFileSync(join(SOURCE, path), "utf8");
  const found: Found = { keys: [], raw: [] };
  const at = ({ start }: Node): string => `${path}:${source.slice(0, start).split("\n").length}`;

  function keysOf(argument: unknown): void {
    if (!isNode(argument)) return;
    if (argument.type === "Literal" && typeof argument["value"] === "string") found.keys.push(argument["value"]);
    else if (argument.type === "ConditionalExpression") [argument["consequent"], argument["alternate"]].forEach(keysOf);
    else found.raw.push(`${at(argument)} t() needs a literal text`);
  }

  /** The strings that an expression can become. */
  function stringsOf(value: unknown): Node[] {
    if (!isNode(value)) return [];
    if (value.type === "Literal" || value.type === "TemplateLiteral") return [value];
    if (value.type === "JSXExpressionContainer") return stringsOf(value["expression"]);
    if (value.type === "ConditionalExpression")
      return [value["consequent"], value["alternate"]].flatMap((each) => stringsOf(each));
    if (value.type === "LogicalExpression") return [value["left"], value["right"]].flatMap((each) => stringsOf(each));
    return [];
  }

  const checkStrictly = (node: Node): void => check(node, UNTRANSLATED_IN_PAGE);

  function check(node: Node, untranslated = UNTRANSLATED): void {
    const quasis = node["quasis"] as { value: { cooked: string } }[] | undefined;
    const text = quasis ? quasis.map(({ value }) => value.cooked).join(" ") : node["value"];
    if (typeof text === "string" && !untranslated.test(text.trim())) found.raw.push(`${at(node)} ${text.trim()}`);
  }

  function visit(value: unknown): void {
    if (Array.isArray(value)) return value.forEach(visit);
    if (!isNode(value)) return;
    const callee = value["callee"] as Node | undefined;
    if (value.type === "CallExpression" && callee?.["name"] === "t") keysOf((value["arguments"] as unknown[])[0]);
    if (value.type === "JSXText") checkStrictly(value);
    if (value.type === "JSXAttribute" && READ.has(nameOf(value["name"])))
      stringsOf(value["value"]).forEach((each) => check(each, rulesFor(value["name"])));
    // A note is also a field of sample requests.
    if (value.type === "Property" && nameOf(value["key"]) !== "note" && READ.has(nameOf(value["key"])))
      stringsOf(value["value"]).forEach((each) => check(each, rulesFor(value["key"])));
    const opening = value["openingElement"] as Node | undefined;
    if (opening && VERBATIM.has(nameOf(opening["name"]))) return visit(opening);
    if (value.type === "JSXElement" || value.type === "JSXFragment")
      (value["children"] as Node[]).flatMap(stringsOf).forEach(checkStrictly);
    for (const [field, child] of Object.entries(value)) if (field !== "type") visit(child);
  }

  visit(parseSync(path, source).program);
  return found;
}

const rulesFor = (name: unknown): RegExp => (WORDS.has(nameOf(name)) ? UNTRANSLATED_IN_PAGE : UNTRANSLATED);

const nameOf = (name: unknown): string => {
  const { name: text, value } = name as { name?: unknown; value?: unknown };
  return String(text ?? value);
};

const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter(
  (path) => /\.tsx?$/.test(path) && !path.startsWith("i18n"),
);
const all = files.map(textsOf);
const keys = new Set(all.flatMap((found) => found.keys));

const placesOf = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).toSorted();

// A text that is found here goes through t("…") and gets a line in dashboard/src/i18n/hi.ts.
test("every text of the dashboard passes t", () => {
  expect(files.length).toBeGreaterThan(100);
  expect(all.flatMap(({ raw }) => raw)).toEqual([]);
});

test("every text of the dashboard has a Hindi one, and no other is kept", () => {
  expect(keys.size).toBeGreaterThan(1000);
  expect([...keys].filter((key) => HINDI[key] === undefined)).toEqual([]);
  expect(Object.keys(HINDI).filter((key) => !keys.has(key))).toEqual([]);
});

test("a Hindi text has the values of the English one", () => {
  const other = Object.entries(HINDI).filter(([key, text]) => String(placesOf(key)) !== String(placesOf(text)));
  expect(other).toEqual([]);
});
