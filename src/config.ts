import { resolve } from "node:path";
import { readNetworks } from "./lib/network.ts";

/** A setting that cannot be used; its message names the setting and what it needs. */
export class BadSetting extends Error {
  override name = "BadSetting";
}

interface Setting<T> {
  /** The environment variable, without its prefix. */
  name: string;
  /** As written in the environment; null when there is none. */
  default: string | null;
  meaning: string;
  /** What a value must look like, in words. */
  check: string;
  /** Gives undefined for a value that cannot be used. */
  read(written: string): T | undefined;
}

const PREFIX = "HELIOGRAPH_";

const text = (min: number, max: number) => (written: string) =>
  written.length >= min && written.length <= max ? written : undefined;

const whole = (min: number, max: number) => (written: string) => {
  const value = /^\d{1,12}$/.test(written) ? Number(written) : Number.NaN;
  return value >= min && value <= max ? value : undefined;
};

const oneOf =
  <const T extends string>(...values: readonly T[]) =>
  (written: string): T | undefined =>
    values.find((value) => value === written);

const visible = (min: number, max: number) => (written: string) =>
  /^[\x21-\x7e]+$/.test(written) ? text(min, max)(written) : undefined;

const url =
  (...protocols: readonly string[]) =>
  (written: string) =>
    URL.canParse(written) && protocols.includes(new URL(written).protocol) ? written : undefined;

const ROLES = ["api", "dispatch", "callbacks"] as const;
type NodeRole = (typeof ROLES)[number];

function roles(written: string): readonly NodeRole[] | undefined {
  const named = written.split(",").map((role) => role.trim());
  const known = ROLES.filter((role) => named.includes(role));
  return known.length === named.length && known.length > 0 ? known : undefined;
}

const setting = <T>(entry: Setting<T>): Setting<T> => entry;

