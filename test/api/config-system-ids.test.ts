import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { SCOPES } from "../../src/model/api-key.ts";
import { STATUS } from "../../src/smpp/status.ts";
import type { BindResult } from "../../src/smpp/client.ts";
import { openTenants, type Tenants } from "../fuzz/tenants.ts";
import { ENGINES } from "../support/engines.ts";
import { COMMAND_LINE } from "../support/entries.ts";
import { eventually } from "../support/eventually.ts";
import { idIn, phone, SmppTestClients, statOf } from "../support/smpp-client.ts";
import type { Answer, ErrorBody } from "../support/test-server.ts";

interface Plan {
  applied: boolean;
  made: { part: string; name: string }[];
  changed: { part: string; name: string; fields: { field: string; from: unknown; to: unknown }[] }[];
  removed: { part: string; name: string }[];
  same: { part: string; name: string }[];
  error: ErrorBody;
}
interface Stored {
  id: string;
  kind: string;
  username: string;
  mode: string;
  revokedAt: number | null;
  maxBinds: number;
}

const PASSWORD = "Xk29vQ7m";
const PART = "system-ids";

/** A system id with nothing left to a default. */
const FULL = {
  name: "A reseller",
  mode: "live",
  scopes: ["sms"],
  allowedIps: ["127.0.0.0/8"],
  expiresAt: 4_102_444_800_000,
  window: 7,
  maxBinds: 2,
  messagesPerSecond: 500,
  senders: ["ACME"],
  defaultType: "OTP",
  alphabet: "latin1",
  validitySeconds: 600,
  messageIdForm: "decimal",
  receiptForm: "text",
  receiptWords: { delivered: "OK" },
  receiptErrors: { NO_ROUTE: "068" },
  receiptTlvs: ["message_state"],
  intermediateReceipts: false,
  longMessages: "sar",
  features: ["query"],
  requireTls: false,
  requireClientCertificate: false,
};

