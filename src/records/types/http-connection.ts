import { randomBytes } from "node:crypto";
import { pickFields } from "../../lib/shape.ts";
import {
  CALLBACK_SECRET,
  CALLBACK_SECRET_BEFORE,
  HTTP_DEFAULTS,
  type HttpConnectionSettings,
  type HttpInbound,
  type HttpPick,
  type HttpPresetName,
  type HttpProof,
  type HttpReceipts,
  type HttpSettings,
} from "../../model/http-connection.ts";
import { PRESETS } from "../../model/http-presets.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { unknownNames, encryptSecret, type SecretFactory } from "../record-type.ts";
import type { ConnectionType } from "./connections.ts";
import { checkHttpConnection, isSameHost, type ParsedHttpConnection } from "./http-connection-rules.ts";
import {
  httpRequestSchema,
  httpResponseSchema,
  plainFields,
  requestFields,
  type HttpFields,
} from "./http-connection-schema.ts";

const PARAMETER = "http";
const KEY_BYTES = 24;

/** A path, a pattern, or both. */
type GivenPick = string | Partial<HttpPick>;

/** Converts the settings of a request and adds faults. */
export function parseHttpConnection(
  fields: HttpFields,
  known: HttpConnectionSettings | null,
  faults: Fault[],
  stored: HttpConnectionSettings | null = known,
): ParsedHttpConnection {
  const fault = (field: string, message: string): void =>
    void faults.push({ parameter: `${PARAMETER}.${field}`, message });
  for (const name of unknownNames(fields, (field) => Object.hasOwn(requestFields, field)))
    fault(name, "A connection over HTTP has no such field.");
  const connection: ParsedHttpConnection = {
    ...settingsOf(fields, known),
    secrets: known?.secrets ?? {},
    newSecrets: fields.secrets ?? {},
  };
  checkHttpConnection(connection, stored, fault);
  return connection;
}

function settingsOf(fields: HttpFields, known: HttpConnectionSettings | null): HttpSettings {
  const { success, id, errorCode, errors, proof, receipts, inbound, ...plain } = fields;
  const before = settingsBefore(fields.preset, known);
  const settings: HttpSettings = { ...before, ...pickFields(plainFields, plain) };
  return {
    ...settings,
    baseUrl: settings.baseUrl.replace(/\/+$/, ""),
    success: { ...before.success, ...success },
    id: id === undefined ? before.id : pickOrNull(id),
    errorCode: errorCode === undefined ? before.errorCode : pickOrNull(errorCode),
    errors: errors
      ? errors.map((rule) => ({ status: null, path: null, pattern: null, equals: null, ...rule }))
      : before.errors,
    proof: proof ? proofOf(proof, before.proof) : before.proof,
    receipts: receipts === undefined ? before.receipts : receipts && receiptsOf(receipts),
    inbound: inbound === undefined ? before.inbound : inbound && inboundOf(inbound),
  };
}

/** A change of the preset discards the old settings, which would mix two providers' requests. */
function settingsBefore(preset: HttpPresetName | null | undefined, known: HttpConnectionSettings | null): HttpSettings {
  if (known && (preset === undefined || preset === known.preset)) {
    const { secrets: _, ...settings } = known;
    return { ...HTTP_DEFAULTS, ...settings };
  }
  return { ...HTTP_DEFAULTS, ...(preset ? PRESETS[preset] : {}) };
}

const pickOf = (written: GivenPick): HttpPick =>
  typeof written === "string" ? { path: written, pattern: null } : { path: null, pattern: null, ...written };

const pickOrNull = (written: GivenPick | null | undefined): HttpPick | null =>
  written === null || written === undefined ? null : pickOf(written);

const receiptsOf = ({ each, id, ref, status, states, ...more }: NonNullable<HttpFields["receipts"]>): HttpReceipts => ({
  each: each ?? null,
  id: pickOrNull(id),
  ref: pickOrNull(ref),
  status: pickOf(status ?? {}),
  states: states ?? {},
  errorCode: pickOrNull(more.errorCode),
  description: pickOrNull(more.description),
  time: pickOrNull(more.time),
  recipient: pickOrNull(more.recipient),
});

