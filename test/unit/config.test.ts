import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { configurationTables, readConfig, unknownSettings } from "../../src/config.ts";

describe("configuration", () => {
  test("an empty environment gives the defaults", () => {
    expect(readConfig({})).toMatchObject({
      host: "127.0.0.1",
      port: 8080,
      databaseUrl: null,
      roles: ["api", "dispatch", "callbacks", "smpp"],
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
    ["HELIOGRAPH_FACADES", "fax"],
    ["HELIOGRAPH_FACADES", "kannel,kannel:13013"],
    ["HELIOGRAPH_FACADES", "kannel:70000"],
    ["HELIOGRAPH_FACADES", "kannel:"],
    ["HELIOGRAPH_FACADES", "jasmin:1401:1402"],
    ["HELIOGRAPH_TRUST_PROXY", "yes"],
    ["HELIOGRAPH_RECIPIENTS_MAX", "10001"],
    ["HELIOGRAPH_LOG_LEVEL", "loud"],
  ])("%s=%s stops the start, and the error names the setting but not the value", (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`^${name} must be `));
    expect(() => readConfig({ [name]: value })).not.toThrow(value);
  });

  test("a facade has a port of its own if one follows its name", () => {
    const onMainPort = ["twilio", "kannel", "jasmin"].map((kind) => ({ kind, port: null }));
    expect(readConfig({}).facades).toEqual(onMainPort);
    expect(readConfig({ HELIOGRAPH_FACADES: "none" }).facades).toEqual([]);
    expect(readConfig({ HELIOGRAPH_FACADES: "kannel:13013, twilio" }).facades).toEqual([
      { kind: "kannel", port: 13_013 },
      { kind: "twilio", port: null },
    ]);
  });

  test("a variable with our prefix that is no setting is reported", () => {
    expect(unknownSettings({ HELIOGRAPH_PROT: "1", HELIOGRAPH_PORT: "1", PATH: "/bin" })).toEqual(["HELIOGRAPH_PROT"]);
  });

  describe("a secret in a file", () => {
    const fileWith = (text: string): string => {
      const folder = mkdtempSync(join(tmpdir(), "heliograph-config-"));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      writeFileSync(join(folder, "secret"), text);
      return join(folder, "secret");
    };

    test("is read without the line break at its end", () => {
      const environment = { HELIOGRAPH_MASTER_KEY_FILE: fileWith("0123456789abcdef\n") };
      expect(readConfig(environment).masterKey).toBe("0123456789abcdef");
      expect(unknownSettings(environment)).toEqual([]);
    });

    test("is checked like any other value, and the error does not repeat it", () => {
      const read = (): unknown => readConfig({ HELIOGRAPH_METRICS_KEY_FILE: fileWith("too short") });
      expect(read).toThrow("HELIOGRAPH_METRICS_KEY must be 16 to 200 visible ASCII characters");
      expect(read).not.toThrow("too short");
    });

    test("is not taken when the variable is set as well", () => {
      const file = fileWith("0123456789abcdef");
      expect(() => readConfig({ HELIOGRAPH_MASTER_KEY: "fedcba9876543210", HELIOGRAPH_MASTER_KEY_FILE: file })).toThrow(
        "HELIOGRAPH_MASTER_KEY and HELIOGRAPH_MASTER_KEY_FILE are both set; remove one of them",
      );
    });

    test("stops the start when its file is missing or empty", () => {
      expect(() => readConfig({ HELIOGRAPH_API_KEY_FILE: "/no/such/file" })).toThrow(
        "HELIOGRAPH_API_KEY_FILE must be a readable file: ENOENT",
      );
      expect(() => readConfig({ HELIOGRAPH_API_KEY_FILE: fileWith("\n") })).toThrow(
        "HELIOGRAPH_API_KEY_FILE must be a file with a secret",
      );
    });

    test("is possible for each secret that docs/configuration.md names, and for no other setting", () => {
      const docs = readFileSync(join(import.meta.dirname, "../../docs/configuration.md"), "utf8");
      const named = [...new Set(docs.match(/HELIOGRAPH_\w+_FILE/g))].filter(
        (name) => docs.split(`| \`${name}\` |`).length === 1,
      );
      expect(named.length).toBeGreaterThan(3);
      expect(unknownSettings(Object.fromEntries(named.map((name) => [name, "x"])))).toEqual([]);
      expect(unknownSettings({ HELIOGRAPH_PORT_FILE: "x" })).toEqual(["HELIOGRAPH_PORT_FILE"]);
    });
  });

  test("docs/configuration.md contains exactly the tables of settings", () => {
    const page = readFileSync(join(import.meta.dirname, "../../docs/configuration.md"), "utf8");
    const table = /<!-- settings:begin -->\n([\s\S]*?)\n<!-- settings:end -->/.exec(page)?.[1];
    expect(table).toBe(configurationTables());
  });
});
