import { randomBytes } from "node:crypto";
import { nullable } from "../../lib/nullable.ts";
import { isPlainText } from "../../lib/plain-text.ts";
import { Type, type Fields, type Schema } from "../../lib/schema.ts";
import {
  CALLBACK_SECRET,
  CALLBACK_SECRET_BEFORE,
  HTTP_BODY_TYPES,
  HTTP_DEFAULTS,
  HTTP_DIGEST_FORMS,
  HTTP_DIGESTS,
  HTTP_MEANINGS,
  HTTP_METHODS,
  HTTP_PRESETS,
  HTTP_PROOFS,
  HTTP_STATES,
  type HttpErrorRule,
  type HttpInbound,
  type HttpLine,
  type HttpPick,
  type HttpPresetName,
  type HttpProof,
  type HttpReceipts,
  type HttpSettings,
  type HttpSuccess,
} from "../../model/http-line.ts";
import { PATH_RULE, PATTERN_RULE, readPath, readPattern } from "../../model/http-pick.ts";
import { PRESETS } from "../../model/http-presets.ts";
import { compileTemplate, sampleFields, type Template, type TemplatePlace } from "../../model/http-template.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { misspelt } from "../misspelt.ts";
import type { Mint } from "../record-kind.ts";
import type { LineKind } from "./lines.ts";
import { sealed } from "./sealed.ts";
import { oneOf } from "./words.ts";

/** A path alone, or a pattern, or both. */
type GivenPick = string | Partial<HttpPick>;
type Picks<T> = { [K in keyof T]?: T[K] extends HttpPick | null ? GivenPick | null : T[K] };

/** A line as people give it: what is not given stays, or is the preset's, or has its default. */
export type HttpFields = Partial<
  Omit<HttpSettings, "success" | "id" | "errorCode" | "errors" | "proof" | "receipts" | "inbound"> & {
    success: Partial<HttpSuccess>;
    id: GivenPick | null;
    errorCode: GivenPick | null;
    errors: readonly (Partial<HttpErrorRule> & Pick<HttpErrorRule, "meaning">)[];
    proof: Partial<Omit<Extract<HttpProof, { kind: "hmac" }>, "kind"> & Pick<HttpProof, "kind">>;
    receipts: Picks<HttpReceipts> | null;
    inbound: Picks<HttpInbound> | null;
    /** Null takes one away. */
    secrets: Readonly<Record<string, string | null>>;
    /** Shown, and of no meaning where it is given. */
    secretNames: readonly string[];
  }
>;

/** A line as it was read, with the secrets that were given and are not sealed yet. */
export interface ReadHttpLine extends HttpLine {
  given?: Readonly<Record<string, string | null>>;
}

const PARAMETER = "http";
const TEMPLATE_MAX = 10_000;
const TEXT_MAX = 500;
const SECRET_MAX = 4000;
const LIST_MAX = 100;
const MAP_MAX = 1000;
const KEY_BYTES = 24;

const text = (maxLength: number, description: string): Schema => Type.String({ maxLength, description });
const words = (description: string): Schema => Type.Record(Type.String({ maxLength: TEXT_MAX }), { description });
const list = (description: string): Schema =>
  Type.Array(Type.String({ maxLength: TEXT_MAX }), { maxItems: LIST_MAX, description });

const pickFields = {
  path: nullable(text(TEXT_MAX, ""), "The field: like messages[0].id; null for the whole text."),
  pattern: nullable(text(TEXT_MAX, ""), "What is looked for there, like OK (*); null for all of it."),
};
const shownPick = Type.Object(pickFields);
const givenPick = Type.Union([text(TEXT_MAX, "A path."), Type.Partial(Type.Object(pickFields))]);
const told = (pick: Schema, description: string): Schema => ({ ...pick, description });
const equals = nullable(list(""), "The values that fit; null for any.");
const state = oneOf(HTTP_STATES, "");

