import { BlockList } from "node:net";
import { beforeEach, expect, test } from "vitest";
import type { Credential } from "../../src/accounts/secret-index.ts";
import { BindAuthenticator, mayStayBound } from "../../src/facades/smpp/authenticate-bind.ts";
import { createLog } from "../../src/lib/log.ts";
import type { AuditEntry } from "../../src/model/audit.ts";
import type { StoredCredential } from "../../src/model/credential.ts";
import { STATUS } from "../../src/smpp/status.ts";
import { MovedClock } from "../support/moved-clock.ts";

const PASSWORD = "right";
let clock: MovedClock;
let audited: AuditEntry[];
let credential: Credential<StoredCredential>;
let authenticator: BindAuthenticator;
let reads: number;
/** The password in the store; memory has it after a read. */
let stored: string;
let known: string;

beforeEach(() => {
  clock = new MovedClock();
  audited = [];
  reads = 0;
  stored = known = PASSWORD;
  credential = {
    key: { id: "c1", username: "smppone", mode: "live", scopes: ["sms"], settings: {} },
    account: { id: 1, suspended: false },
    networks: null,
  } as unknown as Credential<StoredCredential>;
  authenticator = new BindAuthenticator({
    clock,
    log: createLog("silent"),
    store: { writeAudit: async (entry) => void audited.push(entry), listAudit: async () => ({ rows: [], next: null }) },
    keyring: {
      findSystemId: (systemId) => (systemId === "smppone" ? credential : null),
      findLogin: (_, systemId, password) => (systemId === "smppone" && password === known ? credential : null),
      refreshShared: async () => {
        reads += 1;
        known = stored;
      },
    },
  });
});

const PLAIN = { secure: false, hasCertificate: false };
const bind = (address: string, password = PASSWORD, systemId = "smppone") =>
  authenticator.authenticate({ systemId, password }, { address, ...PLAIN });
const statusOf = (result: ReturnType<typeof bind>): number => ("status" in result ? result.status : 0);
/** Guesses from many addresses, each within its own limit. */
const guess = (systemId = "smppone"): void => {
  for (let n = 0; n < 50; n += 1) bind(`198.51.100.${n}`, "wrong", systemId);
};

const bindFresh = (address: string, password = PASSWORD) =>
  authenticator.authenticateFresh({ systemId: "smppone", password }, { address, ...PLAIN });

test("a password that another node has just stored binds", async () => {
  stored = "new";
  expect(statusOf(await bindFresh("198.51.100.7", "new"))).toBe(0);
  expect(statusOf(await bindFresh("198.51.100.7", "wrong"))).toBe(STATUS.ESME_RINVPASWD);
});

test("a bind that is refused unseen reads no store, with a wrong password and with the right one", async () => {
  for (let tries = 0; tries < 20; tries += 1) bind("198.51.100.7", "wrong");
  for (const password of ["wrong", PASSWORD])
    expect(statusOf(await bindFresh("198.51.100.7", password))).toBe(STATUS.ESME_RBINDFAIL);
  expect(reads).toBe(0);
});

test("binds at once get no more guesses than binds in turn", async () => {
  const guesses = [...Array.from({ length: 20 }, () => "wrong"), PASSWORD];
  const results = await Promise.all(guesses.map((password) => bindFresh("198.51.100.7", password)));
  expect(results.map(statusOf).at(-1)).toBe(STATUS.ESME_RBINDFAIL);
});

test("an address with too many failed binds is refused unseen, until the next minute", () => {
  for (let tries = 0; tries < 20; tries += 1) expect(statusOf(bind("198.51.100.7", "wrong"))).toBe(0x0e);
  expect(statusOf(bind("198.51.100.7"))).toBe(STATUS.ESME_RBINDFAIL);
  expect(statusOf(bind("198.51.100.8"))).toBe(0);
  clock.advance(60_000);
  expect(statusOf(bind("198.51.100.7"))).toBe(0);
});

test("a system id that is guessed from many addresses is refused unseen from addresses that it has not bound from", () => {
  guess();
  expect(bind("203.0.113.9")).toMatchObject({
    status: STATUS.ESME_RBINDFAIL,
    reason: expect.stringContaining("system id"),
  });
  clock.advance(60_000);
  expect(statusOf(bind("203.0.113.9"))).toBe(0);
});

test("guesses do not lock a client out of an address that it has bound from in the last week", () => {
  expect(statusOf(bind("203.0.113.9"))).toBe(0);
  guess();
  expect(statusOf(bind("203.0.113.9"))).toBe(0);
  clock.advance(8 * 86_400_000);
  guess();
  expect(statusOf(bind("203.0.113.9"))).toBe(STATUS.ESME_RBINDFAIL);
});

test("guesses do not lock a client out of a network that its credential names", () => {
  const networks = new BlockList();
  networks.addSubnet("203.0.113.0", 24, "ipv4");
  credential = { ...credential, networks };
  guess();
  expect(statusOf(bind("::ffff:203.0.113.9"))).toBe(0);
  expect(bind("198.51.100.200")).toMatchObject({ reason: "too many failed binds of this system id" });
});

test("unknown system ids are locked alike, so that a lockout reveals none", () => {
  guess("nothere");
  expect(statusOf(bind("203.0.113.9", "x", "nothere"))).toBe(STATUS.ESME_RBINDFAIL);
  expect(statusOf(bind("203.0.113.9"))).toBe(0);
});

test("a flood of invented system ids does not reset the count of a real one", () => {
  guess();
  for (let n = 0; n < 11_000; n += 1) bind(`10.${n >> 12}.${(n >> 4) & 0xff}.${n & 0xf}`, "x", `id${n}`);
  expect(statusOf(bind("203.0.113.9"))).toBe(STATUS.ESME_RBINDFAIL);
});

test("the audit log has one entry for many failed binds, and one for the lockout", () => {
  guess();
  bind("203.0.113.9");
  bind("203.0.113.10");
  bind("203.0.113.11", "x", "nothere");
  expect(audited.map(({ action, recordName, address }) => [action, recordName, address])).toEqual([
    ["bind failed", "smppone", "198.51.100.0"],
    ["bind locked", "smppone", "203.0.113.9"],
  ]);
  expect(JSON.stringify(audited)).not.toContain("wrong");
  clock.advance(300_000);
  bind("198.51.100.7", "wrong");
  expect(audited).toHaveLength(3);
});

test("a system id of a suspended account is refused", () => {
  credential = { ...credential, account: { ...credential.account, suspended: true } };
  expect(bind("203.0.113.9")).toEqual({ status: STATUS.ESME_RBINDFAIL, reason: "account suspended" });
});

test("a system id that requires a client certificate is refused without one, and loses its open binds without one", () => {
  credential = { ...credential, key: { ...credential.key, settings: { requireClientCertificate: true } } };
  const withTls = { address: "203.0.113.9", secure: true };
  const login = { systemId: "smppone", password: PASSWORD };
  for (const hasCertificate of [false, true]) {
    const peer = { ...withTls, hasCertificate };
    expect("client" in authenticator.authenticate(login, peer)).toBe(hasCertificate);
    expect(mayStayBound(credential, peer)).toBe(hasCertificate);
  }
});
