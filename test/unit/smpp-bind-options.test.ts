import { expect, test } from "vitest";
import { bindOptionsOf } from "../../src/carriers/smpp/bind-options.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { SMPP_DEFAULTS } from "../../src/model/smpp-connection.ts";

const servernameFor = (host: string, servername: string | null = null): string | undefined =>
  bindOptionsOf(
    {
      settings: { ...SMPP_DEFAULTS, host, systemId: "esme", tls: { ca: null, servername, cert: null } },
      secrets: { password: "secret", tlsKey: null },
      clock: systemClock,
    },
    "bind_transceiver",
    "192.0.2.7",
  ).tls?.servername;

test("TLS sends the carrier's host name as server name, and none for an IP address", () => {
  expect(servernameFor("smpp.example.com")).toBe("smpp.example.com");
  expect(servernameFor("192.0.2.7", "smpp.example.com")).toBe("smpp.example.com");
  for (const address of ["192.0.2.7", "2001:db8::7"]) expect(servernameFor(address)).toBe("");
});
