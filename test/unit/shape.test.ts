import { Compile } from "typebox/compile";
import { describe, expect, expectTypeOf, it } from "vitest";
import { updateSchema, newSchema } from "../../src/records/record-type.ts";
import { settingsShape } from "../../src/records/settings.ts";
import { RECORD_TYPES } from "../../src/records/record-types.ts";
import { ROUTES } from "../../src/http/routes.ts";
import { nullable, ERROR, PATTERN_RULE, Type, type Infer, type Schema } from "../../src/lib/schema.ts";
import { shapeChecker, withDefaults } from "../../src/lib/shape.ts";
import { body, write } from "../fuzz/json.ts";
import { Random } from "../fuzz/random.ts";

/** Every other one has another value somewhere inside. */
function spoilt(random: Random, value: unknown, deep = random.chance(0.5)): unknown {
  if (!deep) return value;
  if (typeof value !== "object" || value === null || random.chance(0.2))
    return random.pick([null, "", "x", 0, 1.5, true, [], {}, ["x"], { a: 1 }, "x".repeat(5000)]);
  const entries = Object.entries(value);
  const at = random.below(entries.length);
  const changed = entries.map(([name, inner], place) => [name, spoilt(random, inner, place === at)] as const);
  return Array.isArray(value) ? changed.map(([, inner]) => inner) : Object.fromEntries(changed);
}

const messagesFor = (schema: Schema, value: unknown): string[] =>
  shapeChecker(schema)(value).map(({ message }) => message);

