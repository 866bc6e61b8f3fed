import {
  CALLBACK_SECRET,
  echoesIdWithParts,
  type HttpConnectionSettings,
  type HttpPick,
  type HttpSettings,
} from "../../model/http-connection.ts";
import { PATH_RULE, PATTERN_RULE, readPath, readPattern } from "../../model/http-pick.ts";
import { compileTemplate, sampleFields, type Template, type TemplatePlace } from "../../model/http-template.ts";
import { BASE_URL_RULE, STATES_RULE } from "./http-connection-schema.ts";

/** Validated settings with new secrets not encrypted yet. */
export interface ParsedHttpConnection extends HttpConnectionSettings {
  newSecrets?: Readonly<Record<string, string | null>>;
}

type ReportFault = (field: string, message: string) => void;

/** Rules over several fields of a connection, as it would be after the request. */
export function checkHttpConnection(
  connection: ParsedHttpConnection,
  stored: HttpConnectionSettings | null,
  fault: ReportFault,
): void {
  if (connection.baseUrl === "") fault("baseUrl", BASE_URL_RULE);
  checkCallbackKey(connection, fault);
  checkTemplates(connection, heldSecrets(connection, stored), fault);
  checkAnswers(connection, fault);
  checkCalls(connection, fault);
}

const KEY = /^[A-Za-z0-9_-]{16,128}$/;

function checkCallbackKey({ proof, newSecrets = {} }: ParsedHttpConnection, fault: ReportFault): void {
  const key = newSecrets[CALLBACK_SECRET];
  if (proof.kind === "key" && typeof key === "string" && !KEY.test(key))
    fault(
      `secrets.${CALLBACK_SECRET}`,
      "This is part of a URL: use 16 to 128 letters, digits, dashes and underscores.",
    );
}