const receiptFields = (pick: Schema): Fields => ({
  each: nullable(text(TEXT_MAX, ""), "Path of the list where a call tells of several messages; null for one."),
  id: nullable(pick, "The provider's id of the message; null where it has none."),
  ref: nullable(pick, "Where the provider gives {{messageId}} back, once for a whole message; null where it does not."),
  status: told(pick, "What became of the message, in the provider's words."),
  states: Type.Record(state, { description: "What the provider's words mean, by word." }),
  errorCode: nullable(pick, "The provider's code for what went wrong."),
  description: nullable(pick, "Its words for it; they are shown to whoever sent the message."),
  time: nullable(pick, "When it happened."),
  recipient: nullable(pick, "The phone."),
});
const inboundFields = (pick: Schema): Fields => ({
  each: nullable(text(TEXT_MAX, ""), "Path of the list where a call brings several texts; null for one."),
  from: told(pick, "The phone that sent it."),
  to: told(pick, "Our sender that it was sent to."),
  text: told(pick, "Its words."),
  id: nullable(pick, "By which a text that comes again is known; null where there is nothing."),
  time: nullable(pick, "When it was sent; with id, a text that comes again is known for certain."),
});
const PROOF = "How a call shows that it comes from the provider: by the secret named callback.";
const proofFields = {
  kind: oneOf(HTTP_PROOFS, "key: in our address; header: in a header; hmac: as a digest of the body, in a header."),
  header: text(100, "The header's name."),
  prefix: text(100, "What stands before it in the header, like sha256=."),
  algorithm: oneOf(HTTP_DIGESTS, "sha256 unless given."),
  encoding: oneOf(HTTP_DIGEST_FORMS, "hex unless given."),
};
const successFields = {
  statuses: list("Which statuses are a yes, like 2xx or 202."),
  ...pickFields,
  equals,
};
const errorFields = {
  status: nullable(text(3, ""), "Like 409 or 5xx; null for any."),
  ...pickFields,
  equals,
};
const meaning = oneOf(
  HTTP_MEANINGS,
  "retry, throttle (the line goes slower), refuse (the message's fault), carrier (another carrier is tried), stop (nothing goes until somebody helps) or unknown.",
);

const plainFields = {
  preset: nullable(
    oneOf(HTTP_PRESETS, ""),
    "A well-known request that fills in whatever is not given; null to write all of it.",
  ),
  baseUrl: text(TEXT_MAX, "Scheme and host, and a path where all of the API is below it. It has no placeholders."),
  method: oneOf(HTTP_METHODS, "POST unless given."),
  path: text(TEMPLATE_MAX, "Template of what follows the base: begins with a slash, and has the query."),
  headers: Type.Record(Type.String({ maxLength: TEXT_MAX }), { description: "Templates by name." }),
  basicAuth: nullable(
    Type.Object({ user: text(TEXT_MAX, "A template."), password: text(TEXT_MAX, "A template.") }),
    "User and password of basic authentication, like {{value:user}} and {{secret:password}}.",
  ),
  bodyType: oneOf(HTTP_BODY_TYPES, "none unless given; it decides how what stands in the body is escaped."),
  body: text(TEMPLATE_MAX, "Template of the body."),
  values: words("What is the same every time and no secret: {{value:name}} stands for it."),
  timeoutSeconds: Type.Integer({ minimum: 1, maximum: 60, description: "For the whole exchange; 15 unless given." }),
  requestsMax: Type.Integer({
    minimum: 1,
    maximum: 1000,
    description: "Requests under way at a time on each node; 10 unless given.",
  }),
  errorTexts: words("What the provider's error codes mean, by code: shown as statusDescription."),
  callbackQuery: text(TEXT_MAX, "Template of what {{callbackUrl}} has besides, like ref={{messageId}}."),
  answer: text(TEXT_MAX, "What a call is answered with; OK unless given."),
};

/** What an answer shows of a line. */
const httpShown = Type.Object({
  ...plainFields,
  success: Type.Object(successFields, { description: "Which answers are a yes." }),
  id: nullable(shownPick, "Where the answer has the provider's id; null where it has none."),
  errorCode: nullable(shownPick, "Where an answer that is no yes has the provider's code."),
  errors: Type.Array(Type.Object({ ...errorFields, meaning }), { description: "What answers mean that are no yes." }),
  proof: Type.Object(
    { ...Type.Partial(Type.Object(proofFields)).properties, kind: proofFields.kind },
    { description: PROOF },
  ),
  receipts: nullable(Type.Object(receiptFields(shownPick)), "Where calls have what became of a message."),
  inbound: nullable(Type.Object(inboundFields(shownPick)), "Where calls have what a phone sent."),
  secretNames: Type.Array(Type.String(), { description: "Which secrets there are. They are never shown themselves." }),
});