describe("shapeChecker", () => {
  const text = Type.String({ minLength: 2, maxLength: 3 });
  it.each<[string, Schema, unknown, string[]]>([
    ["of another kind", Type.String(), 5, ["The body must be a string."]],
    ["a number that is not whole", Type.Integer(), 1.5, ["The body must be a whole number."]],
    ["no number", Type.Number(), Number.NaN, ["The body must be a number."]],
    ["a list for an object", Type.Object({}), [], ["The body must be an object."]],
    ["null for an object", Type.Object({}), null, ["The body must be an object."]],
    ["an object for a list", Type.Array(text), {}, ["The body must be an array."]],
    ["no truth", Type.Boolean(), 1, ["The body must be true or false."]],
    ["too short", text, "a", ["The body must have at least 2 characters (it has 1)."]],
    ["too long", text, "abcd", ["The body must have at most 3 characters (it has 4)."]],
    ["three signs of two units each, which are not too long", text, "😀😀😀", []],
    ["against its pattern", Type.String({ pattern: "^[a-z]+$", [PATTERN_RULE]: "have small letters only" }), "A1", ["The body must have small letters only."]],
    ["against two rules", Type.String({ minLength: 1, pattern: "^a", [PATTERN_RULE]: "begin with a" }), "", ["The body must have at least 1 character (it has 0) and must begin with a."]],
    ["too small", Type.Integer({ minimum: 3 }), 2, ["The body must be at least 3."]],
    ["too large", Type.Number({ maximum: 3 }), 3.5, ["The body must be at most 3."]],
    ["a list too short", Type.Array(text, { minItems: 1 }), [], ["The body must have at least 1 item (it has 0)."]],
    ["another constant", Type.Literal("on"), "off", ['The body must be "on".']],
    ["none of several", Type.Union([Type.Literal("on"), Type.Literal("off"), Type.Null()]), 1, ['The body must be "on", "off" or null.']],
    ["none of several of a kind", Type.Union([Type.Literal(1), Type.Integer(), Type.Integer({ minimum: 5 })]), "", ["The body must be 1 or a whole number."]],
    ["a field besides those that are named", Type.Object({ a: Type.Integer() }, { additionalProperties: text }), { a: 1, b: 1 }, ["b must be a string."]],
    ["less than all of several", Type.Intersect([Type.Object({ a: text }), Type.Object({ b: text })]), { a: "ab" }, ["b is required."]],
  ])("is told: %s", (_, schema, value, messages) => {
    expect(messagesFor(schema, value)).toEqual(messages);
  }); // prettier-ignore

  it("a fault names the path of its field as callers write it", () => {
    const card = Type.Object({ title: text, price: Type.Optional(Type.Number()) });
    const schema = Type.Object({ cards: Type.Array(card), names: Type.Record(text) });
    expect(shapeChecker(schema)({ cards: [{ title: "ab" }, { price: "1" }], names: { "a\nb": 1 } })).toEqual([
      { parameter: "cards[1].title", message: "cards[1].title is required." },
      { parameter: "cards[1].price", message: "cards[1].price must be a number." },
      { parameter: "names.a\nb", message: "names.a\nb must be a string." },
    ]);
  });

  it("in a union, faults inside the branch of the right kind win", () => {
    const schema = Type.Object({ hours: Type.Union([Type.Object({ from: text }), text, Type.Null()]) });
    expect(messagesFor(schema, { hours: { from: 1 } })).toEqual(["hours.from must be a string."]);
    expect(messagesFor(schema, { hours: {} })).toEqual(["hours.from is required."]);
    expect(messagesFor(schema, { hours: "abcd" })).toEqual(["hours must have at most 3 characters (it has 4)."]);
    expect(messagesFor(schema, { hours: 1 })).toEqual(["hours must be an object, a string or null."]);
    expect(messagesFor(schema, { hours: null })).toEqual([]);
  });

  it("inherited members are no fields", () => {
    const schema = Type.Object({ constructor: text, toString: Type.Optional(text) });
    expect(messagesFor(schema, {})).toEqual(["constructor is required."]);
    expect(messagesFor(Type.Record(text), JSON.parse('{"__proto__":1}'))).toEqual(["__proto__ must be a string."]);
  });

  it("every field with a fault is reported, even after twenty faults in another", () => {
    const schema = Type.Object({ list: Type.Array(text), name: text, size: Type.Integer() });
    const value = { list: Array.from({ length: 30 }, () => 7), name: 7, size: 1 };
    const faults = shapeChecker(schema)(value);
    expect(faults).toHaveLength(21);
    expect(faults.at(-1)).toEqual({ parameter: "name", message: "name must be a string." });
  });

  it("a field can require others, depending on its value", () => {
    const number = Type.Optional(Type.String({ error: { required: "Give the number to call." } }));
    const schema = Type.Object(
      { type: Type.String(), url: Type.Optional(text), number },
      { requiredBy: { field: "type", values: { url: ["url"], call: ["number", "url"] } } },
    );
    expect(messagesFor(schema, { type: "reply" })).toEqual([]);
    expect(messagesFor(schema, { type: "constructor" })).toEqual([]);
    expect(messagesFor(schema, { type: "url" })).toEqual(["url is required."]);
    expect(messagesFor(schema, { type: "call" })).toEqual(["Give the number to call.", "url is required."]);
    expect(messagesFor(schema, { type: "call", url: "abc", number: "1" })).toEqual([]);
  });

  it("the search ends after twenty faults", () => {
    const wrong = Array.from({ length: 1000 }, () => 1);
    expect(messagesFor(Type.Array(text), wrong)).toHaveLength(20);
    const beyond = new Proxy(wrong, {
      get: (target, name) => {
        if (Number(name) > 20) throw new Error("looked further");
        return Reflect.get(target, name) as unknown;
      },
    });
    expect(messagesFor(Type.Union([Type.Array(text), Type.Array(Type.Null())]), beyond)).toHaveLength(20);
    expect(messagesFor(Type.Array(text, { maxItems: 999 }), wrong)).toEqual([
      `The body must have at most 999 items (it has ${wrong.length}).`,
    ]);
  });

  it("a schema with anyOf also checks its other keywords", () => {
    const schema = { ...Type.Object({ a: text }), anyOf: [Type.Object({ b: text }), Type.Object({ c: text })] };
    expect(messagesFor(schema, { b: "ab" })).toEqual(["a is required."]);
    expect(messagesFor(schema, { a: "ab" })).toEqual(["b is required.", "c is required."]);
    expect(messagesFor(schema, { a: "ab", c: "ab" })).toEqual([]);
  });

  it("string limits count code points", () => {
    const three = Type.String({ minLength: 3, maxLength: 3 });
    const short = ["The body must have at least 3 characters (it has 2)."];
    const long = (length: number): string[] => [`The body must have at most 3 characters (it has ${length}).`];
    for (const [value, messages] of [
      ["ab", short],
      ["😀😀", short],
      ["abc", []],
      ["😀b😀", []],
      ["abcd", long(4)],
      ["😀b😀d", long(4)],
      ["abcdefg", long(7)],
    ] as const)
      expect([value, messagesFor(three, value)]).toEqual([value, messages]);
  });
});

