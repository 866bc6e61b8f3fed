import { expect, test } from "vitest";
import { bodyChecker } from "../../src/http/check-body.ts";
import { Type } from "../../src/lib/schema.ts";
import { pickFields } from "../../src/lib/shape.ts";
import { Problem } from "../../src/model/problem.ts";

const fields = {
  name: Type.String({ check: (name) => (name === "bad" ? "name must not be bad." : null) }),
  hours: Type.Default(Type.Number({ minimum: 0 }), 24),
};
const checker = bodyChecker(Type.Object(fields));

const faultsOf = async (check: () => unknown): Promise<unknown> => {
  try {
    return await check();
  } catch (error) {
    return error instanceof Problem ? error.faults : error;
  }
};

test("a checked body has the defaults of its schema, with and without rules", async () => {
  expect(checker.checkShape({ name: "a" })).toEqual({ name: "a", hours: 24 });
  expect(await checker.checkAll({ name: "a", hours: 1 }, () => [])).toEqual({ name: "a", hours: 1 });
  expect(await checker.checkAll({ name: "a" }, () => [])).toEqual({ name: "a", hours: 24 });
});

test("rules get the fields that match the schema, and their faults are reported with those of the schema", async () => {
  const seen: unknown[] = [];
  const faults = await faultsOf(() =>
    checker.checkAll({ name: "bad", hours: 2 }, ({ right, wrong }) => {
      seen.push(right, [...wrong]);
      return [
        { parameter: "hours", message: "hours must be odd." },
        { parameter: "name", message: "not reported: the name is wrong already." },
      ];
    }),
  );
  expect(seen).toEqual([{ hours: 2 }, ["name"]]);
  expect(faults).toEqual([
    { parameter: "name", message: "name must not be bad." },
    { parameter: "hours", message: "hours must be odd." },
  ]);
});

test("picking the fields of a schema drops other members, inherited ones and those without a value", () => {
  const given = Object.assign(Object.create({ name: "inherited" }), { hours: 3, other: 1 });
  expect(pickFields(fields, given)).toEqual({ hours: 3 });
  expect(Object.keys(pickFields(fields, { hours: 3, name: "a" }))).toEqual(["name", "hours"]);
});
