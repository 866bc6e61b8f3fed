import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { sendSms } from "../../src/http/public/sms.ts";
import { isPersonal, roleOf, type Route } from "../../src/http/route.ts";
import { routeOf, ROUTE_TABLE, ROUTES } from "../../src/http/routes.ts";

const HTTP_FOLDER = new URL("../../src/http/", import.meta.url);

/** Route objects that a module exports, alone or in a list. */
async function exportedRoutes(): Promise<Route[]> {
  const files = readdirSync(HTTP_FOLDER, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && file !== "routes.ts" && !file.endsWith("worker.ts"),
  );
  const modules: Record<string, unknown>[] = await Promise.all(
    files.map((file) => import(new URL(file, HTTP_FOLDER).href)),
  );
  return modules.flatMap((module) => Object.values(module).flat()).filter(isRoute);
}

const isRoute = (value: unknown): value is Route =>
  typeof value === "object" && value !== null && "handle" in value && "method" in value && "path" in value;

describe("the route table", () => {
  test("shows the method, path, scope and role of every route object", () => {
    const shown = ROUTE_TABLE.map(([method, path, scope, role]) => ({ method, path, scope, role }));
    const actual = ROUTES.map((route) => ({
      method: route.method,
      path: route.path,
      scope: route.scope === null || ("peopleOnly" in route && route.peopleOnly) ? "-" : route.scope,
      role: route.scope !== null ? roleOf(route) : isPersonal(route) ? "self" : "public",
    }));
    expect(shown).toEqual(actual);
  });

  test("has one line for every route object that a module exports", async () => {
    const exported = await exportedRoutes();
    expect(exported.length).toBeGreaterThan(100);
    expect(exported.filter((route) => !ROUTES.includes(route)).map(({ method, path }) => `${method} ${path}`)).toEqual(
      [],
    );
  });

  test("has no two lines for one method and path", () => {
    const lines = ROUTE_TABLE.map(([method, path]) => `${method} ${path}`);
    expect(new Set(lines).size).toBe(lines.length);
  });

  test.each([
    ["method", ["GET", "/v1/sms", "sms", "member", sendSms]],
    ["path", ["POST", "/v1/sm", "sms", "member", sendSms]],
    ["scope", ["POST", "/v1/sms", "manage", "member", sendSms]],
    ["role", ["POST", "/v1/sms", "sms", "viewer", sendSms]],
  ] as const)("refuses a line whose %s is not its route's", (_column, row) => {
    expect(() => routeOf(row)).toThrow("route table");
  });
});