describe.each(ENGINES)("system ids in the configuration file on %s", (engine) => {
  let tenants: Tenants;
  let clients: SmppTestClients;
  let folder: string;
  let count = 0;

  beforeAll(async () => {
    tenants = await openTenants(engine, undefined, { env: { HELIOGRAPH_SMPP_PORT: "0" } });
    clients = new SmppTestClients(tenants.server);
    folder = await mkdtemp(join(tmpdir(), "heliograph-system-ids-"));
  });
  afterEach(() => clients.closeAll());
  afterAll(async () => {
    await tenants.close();
    await rm(folder, { recursive: true, force: true });
  });

  const newSystemId = (): string => {
    count += 1;
    return `${engine.slice(0, 6)}-${count}`;
  };
  const apply = (list: unknown, headers?: Record<string, string>): Promise<Answer<Plan>> =>
    tenants.server.request<Plan>("PUT", "/api/config", { [PART]: list }, headers);
  const exported = async (): Promise<Record<string, unknown>[]> =>
    (await tenants.server.request<Record<string, never[]>>("GET", "/api/config")).body[PART] ?? [];
  const stored = async (systemId: string): Promise<Stored[]> => {
    const { body } = await tenants.server.request<{ data: Stored[] }>("GET", "/api/credentials");
    return body.data.filter(({ username }) => username === systemId);
  };
  const bind = async (username: string, password = PASSWORD): Promise<BindResult> =>
    (await clients.tryBind({ username, password })).result;

  test("a system id of the file binds with its password, sends and gets receipts in its format", async () => {
    const systemId = newSystemId();
    const { status, body } = await apply([{ systemId, password: PASSWORD, ...FULL }]);
    expect([status, body.made]).toEqual([200, [{ part: PART, name: systemId }]]);
    expect(await stored(systemId)).toMatchObject([{ kind: "smpp", ...FULL }]);
    const client = await clients.connect({ id: "", username: systemId, password: PASSWORD });
    const { status: answer, messageId } = await client.submit({ destination: phone("15550100900"), source: { ton: 5, npi: 0, address: "ACME" } }); // prettier-ignore
    expect(answer).toBe(STATUS.ESME_ROK);
    expect(messageId).toMatch(/^[0-9]+$/);
    await eventually(
      () => client.received.map((pdu) => [idIn(pdu), statOf(pdu), pdu.tlvs.length]),
      (seen) => seen.length > 0,
    );
    expect(client.received.map((pdu) => [idIn(pdu), statOf(pdu), pdu.tlvs.length])).toEqual([[messageId, "OK", 0]]);
  });

  test("a system id of the file has the defaults of a credential, and its system id as its name", async () => {
    const systemId = newSystemId();
    await apply([{ systemId, password: PASSWORD }]);
    const created = await clients.create();
    const [inFile] = await stored(systemId);
    const { body } = await tenants.server.request<Stored>("GET", `/api/credentials/${created.id}`);
    const own = { id: "", username: "", name: "", createdAt: 0 };
    expect({ ...inFile, ...own }).toEqual({ ...body, ...own });
    expect(inFile).toMatchObject({ name: systemId });
  });

  test("an exported file has no password, and applying it again changes nothing", async () => {
    const systemId = newSystemId();
    await apply([{ systemId, password: PASSWORD, ...FULL }]);
    const file = await exported();
    expect(file).toEqual([{ systemId, ...FULL }]);
    expect(JSON.stringify(file)).not.toContain(PASSWORD);
    const again = await apply(file);
    expect(again.body).toMatchObject({ made: [], changed: [], removed: [], same: [{ part: PART, name: systemId }] });
    const withPassword = await apply([{ ...file[0], password: PASSWORD }]);
    expect(withPassword.body).toMatchObject({ changed: [], same: [{ name: systemId }] });
    expect((await bind(systemId)).kind).toBe("bound");
  });

  test("a credential that the API created can be changed by the file, and the file by the API", async () => {
    await apply([]);
    const created = await clients.create({ maxBinds: 3 });
    const [file] = await exported();
    expect(file).toMatchObject({ systemId: created.username, maxBinds: 3 });
    const { body } = await apply([{ ...file, maxBinds: 5 }]);
    expect(body.changed).toEqual([
      { part: PART, name: created.username, fields: [{ field: "maxBinds", from: 3, to: 5 }] },
    ]);
    expect((await bind(created.username, created.password)).kind).toBe("bound");
    await tenants.server.request("PATCH", `/api/credentials/${created.id}`, { maxBinds: 6 });
    expect(await exported()).toMatchObject([{ maxBinds: 6 }]);
  });

  test("a new password is shown as a change without its value, and replaces the old one", async () => {
    const systemId = newSystemId();
    await apply([{ systemId, password: PASSWORD }]);
    const { body } = await apply([{ systemId, password: "another8" }]);
    expect(body.changed).toEqual([
      { part: PART, name: systemId, fields: [{ field: "password", from: "***", to: "***" }] },
    ]);
    expect((await bind(systemId)).kind).toBe("refused");
    expect((await bind(systemId, "another8")).kind).toBe("bound");
  });

  test("a system id missing from the file is revoked and its binds end; it comes back with a new password only", async () => {
    const systemId = newSystemId();
    await apply([{ systemId, password: PASSWORD }]);
    const client = await clients.connect({ id: "", username: systemId, password: PASSWORD });
    expect((await apply([])).body.removed).toContainEqual({ part: PART, name: systemId });
    await client.session.closed;
    expect((await bind(systemId)).kind).toBe("refused");
    expect(await exported()).toEqual([]);
    const without = await apply([{ systemId }]);
    expect([without.status, without.body.error.details]).toEqual([
      400,
      [
        {
          parameter: `${PART}[0].password`,
          message: "password is required for a new or revoked system id.",
        },
      ],
    ]);
    const [before] = await stored(systemId);
    expect((await apply([{ systemId, password: "another8" }])).body.made).toEqual([{ part: PART, name: systemId }]);
    expect((await bind(systemId)).kind).toBe("refused");
    expect((await bind(systemId, "another8")).kind).toBe("bound");
    // It is the same credential: receipts that wait for it still find it.
    expect(await stored(systemId)).toMatchObject([{ id: before?.id, revokedAt: null }]);
  });

  test("the faults of a system id name its position and field, and nothing is changed", async () => {
    const kept = newSystemId();
    await apply([{ systemId: kept, password: PASSWORD, mode: "test" }]);
    const before = await exported();
    const wrong: [entry: unknown, field: string, message: RegExp][] = [
      ["x", "", /must be a JSON object/],
      [{}, ".systemId", /required/],
      [{ systemId: "sixteen-letters-", password: PASSWORD }, ".systemId", /1 to 15 printable ASCII/],
      [{ systemId: "a b", password: PASSWORD }, ".systemId", /1 to 15 printable ASCII/],
      [{ systemId: "é", password: PASSWORD }, ".systemId", /1 to 15 printable ASCII/],
      [{ systemId: "new-1", password: "short" }, ".password", /6 to 64 printable ASCII/],
      [{ systemId: "new-2", password: "pass word" }, ".password", /6 to 64 printable ASCII/],
      [{ systemId: "new-3" }, ".password", /required for a new or revoked system id/],
      [{ systemId: "new-4", password: { $env: "SMPP_PASSWORD" } }, ".password", /Only the command line reads references/],
      [{ systemId: "new-5", password: PASSWORD, allowedIps: ["10.0.0.0/33"] }, ".allowedIps[0]", /IP address or a network/],
      [{ systemId: "new-6", password: PASSWORD, maxBinds: 0 }, ".maxBinds", /1/],
      [{ systemId: "new-7", password: PASSWORD, window: "10" }, ".window", /whole number/],
      [{ systemId: "new-8", password: PASSWORD, messagesPerSecond: 0 }, ".messagesPerSecond", /1/],
      [{ systemId: "new-9", password: PASSWORD, receiptWords: { lost: "LOST" } }, ".receiptWords", /receiptWords has words/],
      [{ systemId: "new-10", password: PASSWORD, receiptErrors: { A: "" } }, ".receiptErrors", /receiptErrors has/],
      [{ systemId: "new-11", password: PASSWORD, receiptForm: "xml" }, ".receiptForm", /both/],
      [{ systemId: "new-12", password: PASSWORD, features: ["voice"] }, ".features[0]", /inbound/],
      [{ systemId: "new-13", password: PASSWORD, scopes: ["manage"] }, ".scopes[0]", /sms/],
      [{ systemId: "new-14", password: PASSWORD, expiresAt: 1 }, ".expiresAt", /future/],
      [{ systemId: "new-15", password: PASSWORD, maxBind: 2 }, ".maxBind", /no such field/],
      [{ systemId: kept, mode: "live" }, ".mode", /is test and cannot be changed/],
      [{ systemId: "one", password: PASSWORD }, "", /^$/],
      [{ systemId: "one", password: PASSWORD }, ".systemId", /already has this system id/],
    ]; // prettier-ignore
    const faulty = wrong.filter(([, , message]) => message.source !== "^$");
    // Twenty faults at most are reported at once.
    for (const half of [wrong.slice(0, 12), wrong.slice(12)]) {
      const answer = await apply(half.map(([entry]) => entry));
      expect([answer.status, answer.body.error.code]).toEqual([400, "INVALID_REQUEST"]);
      const expected = half.flatMap(([, field, message], index) =>
        message.source === "^$" ? [] : [[`${PART}[${index}]${field}`, message] as const],
      );
      const { details } = answer.body.error;
      expect(details.map(({ parameter }) => parameter)).toEqual(expected.map(([parameter]) => parameter));
      for (const [index, [, message]] of expected.entries()) expect(details[index]?.message).toMatch(message);
    }
    expect(faulty.length).toBeGreaterThan(20);
    expect((await apply({})).body.error.details).toMatchObject([{ parameter: PART }]);
    expect(await exported()).toEqual(before);
  });

  test("a system id of another account is refused and stays with its account", async () => {
    const systemId = newSystemId();
    await apply([{ systemId, password: PASSWORD }]);
    const { minted } = await tenants.addAccount(`intruder-${count}`);
    const intruder = { apikey: minted.secret };
    const { status, body } = await apply([{ systemId, password: "intruder" }], intruder);
    expect([status, body.error.details]).toEqual([
      400,
      [
        {
          parameter: `${PART}[0].systemId`,
          message: "This system id is in use on this server: choose another one.",
        },
      ],
    ]);
    expect((await apply([], intruder)).body.removed).toEqual([]);
    const { body: file } = await tenants.server.request<Record<string, unknown>>("GET", "/api/config", undefined, intruder); // prettier-ignore
    expect(file[PART]).toEqual([]);
    expect((await bind(systemId, "intruder")).kind).toBe("refused");
    expect((await bind(systemId)).kind).toBe("bound");
  });

  test("a key cannot give a system id more than it has itself", async () => {
    const systemId = newSystemId();
    const entry = { systemId, password: PASSWORD };
    const manager = await tenants.addKey(1, { scopes: ["manage"] });
    const scopeless = await apply([entry], { apikey: manager.secret });
    expect([scopeless.status, scopeless.body.error.code]).toEqual([403, "INSUFFICIENT_SCOPE"]);
    const limited = await tenants.addKey(1, { scopes: SCOPES, allowedIps: ["192.0.2.0/24"] });
    const from = { apikey: limited.secret, "x-forwarded-for": "192.0.2.9" };
    const wider = await apply([entry], from);
    expect([wider.status, wider.body.error.code]).toEqual([403, "INSUFFICIENT_SCOPE"]);
    expect(await stored(systemId)).toEqual([]);
    expect((await apply([{ ...entry, allowedIps: ["192.0.2.7"] }], from)).status).toBe(200);
    // It may not widen what another key has narrowed either, but may leave it as it is.
    expect((await apply([{ systemId, allowedIps: ["192.0.2.0/28"] }], from)).body.error.code).toBe(
      "INSUFFICIENT_SCOPE",
    );
    expect((await apply([{ systemId, allowedIps: ["192.0.2.7"], maxBinds: 1 }], from)).status).toBe(200);
    await apply([]);
  });

  test("a key cannot give a new password to a system id that may do more than the key", async () => {
    const systemId = newSystemId();
    await apply([{ systemId, password: PASSWORD }]);
    const manager = await tenants.addKey(1, { scopes: ["manage"] });
    const limited = await tenants.addKey(1, { scopes: SCOPES, allowedIps: ["192.0.2.0/24"] });
    const expiring = await tenants.addKey(1, { scopes: SCOPES, expiresAt: Date.now() + 3_600_000 });
    const from = "192.0.2.9";
    for (const { secret } of [manager, limited, expiring]) {
      const headers = { apikey: secret, "x-forwarded-for": from };
      const { status, body } = await apply([{ systemId, password: "another8" }], headers);
      expect([status, body.error.code]).toEqual([403, "INSUFFICIENT_SCOPE"]);
      // Its own password, and other fields, are no way to use it.
      expect((await apply([{ systemId, password: PASSWORD, window: 3 }], headers)).status).toBe(200);
      await apply([{ systemId }]);
    }
    expect((await bind(systemId, "another8")).kind).toBe("refused");
    expect((await bind(systemId)).kind).toBe("bound");
    await apply([]);
  });

  interface Outcome {
    code: number;
    output: string;
  }
  const heliograph = (args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> =>
    new Promise((resolve) => {
      const options = { env: { ...tenants.server.env, ...env } };
      execFile(process.execPath, [COMMAND_LINE, ...args], options, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code) : 0, output: stdout + stderr }),
      );
    });

  test("the command line reads passwords from the environment and from files, and prints none", async () => {
    const [fromEnvironment, fromFile] = [newSystemId(), newSystemId()];
    const path = join(folder, "config.json");
    await writeFile(join(folder, "password"), "fromFile1\n");
    await writeFile(
      path,
      JSON.stringify({
        [PART]: [
          { systemId: fromEnvironment, password: { $env: "RESELLER_PASSWORD" } },
          { systemId: fromFile, password: { $file: "password" } },
        ],
      }),
    );
    const unset = await heliograph(["config", "apply", path, "--yes"]);
    expect(unset.code).toBe(2);
    expect(unset.output).toContain(`${PART}[0].password: The environment variable RESELLER_PASSWORD is not set.`);
    expect(await stored(fromFile)).toEqual([]);

    const applied = await heliograph(["config", "apply", path, "--yes"], { RESELLER_PASSWORD: PASSWORD });
    expect([applied.code, applied.output]).toEqual([0, expect.stringContaining("Applied.")]);
    expect(applied.output).not.toMatch(/Xk29vQ7m|fromFile1/);
    expect((await bind(fromEnvironment)).kind).toBe("bound");
    expect((await bind(fromFile, "fromFile1")).kind).toBe("bound");

    await rm(join(folder, "password"));
    const missing = await heliograph(["config", "plan", path], { RESELLER_PASSWORD: PASSWORD });
    expect([missing.code, missing.output]).toEqual([
      2,
      expect.stringContaining(`${PART}[1].password: The file password cannot be read: ENOENT.`),
    ]);
  });
});
