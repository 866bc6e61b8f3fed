import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { readAcmeState } from "../../src/acme/state.ts";
import { examine } from "../../src/app/doctor/doctor.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { migratedDatabase } from "../support/databases.ts";
import { hasPostgres } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { startPebble, type Pebble } from "../support/pebble.ts";
import { canTestWith, inPath } from "../support/programmes.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const DOMAINS = ["sms.example", "go.sms.example"];
const YEAR_MS = 31_536_000_000;

/** The certificate that a client gets who trusts only the given CA, or the reason why it gets none. */
async function certificateFor(
  server: TestServer,
  servername: string,
  ca: string,
  port = Number(new URL(server.url).port),
): Promise<X509Certificate | string> {
  const socket = connect({ host: "127.0.0.1", port, servername, ca });
  try {
    await once(socket, "secureConnect");
    return socket.getPeerX509Certificate() ?? "none";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "unknown";
  } finally {
    socket.destroy();
  }
}

const serialFor = async (server: TestServer, servername: string, ca: string): Promise<string> => {
  const seen = await eventually(
    () => certificateFor(server, servername, ca),
    (certificate) => certificate instanceof X509Certificate,
  );
  return (seen as X509Certificate).serialNumber;
};

/** Asks for an attempt, and for another after each that fails: on a busy machine the authority's requests can time out. */
async function urgedSerialFor(server: TestServer, servername: string, ca: string): Promise<string> {
  let failures: number | null = null;
  const seen = await eventually(
    async () => {
      const { failure } = await readAcmeState(server.app.store);
      const count = failure?.count ?? 0;
      if (count !== failures) server.app.reloadCertificate();
      failures = count;
      return certificateFor(server, servername, ca);
    },
    (certificate) => certificate instanceof X509Certificate,
  );
  return (seen as X509Certificate).serialNumber;
}

