import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Parameter, Route } from "../../src/http/route.ts";
import { ROUTES } from "../../src/http/routes.ts";
import { startTestServer, type ErrorBody, type TestServer } from "../support/test-server.ts";

/** The values that an enum parameter takes; none where it is no enum. */
function valuesOf(parameter: Parameter): string[] {
  const schema = typeof parameter === "string" ? undefined : parameter.schema;
  const branches = schema?.anyOf ?? [schema];
  const values = branches.map((branch) => branch?.const);
  return values.every((value) => typeof value === "string") ? values : [];
}

/** A value that a parameter takes. */
function validOf(parameter: Parameter): string | null {
  if (typeof parameter === "string") return null;
  const value = parameter.example ?? parameter.schema?.examples?.[0] ?? valuesOf(parameter)[0];
  return typeof value === "string" || typeof value === "number" ? String(value) : null;
}

const enums = ROUTES.filter(({ path }) => /^\/(v1|api)\//.test(path)).flatMap((route) =>
  Object.entries(route.query ?? {})
    .map(([name, parameter]) => ({ route, name, values: valuesOf(parameter) }))
    .filter(({ values }) => values.length > 0)
    .map((found) => ({ ...found, title: `${route.method} ${route.path}: ${found.name}` })),
);

/** The events of the webhook that is asked; it takes no others. */
const EVENTS = ["user_message", "message_status"];

describe("an enum parameter of a query", () => {
  let server: TestServer;
  let webhookId: string;
  beforeAll(async () => {
    server = await startTestServer("sqlite");
    const webhook = { name: "w", channel: "rcs", url: "http://127.0.0.1:9/", events: EVENTS };
    const { body } = await server.request<{ id: string }>("POST", "/api/webhooks", webhook);
    webhookId = body.id;
    // The example of a parameter that stands beside an enum.
    await server.request("POST", "/api/segments", { name: "VIP in Pune", tags: ["vip"] });
  });
  afterAll(() => server.close());

  /** The path of a route with valid parameters, except for one. */
  function pathWith({ path, params = {}, query = {} }: Route, name: string, value: string): string {
    const filled = path.replace(/:(\w+)/g, (_, each: string) =>
      path.startsWith("/api/webhooks/") ? webhookId : (validOf(params[each] ?? "") ?? ""),
    );
    const others = Object.entries(query).flatMap(([each, parameter]) => {
      const valid = validOf(parameter);
      return valid === null || each === name ? [] : [[each, valid] as [string, string]];
    });
    return `${filled}?${new URLSearchParams([...others, [name, value]]).toString()}`;
  }

  test("list operations have enum parameters", () => {
    expect(enums.length).toBeGreaterThanOrEqual(13);
  });

  test.each(enums)(
    "an enum parameter with another value is refused with the accepted values: $title",
    async ({ route, name, values }) => {
      for (const wrong of ["not-one", "", `${values[0]},${values[0]}`, "constructor"]) {
        const { status, body } = await server.request<{ error: ErrorBody }>(route.method, pathWith(route, name, wrong));
        expect({ status, code: body.error?.code }).toEqual({ status: 400, code: "INVALID_REQUEST" });
        expect(body.error.details.map(({ parameter }) => parameter)).toEqual([name]);
        const [fault] = body.error.details;
        const allowed = name === "event" ? EVENTS : values;
        expect(allowed.filter((value) => !fault?.message.includes(value))).toEqual([]);
      }
    },
  );
});