const given = {
  ...plainFields,
  success: Type.Partial(Type.Object(successFields), { description: "Which answers are a yes." }),
  id: nullable(givenPick, "Where the answer has the provider's id: a path, or {path, pattern}."),
  errorCode: nullable(givenPick, "Where an answer that is no yes has the provider's code."),
  errors: Type.Array(Type.Object({ ...Type.Partial(Type.Object(errorFields)).properties, meaning }), {
    maxItems: LIST_MAX,
    description: "What answers mean that are no yes. The first that fits decides; where none does, the status.",
  }),
  proof: Type.Partial(Type.Object(proofFields), { description: PROOF }),
  receipts: nullable(
    Type.Partial(Type.Object(receiptFields(givenPick))),
    "Where calls have what became of a message; null where none come.",
  ),
  inbound: nullable(
    Type.Partial(Type.Object(inboundFields(givenPick))),
    "Where calls have what a phone sent; null where none come.",
  ),
  secrets: Type.Record(nullable(Type.String({ minLength: 1, maxLength: SECRET_MAX }), ""), {
    description:
      "By name: {{secret:name}} stands for it. They are sealed, and never shown; null takes one away, and what is not given stays.",
  }),
  secretNames: Type.Array(Type.String(), { description: "Shown only." }),
};

/** What people give of a line. */
export const httpGiven = Type.Partial(Type.Object(given));

type Tell = (field: string, message: string) => void;

/** The line that somebody asks for; what is wrong with it goes to `faults`. */
export function readHttpLine(fields: HttpFields, known: HttpLine | null, faults: Fault[]): ReadHttpLine {
  const fault: Tell = (field, message) => void faults.push({ parameter: `${PARAMETER}.${field}`, message });
  for (const name of misspelt(fields, (field) => Object.hasOwn(given, field)))
    fault(name, "A line over HTTP has no such field.");
  const line: ReadHttpLine = {
    ...settingsOf(fields, known),
    secrets: known?.secrets ?? {},
    given: fields.secrets ?? {},
  };
  checkAddress(line, fault);
  checkSecrets(line, fault);
  checkTemplates(line, heldSecrets(line, known), fault);
  checkAnswers(line, fault);
  checkCalls(line, fault);
  return line;
}

