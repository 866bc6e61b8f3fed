import { describe, expect, test } from "vitest";
import { forwardedAddress, parseAddress } from "../../src/http/client-address.ts";
import { startTestServer } from "../support/test-server.ts";

describe("the address of a client", () => {
  test.each([
    ["192.0.2.1", "192.0.2.1"],
    ["192.0.2.1:443", "192.0.2.1"],
    ["192.0.2.1:", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::FFFF:c000:201", "192.0.2.1"],
    ["[::ffff:192.0.2.1]:80", "192.0.2.1"],
    ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
    ["[2001:db8::1]", "2001:db8::1"],
    ["[2001:db8::1]:8080", "2001:db8::1"],
    ["fe80::1%eth0", "fe80::1"],
    ["[fe80::1%25eth0]:1", "fe80::1"],
    ['"[2001:db8::1]:1"', "2001:db8::1"],
    ["unknown", null],
    ["_hidden", null],
    ["192.0.2", null],
    ["192.0.2.1.5", null],
    ["2001:db8::1:80:zz", null],
    ["", null],
  ])("%j is parsed as %j", (value, address) => expect(parseAddress(value)).toBe(address));

  test.each([
    ["192.0.2.1", "192.0.2.1"],
    ["evil, 192.0.2.1", "192.0.2.1"],
    ["192.0.2.1,", "192.0.2.1"],
    ["192.0.2.1 , ,, ", "192.0.2.1"],
    [",,", "203.0.113.9"],
    ["", "203.0.113.9"],
    ["192.0.2.1, secret", "unknown"],
    [undefined, "203.0.113.9"],
    [["198.51.100.1", "192.0.2.1"], "192.0.2.1"],
  ])("behind a proxy that sends %j it is %j", (header, address) =>
    expect(forwardedAddress(header, "::ffff:203.0.113.9")).toBe(address),
  );

  test("is the same on both HTTP paths, so that a key's address list decides alike", async () => {
    const server = await startTestServer("sqlite", { env: { HELIOGRAPH_TRUST_PROXY: "true" } });
    try {
      const choices = { name: "office", scopes: ["sms"], allowedIps: ["192.0.2.1", "2001:db8::/64"] };
      const { body } = await server.request<{ key: string }>("POST", "/api/keys", choices);
      const cases: [string, number][] = [
        ["192.0.2.1", 200],
        ["192.0.2.1,", 200],
        ["192.0.2.1:5000", 200],
        ["[2001:db8::7]:1", 200],
        ["192.0.2.1, 192.0.2.2", 403],
        ["192.0.2.1, nonsense", 403],
        [",", 403],
      ];
      for (const [header, status] of cases) {
        const headers = { apikey: body.key, "x-forwarded-for": header };
        const fast = await server.send({}, headers);
        // A second content type parameter makes Node's server handle it.
        const byNode = await server.send({}, { ...headers, "content-type": "application/json; charset=utf-8; a=b" });
        expect({ header, statuses: [fast.status, byNode.status] }).toEqual({ header, statuses: [status, status] });
      }
    } finally {
      await server.close();
    }
  });
});
