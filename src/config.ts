import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { BadDatabaseUrl, readDatabaseUrl } from "./lib/database-url.ts";
import { readNetworks } from "./lib/network.ts";
import type { CredentialKind } from "./model/credential.ts";
import { DEFAULT_SMS_LIMITS } from "./model/message.ts";
import { isBucketUrl, readBucketUrl } from "./object-storage/bucket-url.ts";

/** An invalid setting. The message names it and the values it takes. */
export class BadSetting extends Error {
  override name = "BadSetting";
}

interface Setting<T> {
  /** The environment variable, without its prefix. */
  name: string;
  /** As written in the environment; null if there is none. */
  default: string | null;
  meaning: string;
  /** Describes valid values. */
  check: string;
  /** Returns undefined for an invalid value. */
  read(written: string): T | undefined;
  /** A secret can also be in a file, whose path is the variable with the suffix `_FILE`. */
  isSecret?: true;
  /** The variable of other tools for the same, which counts if ours is not set. */
  alias?: string;
}

const PREFIX = "HELIOGRAPH_";
const FILE_SUFFIX = "_FILE";

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

/** The URL as it is written, if it can be used. A fault in a part of it gets an error of its own, because most URLs are long. */
function databaseUrl(written: string): string | undefined {
  if (!/^postgres(ql)?:\/\//.test(written)) return undefined;
  try {
    readDatabaseUrl(written);
    return written;
  } catch (error) {
    if (!(error instanceof BadDatabaseUrl)) throw error;
    throw new BadSetting(`${PREFIX}DATABASE_URL is not valid: ${error.message}`, { cause: error });
  }
}

const ROLES = ["api", "dispatch", "callbacks", "smpp"] as const;
type NodeRole = (typeof ROLES)[number];

function roles(written: string): readonly NodeRole[] | undefined {
  const named = written.split(",").map((role) => role.trim());
  const known = ROLES.filter((role) => named.includes(role));
  return known.length === named.length && known.length > 0 ? known : undefined;
}

const HOST_NAME = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const HOST_NAMES_MAX = 100;

function hostNames(written: string): readonly string[] | undefined {
  const names = [...new Set(written.split(",").map((name) => name.trim().toLowerCase()))];
  // A last label of digits would be an address.
  const isRight = names.every((name) => HOST_NAME.test(name) && !/(?:^|\.)\d+$/.test(name));
  return isRight && names.length <= HOST_NAMES_MAX ? names : undefined;
}

const FACADES = ["twilio", "kannel", "jasmin"] as const satisfies readonly CredentialKind[];

/** An API of another product that this node serves. */
export interface ServedFacade {
  kind: (typeof FACADES)[number];
  /** The port that it has for itself; null on the port of the server. */
  port: number | null;
}

/** A list such as `twilio,kannel:13013`. */
function facades(written: string): readonly ServedFacade[] | undefined {
  if (written === "none") return [];
  const served = written.split(",").map(readFacade);
  const kinds = new Set(served.map((facade) => facade?.kind));
  return kinds.size === served.length && served.every((facade) => facade !== undefined) ? served : undefined;
}

function readFacade(written: string): ServedFacade | undefined {
  const [name, port, ...rest] = written.trim().split(":");
  const kind = FACADES.find((facade) => facade === name);
  const number = port === undefined ? null : whole(0, 65_535)(port);
  return kind === undefined || number === undefined || rest.length > 0 ? undefined : { kind, port: number };
}

const setting = <T>(entry: Setting<T>): Setting<T> => entry;

const SERVER = {
  host: setting({
    name: "HOST",
    default: "127.0.0.1",
    meaning:
      "Address to listen on. `0.0.0.0` opens the server to the network: use TLS, or put a proxy with TLS in front of it.",
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
  baseUrl: setting({
    name: "BASE_URL",
    default: null,
    meaning: "Public URL of the server, used in links. Default: the address it listens on.",
    check: "an http:// or https:// URL",
    read: (written) => url("http:", "https:")(written)?.replace(/\/+$/, ""),
  }),
  roles: setting({
    name: "ROLES",
    default: "api,dispatch,callbacks,smpp",
    meaning:
      "Roles of this node: `api` answers requests, `dispatch` sends messages, `callbacks` delivers webhooks, `smpp` serves SMPP clients if it has a port for them, and needs `callbacks`.",
    check: "a list of api, dispatch, callbacks, smpp with commas between them",
    read: roles,
  }),
  facades: setting({
    name: "FACADES",
    default: FACADES.join(","),
    meaning:
      "APIs of other products that this node serves beside `/v1`; `none` serves none. `kannel:13013` moves one to a port of its own, which serves nothing else.",
    check: `a list of ${FACADES.join(", ")} with commas between them, each at most once and alone or with a colon and a port, or none`,
    read: facades,
  }),
  trustProxy: setting({
    name: "TRUST_PROXY",
    default: "false",
    meaning: "Take the client address from the last entry of `X-Forwarded-For`. Only behind a proxy that writes it.",
    check: "true or false",
    read: (written) => (written === "true" || written === "false" ? written === "true" : undefined),
  }),
  httpFastPath: setting({
    name: "HTTP_FAST_PATH",
    default: "on",
    meaning:
      "Serve sends and short links by the HTTP fast path, with client connections in a thread of their own. `off` uses Node's HTTP server for everything: same responses, more CPU per send.",
    check: "on or off",
    read: (written) => (written === "on" || written === "off" ? written === "on" : undefined),
  }),
  tlsCertFile: setting({
    name: "TLS_CERT_FILE",
    default: null,
    meaning:
      "Certificate of the server and its chain (PEM). With it, the port speaks TLS, with HTTP/2 and HTTP/1.1. Read again when it changes and on SIGHUP.",
    check: "a path",
    read: (written) => resolve(written),
  }),
  tlsKeyFile: setting({
    name: "TLS_KEY_FILE",
    default: null,
    meaning: "Private key of that certificate (PEM, without passphrase).",
    check: "a path",
    read: (written) => resolve(written),
  }),
  acmeDomains: setting({
    name: "ACME_DOMAINS",
    default: null,
    meaning:
      "Host names for which the server obtains and renews a certificate itself (ACME with HTTP-01), instead of files. Setting it agrees to the terms of the authority. Needs `REDIRECT_PORT`. [How](serving.md#certificates-by-acme)",
    check: "host names such as sms.example.com with commas between them, at most 100, without wildcards or addresses",
    read: hostNames,
  }),
  acmeEmail: setting({
    name: "ACME_EMAIL",
    default: null,
    meaning: "Address that the ACME authority may write to. Default: none.",
    check: "an e-mail address",
    read: (written) => (/^[^\s@,?]+@[^\s@,?]+$/.test(written) ? text(3, 254)(written) : undefined),
  }),
  acmeDirectoryUrl: setting({
    name: "ACME_DIRECTORY_URL",
    default: "https://acme-v02.api.letsencrypt.org/directory",
    meaning:
      "Directory of the ACME authority. Try `https://acme-staging-v02.api.letsencrypt.org/directory` first: it has no narrow limits, and its certificates are not trusted.",
    check: "an https:// URL",
    read: url("https:"),
  }),
  acmeCaFile: setting({
    name: "ACME_CA_FILE",
    default: null,
    meaning:
      "CA certificates (PEM) that the authority's own certificate is checked with, for a private authority. Default: those that Node trusts.",
    check: "a path",
    read: (written) => resolve(written),
  }),
  redirectPort: setting({
    name: "REDIRECT_PORT",
    default: null,
    meaning:
      "Second port, of plain HTTP, that redirects browsers to the base URL, answers ACME challenges and refuses other requests. Only with TLS.",
    check: "a whole number from 0 to 65535",
    read: whole(0, 65_535),
  }),
  hstsSeconds: setting({
    name: "HSTS_SECONDS",
    default: "0",
    meaning:
      "Seconds for which browsers use only https for the dashboard's host (`Strict-Transport-Security`), if the base URL is https. 0 sends no such header. Try a small value first: browsers do not forget it.",
    check: "a whole number from 0 to 63072000",
    read: whole(0, 63_072_000),
  }),
  proxyProtocol: setting({
    name: "PROXY_PROTOCOL",
    default: null,
    meaning:
      "Networks of TCP proxies that begin each connection with a PROXY header (version 1 or 2), which names the client. Their connections without it are closed; other connections are taken as they are.",
    check: "a list of networks such as 10.0.0.0/8 with commas between them",
    read: readNetworks,
  }),
  drainSeconds: setting({
    name: "DRAIN_SECONDS",
    default: null,
    meaning:
      "Seconds after SIGTERM in which `/readyz` answers 503 and all other requests are served, so that load balancers remove the node. Default: 5, or 0 if the server listens on loopback only.",
    check: "a whole number from 0 to 600",
    read: whole(0, 600),
  }),
  logLevel: setting({
    name: "LOG_LEVEL",
    default: "info",
    meaning: "Minimum level of log lines.",
    check: "one of debug, info, warn, error, silent",
    read: oneOf("debug", "info", "warn", "error", "silent"),
  }),
  metricsKey: setting({
    name: "METRICS_KEY",
    default: null,
    meaning:
      "Bearer token that `/metrics` requires. Default: `/metrics` is open to every client that reaches the server.",
    check: "16 to 200 visible ASCII characters",
    read: visible(16, 200),
    isSecret: true,
  }),
};

const STORAGE = {
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
    meaning:
      "PostgreSQL 15 or later to use instead of SQLite, shared by any number of nodes. Several servers with commas between them, such as `postgres://user@db1,db2:5433/name`: the one that accepts writes is used, also after a failover. [How](high-availability.md)",
    check: "a postgres:// or postgresql:// URL",
    read: databaseUrl,
    isSecret: true,
  }),
  databaseReadUrl: setting({
    name: "DATABASE_READ_URL",
    default: null,
    meaning:
      "Streaming replica of the PostgreSQL database that answers lists, searches and statistics. It shows every write that was answered before; while it lags or fails, the primary answers. [How](high-availability.md#read-replica)",
    check: "a postgres:// or postgresql:// URL",
    read: databaseUrl,
    isSecret: true,
  }),
  databaseConnectTimeoutMs: setting({
    name: "DATABASE_CONNECT_TIMEOUT_MS",
    default: "3000",
    meaning:
      "Milliseconds in which a PostgreSQL server must accept a connection. Then the next server of the URL is tried.",
    check: "a whole number from 100 to 60000",
    read: whole(100, 60_000),
  }),
  databaseStatementTimeoutMs: setting({
    name: "DATABASE_STATEMENT_TIMEOUT_MS",
    default: "10000",
    meaning:
      "Milliseconds after which PostgreSQL cancels a statement. One that has not ended a second later, because the server hangs, is given up: its request gets 503. Reporting queries have `REPORTING_TIMEOUT_SECONDS`.",
    check: "a whole number from 500 to 600000",
    read: whole(500, 600_000),
  }),
  databasePooler: setting({
    name: "DATABASE_POOLER",
    default: "none",
    meaning:
      "The pooler in front of PostgreSQL: `transaction` for PgBouncer or another pooler in transaction mode, `transaction-prepared` for one that also keeps named statements.",
    check: "one of none, transaction, transaction-prepared",
    read: oneOf("none", "transaction", "transaction-prepared"),
  }),
  startWaitSeconds: setting({
    name: "START_WAIT_SECONDS",
    default: "60",
    meaning:
      "Seconds that a start waits for an unavailable database, with a log line for each attempt. Then it ends with exit code 1.",
    check: "a whole number from 0 to 86400",
    read: whole(0, 86_400),
  }),
  diskFreeMinMb: setting({
    name: "DISK_FREE_MIN_MB",
    default: "256",
    meaning:
      "Megabytes of free space on the disk of the SQLite file below which sends get 503 STORAGE_FULL, so that receipts, callbacks and retention can still be written. At most a tenth of the disk counts. 0 switches it off. Not on PostgreSQL.",
    check: "a whole number from 0 to 1000000",
    read: whole(0, 1_000_000),
  }),
  integrityCheckHours: setting({
    name: "INTEGRITY_CHECK_HOURS",
    default: "24",
    meaning:
      "Hours between checks of the SQLite file for damaged pages, in a process of low priority ([how](backup.md#checks-of-the-file)). 0 switches them off. Not on PostgreSQL.",
    check: "a whole number from 0 to 2160",
    read: whole(0, 2160),
  }),
  nodeSilentSeconds: setting({
    name: "NODE_SILENT_SECONDS",
    default: "30",
    meaning:
      "Seconds without heartbeat after which a node is dead and other nodes take its messages. The same on every node.",
    check: "a whole number from 2 to 600",
    read: whole(2, 600),
  }),
};

const SMPP_SERVER = {
  smppPort: setting({
    name: "SMPP_PORT",
    default: null,
    meaning:
      "Port of the SMPP server, to which clients bind without TLS; 0 takes any free one. Default: it is off. [How](smpp-server.md)",
    check: "a whole number from 0 to 65535",
    read: whole(0, 65_535),
  }),
  smppTlsPort: setting({
    name: "SMPP_TLS_PORT",
    default: null,
    meaning: "Port of the SMPP server with TLS; 0 takes any free one. Default: it is off.",
    check: "a whole number from 0 to 65535",
    read: whole(0, 65_535),
  }),
  smppHost: setting({
    name: "SMPP_HOST",
    default: null,
    meaning: "Address on which the SMPP server listens. Default: that of `HOST`.",
    check: "an address or host name",
    read: text(1, 255),
  }),
  smppTlsCertFile: setting({
    name: "SMPP_TLS_CERT_FILE",
    default: null,
    meaning:
      "Certificate of the SMPP server and its chain (PEM), read again when it changes and on SIGHUP. Default: that of HTTP, from files or by ACME.",
    check: "a path",
    read: (written) => resolve(written),
  }),
  smppTlsKeyFile: setting({
    name: "SMPP_TLS_KEY_FILE",
    default: null,
    meaning: "Private key of that certificate (PEM, without passphrase).",
    check: "a path",
    read: (written) => resolve(written),
  }),
  smppTlsClientCaFile: setting({
    name: "SMPP_TLS_CLIENT_CA_FILE",
    default: null,
    meaning: "Authority (PEM) of client certificates, for which the TLS port asks. Default: it asks for none.",
    check: "a path",
    read: (written) => resolve(written),
  }),
  smppTlsClientCerts: setting({
    name: "SMPP_TLS_CLIENT_CERTS",
    default: "required",
    meaning:
      "Whether clients of the TLS port must have a certificate of that authority. With `optional`, only system ids with `requireClientCertificate` must.",
    check: "one of required, optional",
    read: oneOf("required", "optional"),
  }),
  smppReceiptHours: setting({
    name: "SMPP_RECEIPT_HOURS",
    default: "72",
    meaning: "Hours for which receipts and texts from phones wait for an SMPP client that is not bound.",
    check: "a whole number from 1 to 720",
    read: whole(1, 720),
  }),
};

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration such as 24h, in milliseconds. */
function duration(minMs: number, maxMs: number): (written: string) => number | undefined {
  return (written) => {
    const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(written) ?? [];
    const ms = Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
    return ms >= minMs && ms <= maxMs ? ms : undefined;
  };
}

/** A path, or the address of a place in a bucket. */
function backupPlace(written: string): string | undefined {
  if (isBucketUrl(written)) return readBucketUrl(written) === null ? undefined : written;
  // Any other address would become a folder of that name.
  return written === "" || /^[a-z][a-z0-9+.-]+:\/\//i.test(written) ? undefined : resolve(written);
}

const BACKUP = {
  backupDir: setting({
    name: "BACKUP_DIR",
    default: null,
    meaning:
      "Folder, or place in a bucket such as `s3://bucket/heliograph`, of scheduled backups of the SQLite database ([how](backup.md#scheduled-backups)). Default: none are written.",
    check: "a path, or s3://bucket/prefix",
    read: backupPlace,
  }),
  backupEveryMs: setting({
    name: "BACKUP_EVERY",
    default: "24h",
    meaning: "Time between scheduled backups: a number with `m`, `h` or `d` for minutes, hours or days.",
    check: "a duration from 1m to 90d, such as 24h",
    read: duration(UNIT_MS.m, 90 * UNIT_MS.d),
  }),
  backupKeep: setting({
    name: "BACKUP_KEEP",
    default: "7",
    meaning: "Number of backups that stay. A scheduled backup deletes the oldest beyond it.",
    check: "a whole number from 1 to 10000",
    read: whole(1, 10_000),
  }),
  backupPassphrase: setting({
    name: "BACKUP_PASSPHRASE",
    default: null,
    meaning:
      "Passphrase that wraps the master key in backups. Keep it apart from them: both together open every secret. Default: scheduled backups do not contain the key, and `heliograph backup` asks.",
    check: "12 to 500 characters",
    read: text(12, 500),
    isSecret: true,
  }),
};

const OBJECT_STORAGE = {
  s3Endpoint: setting({
    name: "S3_ENDPOINT",
    alias: "AWS_ENDPOINT_URL_S3",
    default: null,
    meaning:
      "Base URL of an object storage that speaks the protocol of Amazon S3, such as `https://minio.example.com:9000`. Default: Amazon's for the region.",
    check: "an http:// or https:// URL",
    read: url("http:", "https:"),
  }),
  s3Region: setting({
    name: "S3_REGION",
    alias: "AWS_REGION",
    default: "us-east-1",
    meaning: "Region of the bucket. Storages of your own usually accept any.",
    check: "letters, digits and hyphens",
    read: (written) => (/^[a-z0-9-]{1,50}$/i.test(written) ? written : undefined),
  }),
  s3AccessKeyId: setting({
    name: "S3_ACCESS_KEY_ID",
    alias: "AWS_ACCESS_KEY_ID",
    default: null,
    meaning: "Access key of the bucket.",
    check: "1 to 200 visible ASCII characters",
    read: visible(1, 200),
  }),
  s3SecretAccessKey: setting({
    name: "S3_SECRET_ACCESS_KEY",
    alias: "AWS_SECRET_ACCESS_KEY",
    default: null,
    meaning: "Secret of the access key.",
    check: "1 to 200 visible ASCII characters",
    read: visible(1, 200),
    isSecret: true,
  }),
  s3SessionToken: setting({
    name: "S3_SESSION_TOKEN",
    alias: "AWS_SESSION_TOKEN",
    default: null,
    meaning: "Session token, if the access key is a temporary one.",
    check: "1 to 5000 visible ASCII characters",
    read: visible(1, 5000),
    isSecret: true,
  }),
};

const FIRST_START = {
  welcomeFile: setting({
    name: "WELCOME_FILE",
    default: null,
    meaning:
      "File that the first start creates for the password and the keys, readable only by its own user. Default: they are printed, and a service manager keeps what is printed in its log.",
    check: "a path",
    read: (written) => (written === "" ? undefined : resolve(written)),
  }),
  adminEmail: setting({
    name: "ADMIN_EMAIL",
    default: "admin@localhost",
    meaning: "Login of the owner that the first start creates.",
    check: "an e-mail address",
    read: (written) => (/^[^\s@]+@[^\s@]+$/.test(written) ? text(3, 254)(written) : undefined),
  }),
  adminPassword: setting({
    name: "ADMIN_PASSWORD",
    default: null,
    meaning: "Password of that owner. Default: generated and printed once.",
    check: "8 to 200 characters",
    read: text(8, 200),
    isSecret: true,
  }),
  apiKey: setting({
    name: "API_KEY",
    default: null,
    meaning: "Live API key of the first account. Default: generated and printed once.",
    check: "8 to 200 visible ASCII characters",
    read: visible(8, 200),
    isSecret: true,
  }),
  testApiKey: setting({
    name: "TEST_API_KEY",
    default: null,
    meaning: "Test API key of the first account. Default: generated and printed once.",
    check: "8 to 200 visible ASCII characters",
    read: visible(8, 200),
    isSecret: true,
  }),
};

const SECURITY = {
  masterKey: setting({
    name: "MASTER_KEY",
    default: null,
    meaning:
      "Secret that encrypts stored secrets, the same on every node. Default: generated once, in the data directory.",
    check: "at least 16 characters",
    read: text(16, 500),
    isSecret: true,
  }),
  egressAllow: setting({
    name: "EGRESS_ALLOW",
    default: null,
    meaning:
      "Private networks that outgoing requests to URLs of users may reach (SSRF guard). Loopback is allowed by default only if the server listens on loopback, trusts no proxy (`HELIOGRAPH_TRUST_PROXY`), has no public `HELIOGRAPH_BASE_URL` and has one account.",
    check: "a list of networks such as 10.0.0.0/8 with commas between them",
    read: readNetworks,
  }),
  sessionIdleHours: setting({
    name: "SESSION_IDLE_HOURS",
    default: "12",
    meaning: "Hours without activity after which a dashboard session ends.",
    check: "a whole number from 1 to 720",
    read: whole(1, 720),
  }),
  sessionDays: setting({
    name: "SESSION_DAYS",
    default: "7",
    meaning: "Days after which every dashboard session ends.",
    check: "a whole number from 1 to 365",
    read: whole(1, 365),
  }),
  auditDays: setting({
    name: "AUDIT_DAYS",
    default: "400",
    meaning: "Retention of the audit log in days.",
    check: "a whole number from 1 to 3650",
    read: whole(1, 3650),
  }),
};

const MESSAGES = {
  recipientsMax: setting({
    name: "RECIPIENTS_MAX",
    default: String(DEFAULT_SMS_LIMITS.recipientsMax),
    meaning: "Maximum recipients of one request.",
    check: "a whole number from 1 to 10000",
    read: whole(1, 10_000),
  }),
  textMax: setting({
    name: "TEXT_MAX",
    default: String(DEFAULT_SMS_LIMITS.textMax),
    meaning: "Maximum characters of an SMS text.",
    check: "a whole number from 1 to 10000",
    read: whole(1, 10_000),
  }),
  segmentsMax: setting({
    name: "SEGMENTS_MAX",
    default: String(DEFAULT_SMS_LIMITS.segmentsMax),
    meaning: "Maximum segments of an SMS.",
    check: "a whole number from 1 to 255",
    read: whole(1, 255),
  }),
  validityOtpSeconds: setting({
    name: "VALIDITY_OTP_SECONDS",
    default: "300",
    meaning: "Seconds that a message of type OTP may wait to be sent. Then it fails with EXPIRED_IN_QUEUE.",
    check: "a whole number from 1 to 172800",
    read: whole(1, 172_800),
  }),
  validityTransSeconds: setting({
    name: "VALIDITY_TRANS_SECONDS",
    default: "36000",
    meaning: "The same for type TRANS.",
    check: "a whole number from 1 to 172800",
    read: whole(1, 172_800),
  }),
  validityPromoSeconds: setting({
    name: "VALIDITY_PROMO_SECONDS",
    default: "14400",
    meaning: "The same for type PROMO.",
    check: "a whole number from 1 to 172800",
    read: whole(1, 172_800),
  }),
  receiptGraceSeconds: setting({
    name: "RECEIPT_GRACE_SECONDS",
    default: "86400",
    meaning:
      "Seconds that a receipt is awaited after the validity of a message. Then the message ends as `unknown`, which is reported. A later receipt still counts.",
    check: "a whole number from 1 to 2592000",
    read: whole(1, 2_592_000),
  }),
  shortLinkBase: setting({
    name: "SHORT_LINK_BASE",
    default: null,
    meaning: "Prefix of short links, such as `https://go.example`. Default: the base URL with `/s`.",
    check: "an http:// or https:// URL without query",
    read: (written) => (/[?#]/.test(written) ? undefined : url("http:", "https:")(written)?.replace(/\/+$/, "")),
  }),
  linkDays: setting({
    name: "LINK_DAYS",
    default: "90",
    meaning: "Lifetime of short links in days. Expired links answer 410.",
    check: "a whole number from 1 to 3650",
    read: whole(1, 3650),
  }),
  operatorsFile: setting({
    name: "OPERATORS_FILE",
    default: null,
    meaning:
      "CSV file of `prefix,operator,circle` for `{{operatorCircle}}` in delivery reports. Other numbers are looked up in the numbering plans, which have operators but no circles.",
    check: "a path",
    read: (written) => resolve(written),
  }),
};

const MEDIA = {
  mediaDir: setting({
    name: "MEDIA_DIR",
    default: null,
    meaning:
      "Folder, or place in a bucket such as `s3://bucket/media`, of uploaded and received files ([how](media.md)). Default: the folder `media` of the data directory. On PostgreSQL there is no default: name a bucket, or a folder that all nodes share.",
    check: "a path, or s3://bucket/prefix",
    read: backupPlace,
  }),
  mediaMaxMb: setting({
    name: "MEDIA_MAX_MB",
    default: "100",
    meaning: "Largest file in megabytes. The limits of its type hold as well, such as 5 for images.",
    check: "a whole number from 1 to 100",
    read: whole(1, 100),
  }),
  mediaStoredMb: setting({
    name: "MEDIA_STORED_MB",
    default: "4096",
    meaning: "Maximum size of all uploaded files of one account in megabytes.",
    check: "a whole number from 1 to 1000000",
    read: whole(1, 1_000_000),
  }),
  mediaDays: setting({
    name: "MEDIA_DAYS",
    default: "90",
    meaning:
      "Days after which an uploaded file is removed, counted from its last upload or use. Files of users are kept as long as their messages.",
    check: "a whole number from 1 to 3650",
    read: whole(1, 3650),
  }),
};

const CAMPAIGNS = {
  audienceMaxMb: setting({
    name: "AUDIENCE_MAX_MB",
    default: "256",
    meaning: "Largest file of an audience in megabytes.",
    check: "a whole number from 1 to 2000",
    read: whole(1, 2000),
  }),
  audienceStoredMb: setting({
    name: "AUDIENCE_STORED_MB",
    default: "4096",
    meaning: "Maximum size of all stored audience files of one account in megabytes.",
    check: "a whole number from 1 to 1000000",
    read: whole(1, 1_000_000),
  }),
  audienceRowsMax: setting({
    name: "AUDIENCE_ROWS_MAX",
    default: "2000000",
    meaning: "Maximum rows of an audience. A file with more fails its check.",
    check: "a whole number from 1 to 20000000",
    read: whole(1, 20_000_000),
  }),
  audiencesMax: setting({
    name: "AUDIENCES_MAX",
    default: "1000",
    meaning: "Maximum audiences of one account.",
    check: "a whole number from 1 to 100000",
    read: whole(1, 100_000),
  }),
  campaignsMax: setting({
    name: "CAMPAIGNS_MAX",
    default: "5000",
    meaning: "Maximum campaigns of one account, drafts and ended ones included.",
    check: "a whole number from 1 to 100000",
    read: whole(1, 100_000),
  }),
};

const TUNING = {
  laneCapacity: setting({
    name: "LANE_CAPACITY",
    default: "20000",
    meaning: "Capacity of the priority queue (lane) of each message type. More messages wait in the store.",
    check: "a whole number from 1 to 1000000",
    read: whole(1, 1_000_000),
  }),
  dispatchWindow: setting({
    name: "DISPATCH_WINDOW",
    default: "1000",
    meaning: "Maximum messages submitted and not yet answered, and so the maximum that a crash leaves in doubt.",
    check: "a whole number from 1 to 100000",
    read: whole(1, 100_000),
  }),
  acceptBacklog: setting({
    name: "ACCEPT_BACKLOG",
    default: "50000",
    meaning: "Maximum messages that wait for their commit. Beyond it, requests get 503 OVERLOADED.",
    check: "a whole number from 1000 to 10000000",
    read: whole(1000, 10_000_000),
  }),
  acceptWaitMs: setting({
    name: "ACCEPT_WAIT_MS",
    default: "1000",
    meaning: "Milliseconds that a request waits for admission on an overloaded node. Then it gets 503 OVERLOADED.",
    check: "a whole number from 10 to 60000",
    read: whole(10, 60_000),
  }),
  requestPatienceSeconds: setting({
    name: "REQUEST_PATIENCE_SECONDS",
    default: "10",
    meaning:
      "Time-out of your clients in seconds. A request that is older, because this process was stopped or stalled, gets 503 OVERLOADED and is not executed, since the client has retried it. Use the shortest time-out of all clients, longer than ACCEPT_WAIT_MS.",
    check: "a whole number from 1 to 3600",
    read: whole(1, 3600),
  }),
  bodyMaxMb: setting({
    name: "BODY_MAX_MB",
    default: null,
    meaning:
      "Largest request body in megabytes; larger ones get 413. Default: what `RECIPIENTS_MAX` recipients with texts of `TEXT_MAX` escaped characters need, at most 64. Login and carrier callbacks have lower limits.",
    check: "a whole number from 1 to 256",
    read: whole(1, 256),
  }),
  bodyMemoryMb: setting({
    name: "BODY_MEMORY_MB",
    default: null,
    meaning:
      "Memory in megabytes for all request bodies together, with what is built from them until the response. Beyond it, large requests wait up to `ACCEPT_WAIT_MS`, then get 503 OVERLOADED. Default: an eighth of the memory of the machine or container, at most 256, and enough for one body of `BODY_MAX_MB`.",
    check: "a whole number from 16 to 65536",
    read: whole(16, 65_536),
  }),
  streamsMax: setting({
    name: "STREAMS_MAX",
    default: "2000",
    meaning:
      "Maximum live streams of one account on this node; an API key, a person and a client address have half of it each. Beyond it, a stream gets 429 TOO_MANY_STREAMS.",
    check: "a whole number from 2 to 100000",
    read: whole(2, 100_000),
  }),
  httpBufferMb: setting({
    name: "HTTP_BUFFER_MB",
    default: "64",
    meaning:
      "Maximum megabytes of unread responses in memory, over all connections. Beyond it, requests other than sends get 503 OVERLOADED, and connections that read nothing are closed.",
    check: "a whole number from 1 to 65536",
    read: whole(1, 65_536),
  }),
  reportingConcurrency: setting({
    name: "REPORTING_CONCURRENCY",
    default: "3",
    meaning:
      "Maximum reporting queries (lists, searches, statistics) that this node runs at once: connections on PostgreSQL, threads on SQLite. They are separate from those of sends. One account has at most all but one. Further queries wait; with 200 waiting, they get 503 QUERY_QUEUE_FULL.",
    check: "a whole number from 1 to 100",
    read: whole(1, 100),
  }),
  reportingTimeoutSeconds: setting({
    name: "REPORTING_TIMEOUT_SECONDS",
    default: "10",
    meaning:
      "Seconds after which a reporting query is cancelled with 503 QUERY_TIMED_OUT, and seconds that it waits for its turn before.",
    check: "a whole number from 1 to 3600",
    read: whole(1, 3600),
  }),
};

/** All settings by topic. `docs/configuration.md` is generated from them. */
const TOPICS = {
  Server: SERVER,
  Storage: STORAGE,
  Backup: BACKUP,
  "Object storage": OBJECT_STORAGE,
  "First start": FIRST_START,
  Security: SECURITY,
  Messages: MESSAGES,
  Media: MEDIA,
  Campaigns: CAMPAIGNS,
  "SMPP server": SMPP_SERVER,
  Tuning: TUNING,
};

const SETTINGS = {
  ...SERVER,
  ...STORAGE,
  ...BACKUP,
  ...OBJECT_STORAGE,
  ...FIRST_START,
  ...SECURITY,
  ...MESSAGES,
  ...MEDIA,
  ...CAMPAIGNS,
  ...SMPP_SERVER,
  ...TUNING,
};

type Settings = typeof SETTINGS;
type Optional =
  | "databaseUrl"
  | "databaseReadUrl"
  | "baseUrl"
  | "shortLinkBase"
  | "welcomeFile"
  | "adminPassword"
  | "apiKey"
  | "testApiKey"
  | "metricsKey"
  | "masterKey"
  | "drainSeconds"
  | "tlsCertFile"
  | "tlsKeyFile"
  | "acmeDomains"
  | "acmeEmail"
  | "acmeCaFile"
  | "redirectPort"
  | "proxyProtocol"
  | "egressAllow"
  | "operatorsFile"
  | "bodyMaxMb"
  | "bodyMemoryMb"
  | "backupDir"
  | "mediaDir"
  | "backupPassphrase"
  | "s3Endpoint"
  | "s3AccessKeyId"
  | "s3SecretAccessKey"
  | "s3SessionToken"
  | "smppPort"
  | "smppTlsPort"
  | "smppHost"
  | "smppTlsCertFile"
  | "smppTlsKeyFile"
  | "smppTlsClientCaFile";

export type Config = Readonly<{
  [K in keyof Settings]: NonNullable<ReturnType<Settings[K]["read"]>> | (K extends Optional ? null : never);
}>;

type Environment = Record<string, string | undefined>;

/** Reads all settings from an environment. Throws for the first invalid one. */
export function readConfig(environment: Environment): Config {
  const config = Object.entries(SETTINGS).map(([key, entry]) => [key, readSetting(environment, entry)]);
  return Object.freeze(Object.fromEntries(config)) as Config;
}

/** One line for each invalid setting. It does not repeat the value, which may be a secret. */
export const invalidSettings = (environment: Environment): string[] =>
  Object.values(SETTINGS).flatMap((entry) => {
    try {
      readSetting(environment, entry);
      return [];
    } catch (error) {
      if (error instanceof BadSetting) return [error.message];
      throw error;
    }
  });

/** Null if it is not set and has no default. */
function readSetting(environment: Environment, entry: Setting<unknown>): unknown {
  const written = writtenIn(environment, entry) || entry.default;
  if (written === null) return null;
  const value = entry.read(written);
  if (value === undefined) throw new BadSetting(`${PREFIX}${entry.name} must be ${entry.check}`);
  return value;
}

function writtenIn(environment: Environment, { name, isSecret, alias }: Setting<unknown>): string | undefined {
  const variable = PREFIX + name;
  const written = environment[variable];
  const file = isSecret ? environment[variable + FILE_SUFFIX] : undefined;
  if (!file) return written || (alias === undefined ? undefined : environment[alias]);
  if (written) throw new BadSetting(`${variable} and ${variable}${FILE_SUFFIX} are both set; remove one of them`);
  let secret: string;
  try {
    secret = readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new BadSetting(`${variable}${FILE_SUFFIX} must be a readable file: ${(error as Error).message}`);
  }
  if (secret === "")
    throw new BadSetting(`${variable}${FILE_SUFFIX} must be a file with a secret, and ${file} is empty`);
  return secret;
}

const namesOf = ({ name, isSecret }: Setting<unknown>): string[] =>
  isSecret ? [PREFIX + name, PREFIX + name + FILE_SUFFIX] : [PREFIX + name];

/** Variables with our prefix that are no setting: usually typing errors. */
export function unknownSettings(environment: Environment): string[] {
  const known = new Set(Object.values(SETTINGS).flatMap(namesOf));
  return Object.keys(environment).filter((name) => name.startsWith(PREFIX) && !known.has(name));
}

/** The settings as `docs/configuration.md` shows them: one table for each topic. */
export function configurationTables(): string {
  return Object.entries(TOPICS)
    .map(([topic, settings]) => `## ${topic}\n\n${tableOf(Object.values(settings))}`)
    .join("\n\n");
}

function tableOf(settings: readonly Setting<unknown>[]): string {
  const rows = settings.map(
    (entry) =>
      `| \`${PREFIX}${entry.name}\` | ${entry.default === null ? "" : `\`${entry.default}\``} | ${entry.meaning}${entry.alias === undefined ? "" : ` If not set: \`${entry.alias}\`.`} | ${entry.check} |`,
  );
  return ["| Setting | Default | Meaning | Must be |", "|---|---|---|---|", ...rows].join("\n");
}
