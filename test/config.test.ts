import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { configurationTable, readConfig, unknownSettings } from "../src/config.ts";

describe("configuration", () => {
  test("an empty environment gives the defaults", () => {
    expect(readConfig({})).toMatchObject({
      host: "127.0.0.1",
      port: 8080,
      databaseUrl: null,
      roles: ["api", "dispatch", "callbacks"],
      logLevel: "info",
    });
  });

  test("an empty value counts as not set", () => {
    expect(readConfig({ HELIOGRAPH_PORT: "" }).port).toBe(8080);
  });

  test.each([
    ["HELIOGRAPH_PORT", "eighty"],
    ["HELIOGRAPH_PORT", "70000"],
    ["HELIOGRAPH_DATABASE_URL", "mysql://db"],
    ["HELIOGRAPH_BASE_URL", "sms.example.com"],
    ["HELIOGRAPH_SHORT_LINK_BASE", "go.example"],
    ["HELIOGRAPH_SHORT_LINK_BASE", "https://go.example/?code="],
    ["HELIOGRAPH_ADMIN_EMAIL", "nobody"],
    ["HELIOGRAPH_ADMIN_PASSWORD", "short"],
    ["HELIOGRAPH_API_KEY", "has spaces in it"],
    ["HELIOGRAPH_MASTER_KEY", "short"],
    ["HELIOGRAPH_ROLES", "api,cook"],
    ["HELIOGRAPH_TRUST_PROXY", "yes"],
    ["HELIOGRAPH_RECIPIENTS_MAX", "10001"],
    ["HELIOGRAPH_LOG_LEVEL", "loud"],
  ])("%s=%s stops the start and names itself, not the value", (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`^${name} must be `));
    expect(() => readConfig({ [name]: value })).not.toThrow(value);
  });

  test("a variable with our prefix that is no setting is pointed out", () => {
    expect(unknownSettings({ HELIOGRAPH_PROT: "1", HELIOGRAPH_PORT: "1", PATH: "/bin" })).toEqual(["HELIOGRAPH_PROT"]);
  });

  test("docs/configuration.md holds exactly the table of settings", () => {
    const page = readFileSync(join(import.meta.dirname, "../docs/configuration.md"), "utf8");
    const table = /<!-- settings:begin -->\n([\s\S]*?)\n<!-- settings:end -->/.exec(page)?.[1];
    expect(table).toBe(configurationTable());
  });
});
