import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  compileTemplate,
  sampleFields,
  type TemplateFields,
  type TemplatePlace,
} from "../../src/model/http-template.ts";
import { repetitions } from "../support/repetitions.ts";

const [FULL] = sampleFields();
const CONSTANTS = { "secret:token": 'to"k&en', "value:account": "acct 1" };

const fieldsOf = (changes: Partial<TemplateFields>): TemplateFields => {
  if (!FULL) throw new Error("there is no sample");
  return { ...FULL, ...changes };
};

function compiled(written: string, place: TemplatePlace): { render(changes?: Partial<TemplateFields>): string } {
  const template = compileTemplate(written, place, CONSTANTS, (message) => {
    throw new Error(message);
  });
  return { render: (changes = {}) => template.render(fieldsOf(changes)) };
}

function faultsOf(written: string, place: TemplatePlace): string[] {
  const faults: string[] = [];
  compileTemplate(written, place, CONSTANTS, (message) => void faults.push(message));
  return faults;
}

describe("a template renders message fields", () => {
  test.each<[TemplatePlace, string, Partial<TemplateFields>, string]>([
    ["path", "/send?to={{recipient}}", { recipient: "15550100100" }, "/send?to=15550100100"],
    ["path", "/send?to={{recipient|plus}}", { recipient: "15550100100" }, "/send?to=%2B15550100100"],
    ["path", "/{{value:account}}/{{recipient}}?a=1", { recipient: "1555" }, "/acct%201/1555?a=1"],
    ["path", "/send?t={{text}}", { text: "a b&c=d%e+f'g#h/é" }, "/send?t=a%20b%26c%3Dd%25e%2Bf%27g%23h%2F%C3%A9"],
    ["path", "/send?k={{secret:token}}", {}, "/send?k=to%22k%26en"],
    ["path", "/s?ref={{messageId}}", { messageId: "a-b:1" }, "/s?ref=a-b:1"],
    ["form", "From={{sender|plus}}", { sender: "ACME" }, "From=ACME"],
    ["form", "From={{sender|plus}}", { sender: "14155550100" }, "From=%2B14155550100"],
    ["form", "From={{sender|plus}}", { sender: "56161" }, "From=56161"],
    ["form", "v={{validitySeconds|max:14400}}", { validitySeconds: 86_400 }, "v=14400"],
    ["form", "v={{validitySeconds|max:14400}}", { validitySeconds: 60 }, "v=60"],
    ["form", "a=1{{?flash}}&mclass=0{{/flash}}&b=2", { flash: true }, "a=1&mclass=0&b=2"],
    ["form", "a=1{{?flash}}&mclass=0{{/flash}}&b=2", { flash: false }, "a=1&b=2"],
    ["form", "a=1{{!unicode}}&plain=1{{/unicode}}", { unicode: false }, "a=1&plain=1"],
    ["form", "a=1{{!unicode}}&plain=1{{/unicode}}", { unicode: true }, "a=1"],
    ["form", "a=1{{?campaign}}&c={{campaign}}{{/campaign}}", { campaign: "" }, "a=1"],
    ["form", "a=1{{?campaign}}&c={{campaign}}{{/campaign}}", { campaign: "X Y" }, "a=1&c=X%20Y"],
    [
      "json",
      '{"n":{{segments}},"f":{{flash}},"t":"{{text}}"}',
      { segments: 2, flash: true, text: '"\n\\' },
      '{"n":2,"f":true,"t":"\\"\\n\\\\"}',
    ],
    ["json", '{"a":{"b":{"n":{{segments}}}}}', { segments: 3 }, '{"a":{"b":{"n":3}}}'],
    ["json", '{"k":"Bearer {{secret:token}}"}', {}, '{"k":"Bearer to\\"k&en"}'],
    ["header", "Bearer {{secret:token}}", {}, 'Bearer to"k&en'],
    ["header", "{{sender}}", { sender: "a\r\nb: é%" }, "a%0D%0Ab: %C3%A9%25"],
    ["raw", "{{text}}", { text: "as\r\nit & is" }, "as\r\nit & is"],
    ["query", "ref={{messageId}}&type=%d", { messageId: "x:1" }, "ref=x:1&type=%d"],
    ["constant", "{{value:account}}", {}, "acct 1"],
  ])("%s: %s", (place, written, changes, expected) => {
    expect(compiled(written, place).render(changes)).toBe(expected);
  });
});