/** Secrets of the connection after the request. They are sent only to the host they were given for. */
function heldSecrets(
  { newSecrets: secrets = {}, baseUrl }: ParsedHttpConnection,
  stored: HttpConnectionSettings | null,
): Record<string, string> {
  const kept = stored && isSameHost(stored.baseUrl, baseUrl) ? stored.secrets : {};
  const all = { ...Object.fromEntries(Object.keys(kept).map((name) => [name, "kept"])), ...secrets };
  return Object.fromEntries(Object.entries(all).flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
}

/** True if secrets given for the first URL may be sent to the second. */
export const isSameHost = (before: string, after: string): boolean => {
  const origin = URL.parse(before)?.origin;
  return origin !== undefined && origin === URL.parse(after)?.origin;
};

const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
/** Headers set by the HTTP client itself. */
const OWN_HEADERS = new Set([
  "connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade",
]); // prettier-ignore

function checkTemplates(
  connection: ParsedHttpConnection,
  secrets: Readonly<Record<string, string>>,
  fault: ReportFault,
): void {
  const constants = {
    ...Object.fromEntries(Object.entries(connection.values).map(([name, value]) => [`value:${name}`, value])),
    ...Object.fromEntries(Object.entries(secrets).map(([name, value]) => [`secret:${name}`, value])),
  };
  const uses = new Set<string>();
  const compile: Compile = (field, written, place) => {
    let isSound = true;
    const template = compileTemplate(written, place, constants, (message) => {
      isSound = false;
      fault(field, message);
    });
    for (const name of template.uses) uses.add(name);
    return isSound ? template : null;
  };
  if (connection.path === "") fault("path", "path must begin with a slash.");
  compile("path", connection.path, "path");
  for (const [name, written] of Object.entries(connection.headers)) {
    if (!HEADER.test(name) || OWN_HEADERS.has(name.toLowerCase()))
      fault(`headers.${name}`, "A request may not set this header.");
    compile(`headers.${name}`, written, "header");
  }
  checkBasicAuth(connection, compile, fault);
  checkBody(connection, compile, fault);
  compile("callbackQuery", connection.callbackQuery, "query");
  if (connection.receipts && (connection.id === null || connection.receipts.id === null) && !uses.has("messageId"))
    fault("id", "Without the provider's ID, {{messageId}} must be sent and returned as receipts.ref.");
  if (connection.receipts && connection.id === null && connection.receipts.ref === null)
    fault("receipts.ref", "The response has no id, so receipts must return {{messageId}}: specify where.");
  if (connection.receipts?.ref && connection.receipts.id === null && echoesIdWithParts(connection))
    fault(
      "receipts.ref",
      "The response has one id per part, and {{messageId}} alone would apply a receipt of one part to all: specify receipts.id, or send {{messageId}} within {{!long}} and {{/long}} only.",
    );
}

/** Returns null if it reported a fault. */
type Compile = (field: string, written: string, place: TemplatePlace) => Template | null;

function checkBasicAuth({ basicAuth, headers }: HttpSettings, compile: Compile, fault: ReportFault): void {
  if (!basicAuth) return;
  compile("basicAuth.user", basicAuth.user, "constant");
  compile("basicAuth.password", basicAuth.password, "constant");
  if (basicAuth.user.replaceAll(/\{\{[^{}]*\}\}/g, "").includes(":"))
    fault("basicAuth.user", "A user name must not contain a colon.");
  if (Object.keys(headers).some((name) => name.toLowerCase() === "authorization"))
    fault("basicAuth", "There is already an authorization header: remove one of them.");
}

function checkBody({ method, bodyType, body }: HttpSettings, compile: Compile, fault: ReportFault): void {
  if (method === "GET" && bodyType !== "none") fault("bodyType", "A GET has no body: use POST, or none.");
  if (bodyType === "none") {
    if (body !== "") fault("body", "Specify the type of the body with bodyType: form, json or raw.");
    return;
  }
  const template = compile("body", body, bodyType);
  if (bodyType === "json" && template) checkJson(template, fault);
}

/**
 * Checks every combination of conditions: a surplus comma would otherwise fail only with the first message of that
 * kind.
 */
function checkJson(template: Template, fault: ReportFault): void {
  for (const fields of sampleFields()) {
    try {
      JSON.parse(template.render(fields));
    } catch {
      // `JSON.parse` is the only check for valid JSON.
      const shown = Object.entries(fields).flatMap(([name, value]) => (value === true ? [name] : []));
      return fault(
        "body",
        `This is not valid JSON for a message that is ${shown.join(", ") || "neither flash nor unicode"}.`,
      );
    }
  }
}

function checkAnswers({ success, id, errorCode, errors }: HttpSettings, fault: ReportFault): void {
  checkPick("success", success, fault, true);
  if (id) checkPick("id", id, fault);
  if (errorCode) checkPick("errorCode", errorCode, fault);
  errors.forEach((rule, index) => {
    const place = `errors[${index}]`;
    checkPick(place, rule, fault, true);
    if (rule.status === null && rule.path === null && rule.pattern === null && rule.equals === null)
      fault(place, "This matches every response: restrict it by status, path, pattern or equals.");
  });
}

function checkPick(field: string, { path, pattern }: HttpPick, fault: ReportFault, mayBeAll = false): void {
  if (path === null && pattern === null && !mayBeAll) fault(field, "Specify a path or a pattern.");
  if (path !== null && readPath(path) === null) fault(`${field}.path`, PATH_RULE);
  if (pattern !== null && readPattern(pattern) === null) fault(`${field}.pattern`, PATTERN_RULE);
}

function checkCalls({ proof, receipts, inbound }: HttpSettings, fault: ReportFault): void {
  if (proof.kind !== "key" && !HEADER.test(proof.header)) fault("proof.header", "Specify the header.");
  for (const [field, mapping] of Object.entries({ receipts, inbound })) {
    if (!mapping) continue;
    const { each, ...picks } = mapping;
    if (each !== null && readPath(each) === null) fault(`${field}.each`, PATH_RULE);
    for (const [name, pick] of Object.entries(picks as Record<string, HttpPick | null>))
      if (pick && name !== "states") checkPick(`${field}.${name}`, pick, fault);
  }
  if (!receipts) return;
  if (receipts.id === null && receipts.ref === null)
    fault("receipts", "A receipt must identify its message: specify id or ref.");
  if (Object.keys(receipts.states).length === 0) fault("receipts.states", STATES_RULE);
}