describe("Type", () => {
  it("a schema is JSON Schema whose optional fields are not required", () => {
    const fields = { name: Type.String({ maxLength: 5 }), age: Type.Optional(Type.Integer()) };
    const schema = Type.Object(fields, { title: "Person" });
    expect(JSON.parse(JSON.stringify(schema))).toEqual({
      type: "object",
      required: ["name"],
      properties: { name: { type: "string", maxLength: 5 }, age: { type: "integer" } },
      title: "Person",
    });
    expect(Type.Partial(schema)).not.toHaveProperty("required");
    expect(Type.Partial(schema)).not.toHaveProperty("title");
    expect(Type.Object({ ...Type.Partial(schema).properties, id: Type.String() }).required).toEqual(["id"]);
  });
});

describe("error texts", () => {
  it("one error text replaces all standard texts of its field and is reported once", () => {
    const code = Type.String({ minLength: 4, pattern: "^[0-9]+$", error: "code has at least four digits." });
    const schema = Type.Object({ code });
    for (const value of [{}, { code: 5 }, { code: "a" }, { code: "abcd" }])
      expect(shapeChecker(schema)(value)).toEqual([{ parameter: "code", message: "code has at least four digits." }]);
    expect(messagesFor(schema, { code: "1234" })).toEqual([]);
  });

  it("an error text per keyword leaves the other keywords with their standard text", () => {
    const schema = Type.Object({ sender: Type.String({ maxLength: 3, error: { maxLength: "A sender is short." } }) });
    expect(messagesFor(schema, { sender: "ABCD" })).toEqual(["A sender is short."]);
    expect(messagesFor(schema, {})).toEqual(["sender is required."]);
  });

  it("an error function gets path and value, and does not cover the fields inside", () => {
    const flag = Type.Union([Type.Literal(0), Type.Literal(1)], {
      error: (parameter, value) => `${parameter} is 1 or 0, not ${JSON.stringify(value)}.`,
    });
    const list = Type.Array(flag, { maxItems: 2, error: (parameter) => `${parameter} is a short list.` });
    const schema = Type.Object({ flags: list });
    expect(messagesFor(schema, { flags: [1, true] })).toEqual(["flags[1] is 1 or 0, not true."]);
    expect(messagesFor(schema, { flags: [0, 0, 0] })).toEqual(["flags is a short list."]);
    expect(messagesFor(schema, { flags: 1 })).toEqual(["flags is a short list."]);
  });

  it("a check runs beside the limits of a string, and on an object once its fields are right", () => {
    const name = Type.String({ maxLength: 3, check: (value) => (value.includes("\n") ? "One line only." : null) });
    expect(messagesFor(name, "ab\ncd")).toEqual([
      "The body must have at most 3 characters (it has 5).",
      "One line only.",
    ]);
    const range = Type.Object(
      { from: Type.Integer(), to: Type.Integer() },
      { check: ({ from, to }) => (from > to ? "from is not after to." : null) },
    );
    expect(messagesFor(range, { from: 2, to: 1 })).toEqual(["from is not after to."]);
    expect(messagesFor(range, { from: 2, to: "1" })).toEqual(["to must be a whole number."]);
  });

  it("error texts and checks are not published", () => {
    const schema = Type.String({ maxLength: 3, error: "Too long.", check: () => null });
    expect(JSON.parse(JSON.stringify(schema))).toEqual({ type: "string", maxLength: 3 });
  });
});

describe("defaults", () => {
  const schema = Type.Object({
    limit: Type.Default(Type.Integer({ minimum: 1 }), 30),
    fallback: Type.Optional(Type.Object({ afterSeconds: Type.Default(Type.Integer(), 60) })),
    routes: Type.Array(Type.Object({ weight: Type.Default(Type.Number(), 1) })),
  });

  it("a default is published, and its field is not required", () => {
    expect(JSON.parse(JSON.stringify(schema))).toMatchObject({
      required: ["routes"],
      properties: { limit: { type: "integer", minimum: 1, default: 30 } },
    });
  });

  it("defaults are filled in at every depth, in a copy", () => {
    const given = { fallback: {}, routes: [{}, { weight: 2 }] };
    const before = structuredClone(given);
    expect(withDefaults(schema)(given)).toEqual({
      limit: 30,
      fallback: { afterSeconds: 60 },
      routes: [{ weight: 1 }, { weight: 2 }],
    });
    expect(given).toEqual(before);
    expect(withDefaults(schema)({ routes: [] })).toEqual({ limit: 30, routes: [] });
    const plain = { a: 1 };
    expect(withDefaults(Type.Object({ a: Type.Integer() }))(plain)).toBe(plain);
  });

  it("Type.Partial removes defaults, because a missing field keeps its value", () => {
    expect(withDefaults(Type.Partial(schema))({})).toEqual({});
    expect(JSON.stringify(Type.Partial(schema).properties.limit)).not.toContain("default");
  });
});