describe("an invalid template is refused with advice", () => {
  test.each<[TemplatePlace, string, RegExp]>([
    ["form", "a={{recipent}}", /\{\{recipent\}\} is nothing that a message has: use one of recipient, /],
    ["form", "a={{}}", /nothing that a message has/],
    ["form", "a={{constructor}}", /nothing that a message has/],
    ["form", "a={{text", /never closes/],
    ["form", "a={{text|plus}}", /Only recipient and sender/],
    ["form", "a={{text|max:3}}", /Only numbers/],
    ["form", "a={{secret:other}}", /needs the secret other/],
    ["form", "a={{value:other}}", /needs other: give it in values/],
    ["form", "a={{secret:bad name}}", /nothing that a message has/],
    ["form", "a b={{text}}", /percent signs/],
    ["form", "{{?flash}}&a=1", /never closed/],
    ["form", "&a=1{{/flash}}", /closes what is not open/],
    ["form", "{{?flash}}{{?unicode}}a{{/unicode}}{{/flash}}", /close that first/],
    ["form", "{{?nothing}}a{{/nothing}}", /asks for nothing/],
    ["path", "/{{sender}}/send", /behind the question mark/],
    ["path", "/{{text}}", /behind the question mark/],
    ["path", "/a{{?flash}}?b=1{{/flash}}", /question mark stands outside/],
    ["path", "/a?b=1#c", /percent signs/],
    ["path", "/a b", /percent signs/],
    ["json", '{"a":{{text}}}', /between quotes/],
    ["json", '{"a":{{secret:token}}}', /between quotes/],
    ["json", '{"a":"\\{{text}}"}', /backslash/],
    ["json", '{"a":1{{?flash}},"b":"{{/flash}}}', /quote without its other one/],
    ["header", "a\r\nb", /ASCII/],
    ["header", "é", /ASCII/],
    ["raw", "text: {{text}}", /one placeholder and nothing else/],
    ["query", "t={{text}}", /our own address/],
    ["query", "t={{secret:token}}", /our own address/],
    ["constant", "{{text}}", /differs from message to message/],
  ])("%s: %s", (place, written, message) => {
    expect(faultsOf(written, place).join("\n")).toMatch(message);
  });

  test("a secret that no header can contain is refused in a header", () => {
    const faults: string[] = [];
    compileTemplate(
      "Bearer {{secret:token}}",
      "header",
      { "secret:token": "a\nb" },
      (fault) => void faults.push(fault),
    );
    expect(faults).toHaveLength(1);
  });
});

const SIGNS = "\" \\ { } & = ? # % + \r \n \t \0 : ; , ' ( ) * ! / . < > [ ] $ @ é ✓ 😀 \uD800 \uDC00 \u2028".split(
  " ",
);

/** Characters with a special meaning somewhere, and all others. */
const nasty = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.constantFrom(...SIGNS) }),
  fc.constantFrom(
    '","to":["1"],"x":"',
    "&to=1",
    "%26to%3D1",
    "\r\nx-evil: 1",
    "{{secret:token}}",
    "..",
    "/../..",
    "\\",
  ),
);
const said = fc.record({ text: nasty, sender: nasty, campaign: nasty });

describe("no text breaks out of its place", () => {
  test("in a query", () => {
    const template = compiled("/send?from={{sender}}&t={{text}}&c={{campaign}}&end=1", "path");
    fc.assert(
      fc.property(said, (fields) => {
        const url = new URL(`https://api.example${template.render(fields)}`);
        expect([url.host, url.pathname, url.hash]).toEqual(["api.example", "/send", ""]);
        expect([...url.searchParams]).toEqual([
          ["from", fields.sender.toWellFormed()],
          ["t", fields.text.toWellFormed()],
          ["c", fields.campaign.toWellFormed()],
          ["end", "1"],
        ]);
      }),
      { numRuns: repetitions(400, 2000) },
    );
  });

  test("in a form", () => {
    const template = compiled("from={{sender}}&t={{text}}{{?campaign}}&c={{campaign}}{{/campaign}}&end=1", "form");
    fc.assert(
      fc.property(said, (fields) => {
        expect([...new URLSearchParams(template.render(fields))]).toEqual([
          ["from", fields.sender.toWellFormed()],
          ["t", fields.text.toWellFormed()],
          ...(fields.campaign === "" ? [] : [["c", fields.campaign.toWellFormed()]]),
          ["end", "1"],
        ]);
      }),
      { numRuns: repetitions(400, 2000) },
    );
  });

  test("in JSON", () => {
    const template = compiled('{"from":"{{sender}}","a":["x{{text}}y"],"c":"{{campaign}}","n":{{segments}}}', "json");
    fc.assert(
      fc.property(said, (fields) => {
        expect(JSON.parse(template.render({ ...fields, segments: 1 }))).toEqual({
          from: fields.sender.toWellFormed(),
          a: [`x${fields.text.toWellFormed()}y`],
          c: fields.campaign.toWellFormed(),
          n: 1,
        });
      }),
      { numRuns: repetitions(400, 2000) },
    );
  });

  test("in a header", () => {
    const template = compiled("a {{text}} b", "header");
    fc.assert(
      fc.property(said, ({ text }) => {
        const rendered = template.render({ text });
        expect(rendered).toMatch(/^[\x20-\x7e]*$/);
        expect(decodeURIComponent(rendered)).toBe(`a ${text.toWellFormed()} b`);
      }),
      { numRuns: repetitions(400, 2000) },
    );
  });

  test("in our webhook URL", () => {
    const template = compiled("/send?dlr={{callbackUrl}}&t={{text}}", "path");
    fc.assert(
      fc.property(nasty, nasty, (callbackUrl, text) => {
        const url = new URL(`https://api.example${template.render({ callbackUrl, text })}`);
        expect([...url.searchParams.keys()]).toEqual(["dlr", "t"]);
      }),
    );
  });

  test("parsing an arbitrary template never throws", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "{{text}}",
        "{{?flash}}",
        "{{/flash}}",
        "{{!unicode}}",
        "{{/unicode}}",
        "{{secret:token}}",
        "{{",
        "}}",
        '"',
        "\\",
        "{",
        "}",
        "?",
      ),
      nasty,
    );
    const place = fc.constantFrom<TemplatePlace[]>("path", "query", "header", "constant", "form", "json", "raw");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), place, (pieces, where) => {
        expect(Array.isArray(faultsOf(pieces.join(""), where))).toBe(true);
      }),
      { numRuns: repetitions(400, 2000) },
    );
  });
});
