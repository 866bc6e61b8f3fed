import { Compile } from "typebox/compile";
import { describe, expect, it } from "vitest";
import { changeShape, newShape } from "../src/catalog/record-kind.ts";
import { settingsShape } from "../src/catalog/settings.ts";
import { SHELVES } from "../src/catalog/shelves.ts";
import { ROUTES } from "../src/http/routes.ts";
import { Type, type Schema } from "../src/lib/schema.ts";
import { shapeChecker } from "../src/lib/shape.ts";
import { body, write } from "./fuzz/json.ts";
import { Random } from "./fuzz/random.ts";

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

describe("a value that is not as its schema has it", () => {
  const text = Type.String({ minLength: 2, maxLength: 3 });
  it.each<[string, Schema, unknown, string[]]>([
    ["of another kind", Type.String(), 5, ["The body must be a string."]],
    ["a number that is not whole", Type.Integer(), 1.5, ["The body must be a whole number."]],
    ["no number", Type.Number(), Number.NaN, ["The body must be a number."]],
    ["a list for an object", Type.Object({}), [], ["The body must be an object."]],
    ["null for an object", Type.Object({}), null, ["The body must be an object."]],
    ["an object for a list", Type.Array(text), {}, ["The body must be an array."]],
    ["no truth", Type.Boolean(), 1, ["The body must be true or false."]],
    ["too short", text, "a", ["The body must have at least 2 characters."]],
    ["too long", text, "abcd", ["The body must have at most 3 characters."]],
    ["three signs of two units each, which are not too long", text, "😀😀😀", []],
    ["against its pattern", Type.String({ pattern: "^[a-z]+$" }), "A1", ["The body must match ^[a-z]+$."]],
    ["against two rules", Type.String({ minLength: 1, pattern: "^a" }), "", ["The body must have at least 1 character and must match ^a."]],
    ["too small", Type.Integer({ minimum: 3 }), 2, ["The body must be at least 3."]],
    ["too large", Type.Number({ maximum: 3 }), 3.5, ["The body must be at most 3."]],
    ["a list too short", Type.Array(text, { minItems: 1 }), [], ["The body must have at least 1 item."]],
    ["another constant", Type.Literal("on"), "off", ['The body must be "on".']],
    ["none of several", Type.Union([Type.Literal("on"), Type.Literal("off"), Type.Null()]), 1, ['The body must be "on", "off" or null.']],
    ["none of several of a kind", Type.Union([Type.Literal(1), Type.Integer(), Type.Integer({ minimum: 5 })]), "", ["The body must be 1 or a whole number."]],
    ["a field besides those that are named", Type.Object({ a: Type.Integer() }, { additionalProperties: text }), { a: 1, b: 1 }, ["b must be a string."]],
    ["less than all of several", Type.Intersect([Type.Object({ a: text }), Type.Object({ b: text })]), { a: "ab" }, ["b is required."]],
  ])("is told: %s", (_, schema, value, messages) => {
    expect(messagesFor(schema, value)).toEqual(messages);
  }); // prettier-ignore

  it("is told by the name of the field as callers write it", () => {
    const card = Type.Object({ title: text, price: Type.Optional(Type.Number()) });
    const schema = Type.Object({ cards: Type.Array(card), names: Type.Record(text) });
    expect(shapeChecker(schema)({ cards: [{ title: "ab" }, { price: "1" }], names: { "a\nb": 1 } })).toEqual([
      { parameter: "cards[1].title", message: "cards[1].title is required." },
      { parameter: "cards[1].price", message: "cards[1].price must be a number." },
      { parameter: "names.a\nb", message: "names.a\nb must be a string." },
    ]);
  });

  it("is told by the branch that it is of, where it is of one", () => {
    const schema = Type.Object({ hours: Type.Union([Type.Object({ from: text }), text, Type.Null()]) });
    expect(messagesFor(schema, { hours: { from: 1 } })).toEqual(["hours.from must be a string."]);
    expect(messagesFor(schema, { hours: {} })).toEqual(["hours.from is required."]);
    expect(messagesFor(schema, { hours: "abcd" })).toEqual(["hours must have at most 3 characters."]);
    expect(messagesFor(schema, { hours: 1 })).toEqual(["hours must be an object, a string or null."]);
    expect(messagesFor(schema, { hours: null })).toEqual([]);
  });

  it("has the fields that are its own, and none that every object has", () => {
    const schema = Type.Object({ constructor: text, toString: Type.Optional(text) });
    expect(messagesFor(schema, {})).toEqual(["constructor is required."]);
    expect(messagesFor(Type.Record(text), JSON.parse('{"__proto__":1}'))).toEqual(["__proto__ must be a string."]);
  });

  it("is told twenty faults at the most, whose like is not looked for any further", () => {
    const wrong = Array.from({ length: 1000 }, () => 1);
    expect(messagesFor(Type.Array(text), wrong)).toHaveLength(20);
    const beyond = new Proxy(wrong, {
      get: (target, name) => {
        if (Number(name) > 20) throw new Error("looked further");
        return Reflect.get(target, name) as unknown;
      },
    });
    expect(messagesFor(Type.Union([Type.Array(text), Type.Array(Type.Null())]), beyond)).toHaveLength(20);
    expect(messagesFor(Type.Array(text, { maxItems: 999 }), wrong)).toEqual(["The body must have at most 999 items."]);
  });

  it("is held to what stands beside a choice as well", () => {
    const schema = { ...Type.Object({ a: text }), anyOf: [Type.Object({ b: text }), Type.Object({ c: text })] };
    expect(messagesFor(schema, { b: "ab" })).toEqual(["a is required."]);
    expect(messagesFor(schema, { a: "ab" })).toEqual(["b is required.", "c is required."]);
    expect(messagesFor(schema, { a: "ab", c: "ab" })).toEqual([]);
  });

  it("has as many characters as signs, at either limit", () => {
    const three = Type.String({ minLength: 3, maxLength: 3 });
    const short = ["The body must have at least 3 characters."];
    const long = ["The body must have at most 3 characters."];
    for (const [value, messages] of [
      ["ab", short],
      ["😀😀", short],
      ["abc", []],
      ["😀b😀", []],
      ["abcd", long],
      ["😀b😀d", long],
      ["abcdefg", long],
    ] as const)
      expect([value, messagesFor(three, value)]).toEqual([value, messages]);
  });
});

describe("a schema", () => {
  it("is JSON Schema, whose optional fields are those that are not required", () => {
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

describe("what is right and what is wrong", () => {
  const bodies = ROUTES.flatMap(({ method, path, body: schema, checkBody }): [string, Schema][] =>
    schema && checkBody !== false ? [[`${method} ${path}`, schema]] : [],
  );
  const records = SHELVES.flatMap(({ many, kinds }) =>
    kinds.flatMap((kind): [string, Schema][] => [
      [`new ${kind.channel ?? ""} ${many}`, newShape(kind)],
      [`changed ${kind.channel ?? ""} ${many}`, changeShape(kind)],
    ]),
  );

  it.each([...bodies, ...records, ["settings", settingsShape] as const])(
    "is what typebox says it is: %s",
    (_, schema) => {
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