function settingsOf(fields: HttpFields, known: HttpLine | null): HttpSettings {
  const { success, id, errorCode, errors, proof, receipts, inbound, ...plain } = fields;
  const before = settingsBefore(fields.preset, known);
  const own = Object.fromEntries(Object.entries(plain).filter(([name]) => Object.hasOwn(plainFields, name)));
  const settings: HttpSettings = { ...before, ...(own as Partial<HttpSettings>) };
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

/** Another preset begins anew: what is left of the last one would be a request that nobody knows. */
function settingsBefore(preset: HttpPresetName | null | undefined, known: HttpLine | null): HttpSettings {
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

const receiptsOf = ({ each, id, ref, status, states, ...more }: Picks<HttpReceipts>): HttpReceipts => ({
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

const inboundOf = ({ each, from, to, id, time, ...more }: Picks<HttpInbound>): HttpInbound => ({
  each: each ?? null,
  from: pickOf(from ?? {}),
  to: pickOf(to ?? {}),
  text: pickOf(more.text ?? {}),
  id: pickOrNull(id),
  time: pickOrNull(time),
});

function proofOf(written: NonNullable<HttpFields["proof"]>, before: HttpProof): HttpProof {
  const all = { header: "", prefix: "", algorithm: "sha256", encoding: "hex", ...before, ...written } as const;
  const { kind, header, prefix, algorithm, encoding } = all;
  if (kind === "key") return { kind };
  return kind === "header" ? { kind, header, prefix } : { kind, header, prefix, algorithm, encoding };
}

function checkAddress({ baseUrl }: HttpSettings, fault: Tell): void {
  const url = URL.parse(baseUrl);
  const isWeb = url !== null && (url.protocol === "https:" || url.protocol === "http:");
  if (!isWeb || url.username !== "" || url.password !== "" || /[?#{}\s\\]/.test(baseUrl))
    fault("baseUrl", "baseUrl is an address like https://api.provider.example, without placeholders, user or query.");
}

const NAME = /^[A-Za-z][A-Za-z0-9_]{0,49}$/;
const KEY = /^[A-Za-z0-9_-]{16,128}$/;

function checkSecrets({ values, proof, given: secrets = {}, errorTexts }: ReadHttpLine, fault: Tell): void {
  for (const [field, map] of Object.entries({ values, secrets }))
    for (const name of Object.keys(map))
      if (!NAME.test(name)) fault(field, "A name has letters and digits, begins with a letter, and has at most 50.");
  for (const [field, map] of Object.entries({ values, errorTexts })) {
    if (Object.keys(map).length > MAP_MAX) fault(field, `${field} has at most ${MAP_MAX} entries.`);
    for (const [name, value] of Object.entries(map))
      if (!isPlainText(value)) fault(`${field}.${name}`, "It is one line of plain text.");
  }
  const key = secrets[CALLBACK_SECRET];
  if (proof.kind === "key" && typeof key === "string" && !KEY.test(key))
    fault(`secrets.${CALLBACK_SECRET}`, "It stands in an address: 16 to 128 letters, digits, dashes and underscores.");
}

/** The secrets that the line would have. They go only to the host that they were given for. */
function heldSecrets({ given: secrets = {}, baseUrl }: ReadHttpLine, known: HttpLine | null): Record<string, string> {
  const kept = known && isSameHost(known.baseUrl, baseUrl) ? known.secrets : {};
  const all = { ...Object.fromEntries(Object.keys(kept).map((name) => [name, "kept"])), ...secrets };
  return Object.fromEntries(Object.entries(all).flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
}

const isSameHost = (before: string, after: string): boolean => {
  const origin = URL.parse(before)?.origin;
  return origin !== undefined && origin === URL.parse(after)?.origin;
};

const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
/** What the connection decides by itself. */
const OWN_HEADERS = new Set([
  "connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade",
]); // prettier-ignore

function checkTemplates(line: ReadHttpLine, secrets: Readonly<Record<string, string>>, fault: Tell): void {
  const constants = {
    ...Object.fromEntries(Object.entries(line.values).map(([name, value]) => [`value:${name}`, value])),
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
  if (!line.path.startsWith("/")) fault("path", "path begins with a slash.");
  compile("path", line.path, "path");
  for (const [name, written] of Object.entries(line.headers)) {
    if (!HEADER.test(name) || OWN_HEADERS.has(name.toLowerCase()))
      fault(`headers.${name}`, "This is no header that a request may set.");
    compile(`headers.${name}`, written, "header");
  }
  checkBasicAuth(line, compile, fault);
  checkBody(line, compile, fault);
  compile("callbackQuery", line.callbackQuery, "query");
  if (line.receipts && (line.id === null || line.receipts.id === null) && !uses.has("messageId"))
    fault("id", "Without the provider's id, {{messageId}} has to go along and come back as receipts.ref.");
  if (line.receipts && line.id === null && line.receipts.ref === null)
    fault("receipts.ref", "The answer has no id, so a receipt has to bring {{messageId}} back: say where.");
}

/** Null where there was something to tell of it. */
type Compile = (field: string, written: string, place: TemplatePlace) => Template | null;

function checkBasicAuth({ basicAuth, headers }: HttpSettings, compile: Compile, fault: Tell): void {
  if (!basicAuth) return;
  compile("basicAuth.user", basicAuth.user, "constant");
  compile("basicAuth.password", basicAuth.password, "constant");
  if (basicAuth.user.replaceAll(/\{\{[^{}]*\}\}/g, "").includes(":")) fault("basicAuth.user", "A user has no colon.");
  if (Object.keys(headers).some((name) => name.toLowerCase() === "authorization"))
    fault("basicAuth", "There is a header authorization already: take one of them away.");
}

function checkBody({ method, bodyType, body }: HttpSettings, compile: Compile, fault: Tell): void {
  if (method === "GET" && bodyType !== "none") fault("bodyType", "A GET has no body: use POST, or none.");
  if (bodyType === "none") {
    if (body !== "") fault("body", "Say with bodyType what the body is: form, json or raw.");
    return;
  }
  const template = compile("body", body, bodyType);
  if (bodyType === "json" && template) checkJson(template, fault);
}

/** A comma too many would show only when the first message of that kind is sent. */
function checkJson(template: Template, fault: Tell): void {
  for (const fields of sampleFields()) {
    try {
      JSON.parse(template.render(fields));
    } catch {
      // There is no other way to ask whether it is JSON.
      const shown = Object.entries(fields).flatMap(([name, value]) => (value === true ? [name] : []));
      return fault("body", `It is no JSON for a message that is ${shown.join(", ") || "neither flash nor unicode"}.`);
    }
  }
}

const STATUS = /^(?:[1-5]xx|[1-5]\d\d)$/;

function checkAnswers({ success, id, errorCode, errors }: HttpSettings, fault: Tell): void {
  const status = (field: string, written: string): void => {
    if (!STATUS.test(written)) fault(field, "A status is written like 202, or like 2xx for all of its kind.");
  };
  success.statuses.forEach((written, index) => status(`success.statuses[${index}]`, written));
  if (success.statuses.length === 0) fault("success.statuses", "Some status has to be a yes, like 2xx.");
  checkPick("success", success, fault, true);
  if (id) checkPick("id", id, fault);
  if (errorCode) checkPick("errorCode", errorCode, fault);
  errors.forEach((rule, index) => {
    const place = `errors[${index}]`;
    if (rule.status !== null) status(`${place}.status`, rule.status);
    checkPick(place, rule, fault, true);
    if (rule.status === null && rule.path === null && rule.pattern === null && rule.equals === null)
      fault(place, "It fits every answer: say which by status, path, pattern or equals.");
  });
}

function checkPick(field: string, { path, pattern }: HttpPick, fault: Tell, mayBeAll = false): void {
  if (path === null && pattern === null && !mayBeAll) fault(field, "Say where it stands, by a path or a pattern.");
  if (path !== null && readPath(path) === null) fault(`${field}.path`, PATH_RULE);
  if (pattern !== null && readPattern(pattern) === null) fault(`${field}.pattern`, PATTERN_RULE);
}

function checkCalls({ proof, receipts, inbound }: HttpSettings, fault: Tell): void {
  if (proof.kind !== "key" && !HEADER.test(proof.header)) fault("proof.header", "Say in which header it stands.");
  for (const [field, mapping] of Object.entries({ receipts, inbound })) {
    if (!mapping) continue;
    const { each, ...picks } = mapping;
    if (each !== null && readPath(each) === null) fault(`${field}.each`, PATH_RULE);
    for (const [name, pick] of Object.entries(picks as Record<string, HttpPick | null>))
      if (pick && name !== "states") checkPick(`${field}.${name}`, pick, fault);
  }
  if (!receipts) return;
  if (receipts.id === null && receipts.ref === null) fault("receipts", "A receipt names its message: give id, or ref.");
  const count = Object.keys(receipts.states).length;
  if (count === 0 || count > MAP_MAX) fault("receipts.states", `Say what the provider's words mean, 1 to ${MAP_MAX}.`);
}

/** Seals what was given, keeps what was not, and makes the key of the callback address where nobody gave one. */
export function completeHttpLine(read: ReadHttpLine, before: HttpLine | null, mint: Mint): HttpLine {
  const { given: plain = {}, secrets: _, ...line } = read;
  const kept = new Map(Object.entries(before && isSameHost(before.baseUrl, line.baseUrl) ? before.secrets : {}));
  const secrets = new Map(kept);
  for (const [name, value] of Object.entries(plain)) {
    if (value === null) secrets.delete(name);
    else secrets.set(name, sealed(value, kept.get(name), mint));
  }
  const takesCalls = line.receipts !== null || line.inbound !== null;
  if (takesCalls && !secrets.has(CALLBACK_SECRET)) {
    if (line.proof.kind !== "key")
      refuse(`secrets.${CALLBACK_SECRET}`, "give the secret by which calls show that they come from the provider.");
    secrets.set(CALLBACK_SECRET, mint.seal(randomBytes(KEY_BYTES).toString("base64url")));
  }
  const last = kept.get(CALLBACK_SECRET);
  if (last !== undefined && last !== secrets.get(CALLBACK_SECRET) && !Object.hasOwn(plain, CALLBACK_SECRET_BEFORE))
    secrets.set(CALLBACK_SECRET_BEFORE, last);
  for (const name of secretsOf(line))
    if (!secrets.has(name))
      refuse(`secrets.${name}`, "give it again: it is only ever sent to the host it was given for.");
  return { ...line, secrets: Object.fromEntries(secrets) };
}

/** The secrets that a line's templates name. */
function secretsOf({ path, headers, basicAuth, body }: HttpSettings): readonly string[] {
  const templates = [path, body, ...Object.values(headers), ...(basicAuth ? Object.values(basicAuth) : [])];
  return templates.flatMap((written) => [...written.matchAll(/\{\{secret:(\w+)\}\}/g)].map(([, name = ""]) => name));
}

function refuse(field: string, message: string): never {
  throw new Problem("INVALID_REQUEST", { faults: [{ parameter: `${PARAMETER}.${field}`, message }] });
}

/** A line without its secrets but for their names; one that an earlier release stored has the defaults of what it could not know. */
export function showHttpLine(stored: HttpLine): HttpSettings & { secretNames: readonly string[] } {
  const { secrets, ...line } = stored;
  return { ...HTTP_DEFAULTS, ...line, secretNames: Object.keys(secrets).toSorted() };
}

/** Text messages alone go to providers that offer only HTTP. */
export const httpLine: LineKind<HttpLine> = {
  title: "HTTP",
  channels: ["sms"],
  given: httpGiven,
  shown: httpShown,
  read: readHttpLine,
  complete: completeHttpLine,
  show: showHttpLine,
};