/** Every setting there is. `docs/configuration.md` is made from this table. */
const SETTINGS = {
  host: setting({
    name: "HOST",
    default: "127.0.0.1",
    meaning: "Address to listen on. `0.0.0.0` opens the server to the network: put TLS in front of it.",
    check: "an address or host name",
    read: text(1, 255),
  }),
  port: setting({
    name: "PORT",
    default: "8080",
    meaning: "Port to listen on; 0 takes any free one.",
    check: "a whole number from 0 to 65535",
    read: whole(0, 65_535),
  }),
  dataDir: setting({
    name: "DATA_DIR",
    default: "./data",
    meaning: "Directory of the SQLite database and of the master key.",
    check: "a path",
    read: (written) => (written === "" ? undefined : resolve(written)),
  }),
  databaseUrl: setting({
    name: "DATABASE_URL",
    default: null,
    meaning: "PostgreSQL 15 or later to use instead of SQLite, shared by any number of nodes.",
    check: "a postgres:// or postgresql:// URL",
    read: url("postgres:", "postgresql:"),
  }),
  baseUrl: setting({
    name: "BASE_URL",
    default: null,
    meaning:
      "The server's public address, used in links it gives out. Unset, links start with the address it listens on.",
    check: "an http:// or https:// URL",
    read: (written) => url("http:", "https:")(written)?.replace(/\/+$/, ""),
  }),
  shortLinkBase: setting({
    name: "SHORT_LINK_BASE",
    default: null,
    meaning:
      "What stands before the code of a short link, such as `https://go.example`. Unset, the server's public address with `/s`.",
    check: "an http:// or https:// URL without query",
    read: (written) => (/[?#]/.test(written) ? undefined : url("http:", "https:")(written)?.replace(/\/+$/, "")),
  }),
  linkDays: setting({
    name: "LINK_DAYS",
    default: "90",
    meaning: "Days for which a short link leads on; then it answers 410.",
    check: "a whole number from 1 to 3650",
    read: whole(1, 3650),
  }),
  adminEmail: setting({
    name: "ADMIN_EMAIL",
    default: "admin@localhost",
    meaning: "Login of the owner made on the first start.",
    check: "an e-mail address",
    read: (written) => (/^[^\s@]+@[^\s@]+$/.test(written) ? text(3, 254)(written) : undefined),
  }),
  adminPassword: setting({
    name: "ADMIN_PASSWORD",
    default: null,
    meaning: "Password of the owner made on the first start. Unset, one is made and printed once.",
    check: "8 to 200 characters",
    read: text(8, 200),
  }),
  apiKey: setting({
    name: "API_KEY",
    default: null,
    meaning: "The live key made on the first start. Unset, one is made and printed once.",
    check: "8 to 200 visible ASCII characters",
    read: visible(8, 200),
  }),
  testApiKey: setting({
    name: "TEST_API_KEY",
    default: null,
    meaning: "The test key made on the first start. Unset, one is made and printed once.",
    check: "8 to 200 visible ASCII characters",
    read: visible(8, 200),
  }),
  sessionIdleHours: setting({
    name: "SESSION_IDLE_HOURS",
    default: "12",
    meaning: "Hours after which whoever is logged in and does nothing is logged out.",
    check: "a whole number from 1 to 720",
    read: whole(1, 720),
  }),
  sessionDays: setting({
    name: "SESSION_DAYS",
    default: "7",
    meaning: "Days after which everybody has to log in again.",
    check: "a whole number from 1 to 365",
    read: whole(1, 365),
  }),
  auditDays: setting({
    name: "AUDIT_DAYS",
    default: "400",
    meaning: "Days for which it is kept who changed what.",
    check: "a whole number from 1 to 3650",
    read: whole(1, 3650),
  }),
  masterKey: setting({
    name: "MASTER_KEY",
    default: null,
    meaning:
      "The secret that protects keys at rest; the same on every node. Unset, it is made once in the data directory.",
    check: "at least 16 characters",
    read: text(16, 500),
  }),
  roles: setting({
    name: "ROLES",
    default: "api,dispatch,callbacks",
    meaning: "What this node does: answer requests, send messages, call customers back.",
    check: "a list of api, dispatch, callbacks with commas between them",
    read: roles,
  }),
  trustProxy: setting({
    name: "TRUST_PROXY",
    default: "false",
    meaning: "Whether the caller's address is the last one in `X-Forwarded-For`. Only behind a proxy that writes it.",
    check: "true or false",
    read: (written) => (written === "true" || written === "false" ? written === "true" : undefined),
  }),
  recipientsMax: setting({
    name: "RECIPIENTS_MAX",
    default: "1000",
    meaning: "Most recipients of one request.",
    check: "a whole number from 1 to 10000",
    read: whole(1, 10_000),
  }),
  textMax: setting({
    name: "TEXT_MAX",
    default: "1600",
    meaning: "Most characters of an SMS text.",
    check: "a whole number from 1 to 10000",
    read: whole(1, 10_000),
  }),
  segmentsMax: setting({
    name: "SEGMENTS_MAX",
    default: "12",
    meaning: "Most segments of an SMS.",
    check: "a whole number from 1 to 255",
    read: whole(1, 255),
  }),
  validityOtpSeconds: setting({
    name: "VALIDITY_OTP_SECONDS",
    default: "300",
    meaning: "How long a message of type OTP may wait to be sent; then it fails as EXPIRED_IN_QUEUE.",
    check: "a whole number from 1 to 172800",
    read: whole(1, 172_800),
  }),
  validityTransSeconds: setting({
    name: "VALIDITY_TRANS_SECONDS",
    default: "36000",
    meaning: "The same for TRANS.",
    check: "a whole number from 1 to 172800",
    read: whole(1, 172_800),
  }),
  validityPromoSeconds: setting({
    name: "VALIDITY_PROMO_SECONDS",
    default: "14400",
    meaning: "The same for PROMO.",
    check: "a whole number from 1 to 172800",
    read: whole(1, 172_800),
  }),
  laneCapacity: setting({
    name: "LANE_CAPACITY",
    default: "20000",
    meaning: "Messages of each type held in memory for sending; more wait in the store.",
    check: "a whole number from 1 to 1000000",
    read: whole(1, 1_000_000),
  }),
  dispatchWindow: setting({
    name: "DISPATCH_WINDOW",
    default: "1000",
    meaning: "Messages between lane and carrier's answer at a time: also the most that a crash can leave in doubt.",
    check: "a whole number from 1 to 100000",
    read: whole(1, 100_000),
  }),
  acceptBacklog: setting({
    name: "ACCEPT_BACKLOG",
    default: "50000",
    meaning: "Messages that may wait for their commit; beyond it requests are answered 503 OVERLOADED.",
    check: "a whole number from 1000 to 10000000",
    read: whole(1000, 10_000_000),
  }),
  acceptWaitMs: setting({
    name: "ACCEPT_WAIT_MS",
    default: "1000",
    meaning:
      "Milliseconds that a message may wait to be accepted while this node has more to send, or to write, than it can; beyond it requests are answered 503 OVERLOADED.",
    check: "a whole number from 10 to 60000",
    read: whole(10, 60_000),
  }),
  nodeSilentSeconds: setting({
    name: "NODE_SILENT_SECONDS",
    default: "30",
    meaning: "After so much silence a node counts as dead and the others take its messages. The same on every node.",
    check: "a whole number from 2 to 600",
    read: whole(2, 600),
  }),
  egressAllow: setting({
    name: "EGRESS_ALLOW",
    default: null,
    meaning:
      "Networks that outgoing requests to customers' addresses may reach besides public ones. While the server listens on loopback only, loopback is open too.",
    check: "a list of networks such as 10.0.0.0/8 with commas between them",
    read: readNetworks,
  }),
  operatorsFile: setting({
    name: "OPERATORS_FILE",
    default: null,
    meaning:
      "A CSV file of `prefix,operator,circle` for `{{operatorCircle}}` in delivery reports. What it leaves open is looked up in the numbering plans; they know operators, not circles.",
    check: "a path",
    read: (written) => resolve(written),
  }),
  logLevel: setting({
    name: "LOG_LEVEL",
    default: "info",
    meaning: "How much is logged.",
    check: "one of debug, info, warn, error, silent",
    read: oneOf("debug", "info", "warn", "error", "silent"),
  }),
};

type Settings = typeof SETTINGS;
type Optional =
  | "databaseUrl"
  | "baseUrl"
  | "shortLinkBase"
  | "adminPassword"
  | "apiKey"
  | "testApiKey"
  | "masterKey"
  | "egressAllow"
  | "operatorsFile";

/** All settings, read and checked, once. */
export type Config = Readonly<{
  [K in keyof Settings]: NonNullable<ReturnType<Settings[K]["read"]>> | (K extends Optional ? null : never);
}>;

/** Reads the settings from an environment; the first that cannot be used stops everything and names itself. */
export function readConfig(environment: Record<string, string | undefined>): Config {
  const config = Object.entries(SETTINGS).map(([key, entry]) => {
    const written = environment[PREFIX + entry.name] || entry.default;
    if (written === null) return [key, null];
    const value = entry.read(written);
    if (value === undefined) throw new BadSetting(`${PREFIX}${entry.name} must be ${entry.check}`);
    return [key, value];
  });
  return Object.freeze(Object.fromEntries(config)) as Config;
}

/** Variables with our prefix that are no setting: most often a slip of the pen. */
export function unknownSettings(environment: Record<string, string | undefined>): string[] {
  const known = new Set(Object.values(SETTINGS).map((entry) => PREFIX + entry.name));
  return Object.keys(environment).filter((name) => name.startsWith(PREFIX) && !known.has(name));
}

/** The table of `docs/configuration.md`. */
export function configurationTable(): string {
  const rows = Object.values(SETTINGS).map(
    (entry) =>
      `| \`${PREFIX}${entry.name}\` | ${entry.default === null ? "" : `\`${entry.default}\``} | ${entry.meaning} | ${entry.check} |`,
  );
  return ["| Setting | Default | Meaning | Must be |", "|---|---|---|---|", ...rows].join("\n");
}
