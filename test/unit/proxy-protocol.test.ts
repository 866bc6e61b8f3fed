import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseProxyHeader } from "../../src/http/listener/proxy-protocol.ts";

const SIGNATURE = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");

const v2 = (command: number, family: number, body: Buffer): Buffer => {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(body.length);
  return Buffer.concat([SIGNATURE, Buffer.from([command, family]), length, body]);
};

const TCP4 = Buffer.from([203, 0, 113, 7, 10, 0, 0, 1, 0x30, 0x39, 0, 80]);
const TCP6 = Buffer.concat([Buffer.from("20010db8000000000000000000000001", "hex"), Buffer.alloc(16), Buffer.alloc(4)]);

const VALID: readonly (readonly [string, Buffer, string | null])[] = [
  ["version 1, IPv4", Buffer.from("PROXY TCP4 203.0.113.7 10.0.0.1 12345 80\r\n"), "203.0.113.7"],
  ["version 1, IPv6", Buffer.from("PROXY TCP6 2001:DB8:0::1 ::1 1 65535\r\n"), "2001:db8::1"],
  ["version 1, an unknown client", Buffer.from("PROXY UNKNOWN\r\n"), null],
  ["version 2, IPv4", v2(0x21, 0x11, TCP4), "203.0.113.7"],
  ["version 2, IPv6", v2(0x21, 0x21, TCP6), "2001:db8::1"],
  ["version 2 with options", v2(0x21, 0x11, Buffer.concat([TCP4, Buffer.alloc(300)])), "203.0.113.7"],
  ["version 2, a health check of the proxy", v2(0x20, 0, Buffer.alloc(0)), null],
];

describe("a PROXY header", () => {
  test.each(VALID)("of %s is read, and the bytes behind it are left", (_, header, address) => {
    const bytes = Buffer.concat([header, Buffer.from("GET / HTTP/1.1\r\n")]);
    expect(parseProxyHeader(bytes)).toEqual({ kind: "header", address, bytes: header.length });
  });

  test.each(VALID)("of %s is awaited until its last byte", (_, header) => {
    for (let length = 0; length < header.length; length += 1)
      expect(parseProxyHeader(header.subarray(0, length))).toEqual({ kind: "incomplete" });
  });

  test.each([
    ["that is HTTP", Buffer.from("GET / HTTP/1.1\r\n")],
    ["with a name for an address", Buffer.from("PROXY TCP4 localhost 10.0.0.1 1 2\r\n")],
    ["with an address of the other family", Buffer.from("PROXY TCP4 ::1 10.0.0.1 1 2\r\n")],
    ["with a port above 65535", Buffer.from("PROXY TCP4 203.0.113.7 10.0.0.1 70000 80\r\n")],
    ["with a word too many", Buffer.from("PROXY TCP4 203.0.113.7 10.0.0.1 1 2 3\r\n")],
    ["of version 1 above 107 bytes", Buffer.from(`PROXY UNKNOWN ${"x".repeat(200)}\r\n`)],
    ["of version 2 above 2 KiB", Buffer.concat([SIGNATURE, Buffer.from([0x21, 0x11, 0xff, 0xff])])],
    ["of version 3", v2(0x31, 0x11, TCP4)],
    ["of version 2 for UDP", v2(0x21, 0x12, TCP4)],
    ["of version 2 that is too short for its addresses", v2(0x21, 0x21, TCP4)],
  ])("%s is refused", (_, header) => {
    expect(parseProxyHeader(header)).toEqual({ kind: "invalid" });
  });

  test("of any bytes is an address, incomplete or refused, and never waits for more than its limit", () => {
    const start = fc.constantFrom(Buffer.alloc(0), Buffer.from("PROXY "), Buffer.from("PROXY TCP4 "), SIGNATURE);
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 2500 }), (begin, rest) => {
        const bytes = Buffer.concat([begin, rest]);
        const header = parseProxyHeader(bytes);
        expect(header.kind === "incomplete" && bytes.length >= 16 + 2048).toBe(false);
        expect(header.kind === "header" && header.bytes > bytes.length).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });
});