describe.runIf(canTestWith(inPath("pebble"), "pebble"))("a server that obtains its certificate by ACME", () => {
  let redirectPort: number;
  let pebble: Pebble;
  let dataDir: string;
  let closeAll: (() => Promise<void>)[];
  beforeEach(async () => {
    closeAll = [];
    redirectPort = await freePort();
    pebble = await startPebble(redirectPort);
    closeAll.unshift(pebble.stop);
    dataDir = await mkdtemp(join(inject("scratchFolder"), "acme-"));
  });
  afterEach(async () => {
    for (const close of closeAll) await close();
  });

  const envOf = (env: Record<string, string> = {}): Record<string, string> => ({
    HELIOGRAPH_ACME_DOMAINS: DOMAINS.join(","),
    HELIOGRAPH_REDIRECT_PORT: String(redirectPort),
    ...pebble.env,
    ...env,
  });
  const start = async (given: Parameters<typeof startTestServer>[1]): Promise<TestServer> => {
    const server = await startTestServer("sqlite", given);
    closeAll.unshift(() => server.close());
    return server;
  };

  test("serves a trusted certificate for all its names, also to SMPP clients, and still redirects browsers", async () => {
    const env = envOf({ HELIOGRAPH_BASE_URL: "https://sms.example", HELIOGRAPH_SMPP_TLS_PORT: "0" });
    const server = await start({ env, connectionThread: true });
    const root = await pebble.root();
    const serial = await serialFor(server, "sms.example", root);
    expect(await serialFor(server, "go.sms.example", root)).toBe(serial);
    const toClients = await certificateFor(server, "sms.example", root, server.app.smppPorts.tls ?? 0);
    expect((toClients as X509Certificate).serialNumber).toBe(serial);
    expect(await certificateFor(server, "other.example", root)).toBe("ERR_TLS_CERT_ALTNAME_INVALID");
    const plain = `http://127.0.0.1:${redirectPort}`;
    const page = await fetch(`${plain}/docs`, { redirect: "manual" });
    expect([page.status, page.headers.get("location")]).toEqual([308, "https://sms.example/docs"]);
    expect((await fetch(`${plain}/.well-known/acme-challenge/constructor`)).status).toBe(404);
    const stored = (await server.app.store.settled("acme")) ?? "";
    expect(stored).toContain("BEGIN CERTIFICATE");
    expect(stored).not.toContain("PRIVATE");
  });

  test("uses its certificate again after a restart, and renews it in the last third of its life", async () => {
    const env = envOf({ HELIOGRAPH_DATA_DIR: dataDir });
    const first = await start({ env });
    const root = await pebble.root();
    const serial = await serialFor(first, "sms.example", root);
    closeAll.shift();
    await first.app.stop();
    const again = await start({ env });
    // At once, without waiting: there is no moment with a self-signed certificate.
    const reused = await certificateFor(again, "sms.example", root);
    expect((reused as X509Certificate).serialNumber).toBe(serial);
    closeAll.shift();
    await again.app.stop();
    // Pebble's certificates are valid for five years.
    const later = await start({ env, clock: { ...systemClock, now: () => Date.now() + 4 * YEAR_MS } });
    await eventually(
      () => serialFor(later, "sms.example", root),
      (next) => next !== serial,
    );
  });

  test("keeps serving while the authority cannot reach its port, says what to do, and tries again on SIGHUP", async () => {
    const otherPort = await freePort();
    const env = envOf({ HELIOGRAPH_DATA_DIR: dataDir, HELIOGRAPH_REDIRECT_PORT: String(otherPort) });
    const server = await start({ env });
    const { failure } = await eventually(
      () => readAcmeState(server.app.store),
      (state) => state.failure !== null,
    );
    expect(failure?.reason).toMatch(/sms\.example: .*\(connection\)$/);
    expect(failure?.retryAt).toBeGreaterThan(Date.now() + 30_000);
    expect(await certificateFor(server, "sms.example", await pebble.root())).toMatch(/SELF_SIGNED|SIGNATURE|ISSUER/);
    const findings = await examine(env);
    expect(findings.filter(({ check }) => check === "certificate")).toMatchObject([
      { status: "problem", detail: expect.stringContaining("(connection)"), fix: expect.stringContaining("Port 80") },
    ]);
    // The authority's requests arrive now.
    closeAll.shift();
    await server.app.stop();
    const reachable = await start({ env: { ...env, HELIOGRAPH_REDIRECT_PORT: String(redirectPort) } });
    await urgedSerialFor(reachable, "sms.example", await pebble.root());
    const repaired = await examine(env);
    expect(repaired.filter(({ check }) => check === "certificate")).toMatchObject([{ status: "ok" }]);
  });

  test.runIf(hasPostgres)(
    "shares one certificate among the nodes, of which any can be asked by the authority",
    async () => {
      const database = await migratedDatabase(inject("postgresUrl"));
      closeAll.push(() => database.drop());
      const shared = { HELIOGRAPH_DATABASE_URL: database.url, HELIOGRAPH_MASTER_KEY: "the same on every node" };
      const ordering = await start({ env: envOf({ ...shared, HELIOGRAPH_REDIRECT_PORT: String(await freePort()) }) });
      // The authority reaches no node. The next one that starts does not try again at once.
      await eventually(
        () => readAcmeState(ordering.app.store),
        (state) => state.failure !== null,
      );
      const asked = await start({ env: envOf(shared) });
      const root = await pebble.root();
      const serial = await urgedSerialFor(ordering, "sms.example", root);
      asked.app.reloadCertificate();
      expect(await serialFor(asked, "sms.example", root)).toBe(serial);
    },
  );

  test("is not started with settings that cannot work", async () => {
    await expect(start({ env: envOf({ HELIOGRAPH_REDIRECT_PORT: "" }) })).rejects.toThrow("HELIOGRAPH_REDIRECT_PORT");
    await expect(start({ env: envOf({ HELIOGRAPH_TLS_CERT_FILE: "/x.pem" }) })).rejects.toThrow("exclude each other");
    await expect(start({ env: envOf({ HELIOGRAPH_BASE_URL: "http://sms.example" }) })).rejects.toThrow("https:");
    await expect(start({ env: envOf({ HELIOGRAPH_ACME_CA_FILE: "/nowhere.pem" }) })).rejects.toThrow("/nowhere.pem");
    for (const name of ["*.sms.example", "192.0.2.1", "sms_example", "a..b", ""])
      await expect(start({ env: envOf({ HELIOGRAPH_ACME_DOMAINS: `${name},` }) })).rejects.toThrow(
        "HELIOGRAPH_ACME_DOMAINS must be",
      );
  });
});