describe("Infer", () => {
  it("the static type of a schema has defaulted fields present", () => {
    const card = Type.Object({ title: Type.String(), price: nullable(Type.Number(), "In euros.") });
    const schema = Type.Object({
      kind: Type.Union([Type.Literal("text"), Type.Literal("cards")]),
      flag: Type.Optional(Type.Union([Type.Literal(0), Type.Literal(1)])),
      to: Type.Union([Type.String(), Type.Array(Type.String())]),
      cards: Type.Optional(Type.Array(card)),
      words: Type.Record(Type.Integer()),
      limit: Type.Default(Type.Integer(), 30),
    });
    expectTypeOf<Infer<typeof schema>>().toEqualTypeOf<{
      readonly kind: "text" | "cards";
      readonly flag?: 0 | 1;
      readonly to: string | readonly string[];
      readonly cards?: readonly { readonly title: string; readonly price: number | null }[];
      readonly words: Readonly<Record<string, number>>;
      readonly limit: number;
    }>();
    const change = Type.Partial(schema);
    expectTypeOf<Infer<typeof change>["limit"]>().toEqualTypeOf<number | undefined>();
    const both = Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Boolean() })]);
    expectTypeOf<Infer<typeof both>["b"]>().toEqualTypeOf<boolean>();
    expectTypeOf<Infer<Schema>>().toEqualTypeOf<unknown>();
  });
});

describe("shapeChecker on published schemas", () => {
  const bodies = ROUTES.flatMap(({ method, path, body: schema, checkBody }): [string, Schema][] =>
    schema && checkBody !== false ? [[`${method} ${path}`, schema]] : [],
  );
  const records = RECORD_TYPES.flatMap(({ plural: many, definitions: kinds }) =>
    kinds.flatMap((kind): [string, Schema][] => [
      [`new ${kind.channel ?? ""} ${many}`, newSchema(kind)],
      [`changed ${kind.channel ?? ""} ${many}`, updateSchema(kind)],
    ]),
  );

  it.each(records)("defaults are of the published schema: %s", (_, schema) => {
    const wrong = Object.entries(schema.properties ?? {}).filter(
      ([, field]) => field.default !== undefined && shapeChecker(field)(field.default).length > 0,
    );
    expect(wrong.map(([name]) => name)).toEqual([]);
  });

  it("every pattern of a body has an error text, so that no error shows a regular expression", () => {
    const patterns = (schema: Schema): Schema[] => [
      ...(schema.pattern === undefined ? [] : [schema]),
      ...[schema.items, schema.additionalProperties, ...Object.values(schema.properties ?? {})]
        .concat(schema.anyOf ?? [], schema.allOf ?? [])
        .flatMap((part) => (typeof part === "object" ? patterns(part) : [])),
    ];
    const all = [...ROUTES.flatMap((route) => route.body ?? []), ...records.map(([, schema]) => schema)].flatMap(
      patterns,
    );
    expect(all.length).toBeGreaterThan(5);
    expect(all.filter((schema) => schema[PATTERN_RULE] === undefined && schema[ERROR] === undefined)).toEqual([]);
  });

  it.each([...bodies, ...records, ["settings", settingsShape] as const])(
    "agrees with TypeBox on random values: %s",
    (_, given) => {
      // Checks of our own are not JSON Schema, and no part of the comparison.
      const schema = JSON.parse(JSON.stringify(given)) as Schema;
      const theirs = Compile(schema);
      const ours = shapeChecker(schema);
      const random = new Random(20_261_117);
      const verdicts = { right: 0, wrong: 0 };
      const disagreed: unknown[] = [];
      for (let count = 0; count < 400; count += 1) {
        const value = spoilt(random, JSON.parse(write(body(random, schema))));
        const isRight = theirs.Check(value);
        verdicts[isRight ? "right" : "wrong"] += 1;
        if ((ours(value).length === 0) !== isRight) disagreed.push(value);
      }
      expect(disagreed).toEqual([]);
      expect(verdicts.wrong).toBeGreaterThan(10);
      expect(verdicts.right).toBeGreaterThan(10);
    },
  );
});