const inboundOf = ({
  each,
  from,
  to,
  id,
  time,
  charset,
  ...more
}: NonNullable<HttpFields["inbound"]>): HttpInbound => ({
  each: each ?? null,
  from: pickOf(from ?? {}),
  to: pickOf(to ?? {}),
  text: pickOf(more.text ?? {}),
  id: pickOrNull(id),
  time: pickOrNull(time),
  charset: pickOrNull(charset),
});

function proofOf(written: NonNullable<HttpFields["proof"]>, before: HttpProof): HttpProof {
  const all = { header: "", prefix: "", algorithm: "sha256", encoding: "hex", ...before, ...written } as const;
  const { kind, header, prefix, algorithm, encoding } = all;
  if (kind === "key") return { kind };
  return kind === "header" ? { kind, header, prefix } : { kind, header, prefix, algorithm, encoding };
}

/** Encrypts new secrets, keeps omitted ones, and generates the key of the callback URL if none was given. */
export function completeHttpConnection(
  read: ParsedHttpConnection,
  before: HttpConnectionSettings | null,
  factory: SecretFactory,
): HttpConnectionSettings {
  const { newSecrets: plain = {}, secrets: _, ...connection } = read;
  const kept = new Map(Object.entries(before && isSameHost(before.baseUrl, connection.baseUrl) ? before.secrets : {}));
  const secrets = new Map(kept);
  for (const [name, value] of Object.entries(plain)) {
    if (value === null) secrets.delete(name);
    else secrets.set(name, encryptSecret(value, kept.get(name), factory));
  }
  const takesCalls = connection.receipts !== null || connection.inbound !== null;
  if (takesCalls && !secrets.has(CALLBACK_SECRET)) {
    if (connection.proof.kind !== "key")
      refuse(`secrets.${CALLBACK_SECRET}`, "Give the secret that authenticates the provider's requests.");
    secrets.set(CALLBACK_SECRET, factory.encrypt(randomBytes(KEY_BYTES).toString("base64url")));
  }
  const last = kept.get(CALLBACK_SECRET);
  if (last !== undefined && last !== secrets.get(CALLBACK_SECRET) && !Object.hasOwn(plain, CALLBACK_SECRET_BEFORE))
    secrets.set(CALLBACK_SECRET_BEFORE, last);
  for (const name of secretsOf(connection))
    if (!secrets.has(name))
      refuse(`secrets.${name}`, "This secret is required again: it is only sent to the host it was given for.");
  return { ...connection, secrets: Object.fromEntries(secrets) };
}

/** Secrets used by the templates of a connection. */
function secretsOf({ path, headers, basicAuth, body }: HttpSettings): readonly string[] {
  const templates = [path, body, ...Object.values(headers), ...(basicAuth ? Object.values(basicAuth) : [])];
  return templates.flatMap((written) => [...written.matchAll(/\{\{secret:(\w+)\}\}/g)].map(([, name = ""]) => name));
}

function refuse(field: string, message: string): never {
  throw new Problem("INVALID_REQUEST", { faults: [{ parameter: `${PARAMETER}.${field}`, message }] });
}

/** Settings with the names of secrets only. Fields missing from an earlier release get their defaults. */
export function showHttpConnection(stored: HttpConnectionSettings): HttpSettings & { secretNames: readonly string[] } {
  const { secrets, ...connection } = stored;
  return { ...HTTP_DEFAULTS, ...connection, secretNames: Object.keys(secrets).toSorted() };
}

/** Providers of text messages that offer only HTTP. */
export const httpConnection: ConnectionType<HttpConnectionSettings> = {
  title: "HTTP",
  channels: ["sms"],
  requestSchema: httpRequestSchema,
  responseSchema: httpResponseSchema,
  read: parseHttpConnection,
  complete: completeHttpConnection,
  show: showHttpConnection,
};
