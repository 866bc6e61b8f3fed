import { execFile } from "node:child_process";
import { chmodSync, readdirSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { examine } from "../../src/app/doctor/doctor.ts";
import type { Finding } from "../../src/app/doctor/finding.ts";
import { checkDescriptors } from "../../src/app/doctor/check-machine.ts";
import type { CatalogRecord } from "../../src/model/catalog.ts";
import { issueCertificates } from "../support/certificates.ts";
import { ENGINES, hasPostgres } from "../support/engines.ts";
import { freePort } from "../support/free-port.ts";
import { openSink } from "../support/sink.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const scratch = (): Promise<string> => mkdtemp(join(inject("scratchFolder"), "doctor-"));

const doctor = (env: Record<string, string>, ...args: string[]): Promise<{ code: number; stdout: string }> =>
  new Promise((resolve) => {
    const command = join(import.meta.dirname, "../../src/cli/heliograph.ts");
    execFile(process.execPath, [command, "doctor", ...args], { env: { ...process.env, ...env } }, (error, stdout) =>
      resolve({ code: error ? Number(error.code) : 0, stdout }),
    );
  });

const of = (findings: readonly Finding[], check: string): Finding[] =>
  findings.filter((finding) => finding.check === check);

const lineOf = ({ check, status, detail }: Finding): string => `${status} ${check}: ${detail}`;

describe("heliograph doctor", () => {
  test("reports every invalid setting without its value, what to do, and ends with exit code 1", async () => {
    const { code, stdout } = await doctor({
      HELIOGRAPH_MASTER_KEY: "tooshort-secret",
      HELIOGRAPH_PORT: "none",
      HELIOGRAPH_PROT: "80",
    });
    expect(code).toBe(1);
    expect(stdout).toContain("problem  settings          HELIOGRAPH_PORT must be a whole number from 0 to 65535");
    expect(stdout).toContain("problem  settings          HELIOGRAPH_MASTER_KEY must be at least 16 characters");
    expect(stdout).toContain("warning  settings          HELIOGRAPH_PROT is unknown and ignored");
    expect(stdout).toContain("→ Correct or remove it");
    expect(stdout).not.toContain("tooshort");
  });

  test("prints JSON with --json, creates nothing before the first start, and ends with exit code 0", async () => {
    const folder = join(await scratch(), "data");
    const { code, stdout } = await doctor({ HELIOGRAPH_DATA_DIR: folder }, "--json");
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    expect(code).toBe(0);
    expect(findings).toContainEqual({
      check: "data directory",
      status: "ok",
      detail: `${folder} does not exist; the first start creates it`,
      fix: null,
    });
    expect(readdirSync(join(folder, ".."))).toEqual([]);
  });

  test("names a data directory that is a file, and files that other users can read", async () => {
    const folder = await scratch();
    writeFileSync(join(folder, "file"), "");
    const file = await examine({ HELIOGRAPH_DATA_DIR: join(folder, "file") });
    expect(of(file, "data directory")).toMatchObject([
      { status: "problem", detail: expect.stringContaining("no directory") },
    ]);
    writeFileSync(join(folder, "master.key"), "a".repeat(40));
    chmodSync(join(folder, "master.key"), 0o644);
    const open = await examine({ HELIOGRAPH_DATA_DIR: folder });
    expect(of(open, "data directory")).toMatchObject([
      { status: "warning", detail: expect.stringContaining("master.key") },
    ]);
  });

  test("checks the certificates and keys of the server and of its SMPP port", async () => {
    const folder = await scratch();
    const { cert, key } = issueCertificates();
    const env = {
      HELIOGRAPH_DATA_DIR: folder,
      HELIOGRAPH_TLS_CERT_FILE: join(folder, "cert.pem"),
      HELIOGRAPH_TLS_KEY_FILE: join(folder, "key.pem"),
      HELIOGRAPH_SMPP_TLS_CERT_FILE: join(folder, "cert.pem"),
      HELIOGRAPH_SMPP_TLS_KEY_FILE: join(folder, "no-key.pem"),
    };
    writeFileSync(env.HELIOGRAPH_TLS_CERT_FILE, cert);
    writeFileSync(env.HELIOGRAPH_TLS_KEY_FILE, key);
    const findings = await examine(env);
    expect(of(findings, "certificate")).toMatchObject([
      { status: "warning", detail: expect.stringMatching(/valid for \d more days$/) },
    ]);
    expect(of(findings, "SMPP certificate")).toMatchObject([
      { status: "problem", detail: expect.stringContaining("no-key.pem cannot be read") },
    ]);
    writeFileSync(env.HELIOGRAPH_TLS_KEY_FILE, issueCertificates().key);
    expect(of(await examine(env), "certificate")).toMatchObject([
      { status: "problem", detail: expect.stringContaining("is not the key") },
    ]);
  });

  test("names a public URL whose name does not resolve", async () => {
    const findings = await examine({
      HELIOGRAPH_DATA_DIR: join(await scratch(), "data"),
      HELIOGRAPH_BASE_URL: "https://no-such-host.invalid/path",
    });
    expect(of(findings, "public URL")).toMatchObject([
      { status: "problem", detail: expect.stringContaining("no-such-host.invalid") },
    ]);
  });

  test.each([
    [500, "problem"],
    [4096, "warning"],
    [65_536, "ok"],
  ])("rates a limit of %d file descriptors as %s", (limit, status) => {
    expect(checkDescriptors(limit).status).toBe(status);
  });

  test("names each server of the database URL when none of them can be used", async () => {
    const ports = [await freePort(), await freePort()];
    const findings = await examine({
      HELIOGRAPH_DATA_DIR: await scratch(),
      HELIOGRAPH_DATABASE_URL: `postgres://someone@${ports.map((port) => `127.0.0.1:${port}`).join(",")}/heliograph`,
    });
    expect(of(findings, "database")).toMatchObject(
      ports.map((port) => ({ status: "problem", detail: expect.stringContaining(`127.0.0.1:${port}/heliograph`) })),
    );
  });

  test.runIf(hasPostgres)("says that the database cannot be reached, without its password", async () => {
    const port = await freePort();
    const findings = await examine({
      HELIOGRAPH_DATA_DIR: await scratch(),
      HELIOGRAPH_DATABASE_URL: `postgresql://someone:secret-word@127.0.0.1:${port}/heliograph`,
    });
    expect(of(findings, "database")).toMatchObject([
      { status: "problem", detail: expect.stringContaining(`127.0.0.1:${port}/heliograph`) },
    ]);
    expect(JSON.stringify(findings)).not.toContain("secret-word");
  });
});

/** Lines that only one engine has. */
const LINES = {
  sqlite: [new RegExp(`^ok server: process ${process.pid} runs`)],
  postgres: [/^\w+ clock: \d+\.\d s (behind|ahead)/, /^ok database connections: 1 × 16 needed/],
};

describe.each(ENGINES)("heliograph doctor beside a server on %s", (engine) => {
  let server: TestServer;
  let env: Record<string, string>;
  beforeAll(async () => {
    server = await startTestServer(engine);
    env = server.env;
  });
  afterAll(() => server.close());

  const execute = async (statement: string): Promise<void> => {
    if (engine === "sqlite") {
      const db = new DatabaseSync(join(env["HELIOGRAPH_DATA_DIR"] ?? "", "heliograph.db"), { timeout: 10_000 });
      db.exec(statement);
      db.close();
      return;
    }
    const client = new Client({ connectionString: env["HELIOGRAPH_DATABASE_URL"] });
    await client.connect();
    await client.query(statement);
    await client.end();
  };

  test("finds no problem, leaves no file, and shows no secret", async () => {
    const dataDir = env["HELIOGRAPH_DATA_DIR"] ?? "";
    const before = readdirSync(dataDir);
    const findings = await examine(env);
    expect(findings.filter(({ status }) => status === "problem").map(lineOf)).toEqual([]);
    expect(readdirSync(dataDir)).toEqual(before);
    expect(of(findings, "schema")).toMatchObject([{ status: "ok", detail: "up to date" }]);
    expect(of(findings, "commit")).toHaveLength(1);
    expect(of(findings, "nodes")).toMatchObject([{ detail: expect.stringMatching(/^1 joined/) }]);
    expect(of(findings, "master key")).toMatchObject([{ status: "ok", detail: "is that of the database" }]);
    for (const line of LINES[engine]) expect(findings.map(lineOf)).toContainEqual(expect.stringMatching(line));
    for (const secret of [server.key, server.testKey, "password of the owner"])
      expect(JSON.stringify(findings)).not.toContain(secret);
    expect((await server.send()).status).toBe(200);
  });

  test("counts pending migrations and applies none", async () => {
    await execute("delete from migrations where name = '0032-search-zones'");
    const expected = [{ status: "warning", detail: expect.stringMatching(/^\d+ migrations? pending$/) }];
    try {
      expect(of(await examine(env), "schema")).toMatchObject(expected);
      expect(of(await examine(env), "schema")).toMatchObject(expected);
    } finally {
      await execute("insert into migrations (name) values ('0032-search-zones')");
    }
  });

  test("refuses a database of a newer release", async () => {
    await execute("insert into migrations (name) values ('9999-future')");
    try {
      expect(of(await examine(env), "schema")).toMatchObject([
        { status: "problem", detail: expect.stringContaining("9999-future") },
      ]);
    } finally {
      await execute("delete from migrations where name = '9999-future'");
    }
  });

  test("names a master key that is not the database's", async () => {
    const findings = await examine({ ...env, HELIOGRAPH_MASTER_KEY: "another key, and a long one" });
    expect(of(findings, "master key")).toMatchObject([
      { status: "problem", detail: expect.stringContaining("another master key") },
    ]);
    expect(JSON.stringify(findings)).not.toContain("a long one");
  });

  test("tries the hosts of webhooks and carriers by the egress rules, and names endpoints that failures switched off", async () => {
    const sink = await openSink();
    const closed = await freePort();
    const make = async (name: string, url: string): Promise<void> => {
      const body = { name, url, channel: "rcs", events: ["user_message"] };
      expect((await server.request("POST", "/api/webhooks", body)).status).toBe(201);
    };
    await make("up", `${sink.url}/hook?token=in-the-url`);
    await make("down", `http://127.0.0.1:${closed}/hook`);
    await make("off", `${sink.url}/off`);
    const smpp = { host: "127.0.0.1", port: closed, systemId: "id", password: "smpp-secret" };
    const carrier = { name: "operator", adapter: "smpp", smpp };
    expect((await server.request("POST", "/api/carriers", carrier)).status).toBe(201);
    const { store } = server.app;
    const off = (await store.listCatalog()).find(({ name }) => name === "off") as CatalogRecord<"webhook">;
    const content = { ...off.content, enabled: false, disabledReason: "410\ngone" };
    await store.changeCatalogRecord({ ...off, content }, await store.revision("catalog"));

    const findings = await examine(env);
    const lines = of(findings, "egress").map(lineOf);
    expect(lines).toContainEqual(
      expect.stringMatching(new RegExp(`^ok egress: ${new URL(sink.url).host} \\(webhook of account 1\\): TCP`)),
    );
    expect(lines).toContainEqual(
      expect.stringMatching(new RegExp(`^warning egress: 127.0.0.1:${closed} .*ECONNREFUSED`)),
    );
    expect(of(findings, "webhooks")).toMatchObject([
      { status: "warning", detail: expect.stringContaining('webhook "off" of account 1 is switched off: 410') },
    ]);
    expect(JSON.stringify(findings)).not.toMatch(/in-the-url|smpp-secret/);

    const guarded = await examine({ ...env, HELIOGRAPH_EGRESS_ALLOW: "10.0.0.0/8", HELIOGRAPH_TRUST_PROXY: "true" });
    expect(of(guarded, "egress").map(({ status, fix }) => [status, fix])).toEqual(
      of(guarded, "egress").map(() => ["warning", expect.stringContaining("HELIOGRAPH_EGRESS_ALLOW")]),
    );
    await sink.close();
  });
});
