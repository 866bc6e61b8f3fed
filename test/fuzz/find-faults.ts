import { Compile, type Validator } from "typebox/compile";
import { SENT_MESSAGE, type ErrorValue } from "../../src/http/envelope.ts";
import type { Family } from "../../src/http/route.ts";
import { ROUTES } from "../../src/http/routes.ts";
import type { Schema } from "../../src/lib/schema.ts";
import { PROBLEMS } from "../../src/model/problem.ts";
import type { FuzzRequest } from "./requests.ts";

export interface FuzzResponse {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
}

export interface Envelope {
  id: string | null;
  data: { recipient: string; messageId: string }[];
  totalCount: number;
  message: string;
  error: ErrorValue | null;
  unicode?: number;
  flash?: number;
}

const SEND = "/v1/sms";
const SEND_PATHS = new Set([SEND, "/v1/%73ms"]);
/** Field names of an error response, by response family. */
const SHAPES: Record<Family, string> = {
  send: "data,error,id,message,totalCount",
  otp: "data,error,message",
  plain: "error,message",
};
const PATTERNS = ROUTES.map(({ method, path, family }) => ({
  method,
  family,
  pattern: new RegExp(`^${path.replaceAll(/:\w+(?:\(.*?\))?/g, "[^/]+")}$`),
}));

/** The families that may answer: that of the route, or those of every route with this path where the method has none. */
function shapesOf(request: FuzzRequest): string[] {
  const path = pathOf(request);
  if (SEND_PATHS.has(path)) return [SHAPES.send];
  const matching = PATTERNS.filter(({ pattern }) => pattern.test(path));
  const ofMethod = matching.filter(({ method }) => method === request.method);
  const shapes = (ofMethod.length > 0 ? ofMethod : matching).map(({ family }) => SHAPES[family]);
  return shapes.length > 0 ? shapes : [SHAPES.plain];
}
/** Node's HTTP parser answers with these before there is a request. */
const BARE = new Set([400, 408, 417, 431]);

const PAGES = /^\/(?:docs|s\/|[^/]*$)/;

/** Returns the faults of a response. */
export function findFaults(request: FuzzRequest, answer: FuzzResponse): string[] {
  const { status } = answer;
  if (status >= 500) return [`a ${status}`];
  if (request.method === "HEAD") return answer.body === "" ? [] : ["an answer to HEAD with a body"];
  const isSend = SEND_PATHS.has(pathOf(request));
  if (isSend && request.method !== "POST") return [...checkRefusal(request, answer), ...checkMethodRefusal(answer)];
  if (status >= 400) return [...checkRefusal(request, answer), ...checkDetails(request, answer)];
  const faults = checkSchema(request);
  if (isSend) faults.push(...checkEnvelope(request, answer));
  return faults;
}

export const pathOf = ({ path }: Pick<FuzzRequest, "path">): string => path.split("?", 1)[0] ?? "";

function checkMethodRefusal({ status, headers }: FuzzResponse): string[] {
  // The method is checked before the key, so this also holds for requests without a valid key.
  return status === 405 && headers["allow"] === "POST" ? [] : [`a ${status} where 405 with Allow: POST is due`];
}

function checkRefusal(request: FuzzRequest, { status, headers, body }: FuzzResponse): string[] {
  if (body === "" && BARE.has(status) && headers["connection"] === "close") return [];
  // The API reference and short links answer people with HTML.
  if (String(headers["content-type"]).startsWith("text/html") && PAGES.test(pathOf(request))) return [];
  const parsed = parse(body);
  if (!isRecord(parsed)) return [`a ${status} whose body is no JSON object`];
  const faults: string[] = [];
  const shape = keysOf(parsed);
  if (!shapesOf(request).includes(shape)) faults.push(`a refusal with the fields ${shape}`);
  if (
    shape === SHAPES.send &&
    (parsed["id"] !== null || JSON.stringify(parsed["data"]) !== "[]" || parsed["totalCount"] !== 0)
  )
    faults.push("a refused send whose envelope is not empty");
  return [...faults, ...checkError(status, headers, parsed)];
}

function checkError(status: number, headers: FuzzResponse["headers"], parsed: Record<string, unknown>): string[] {
  const { error, message } = parsed;
  if (!isRecord(error)) return ["a refusal without an error"];
  if (keysOf(error).replace(/^attemptsRemaining,/, "") !== "code,details,message,parameter,reference,requestId,type")
    return [`an error with the fields ${keysOf(error)}`];
  const { code, type, parameter, details, requestId, reference } = error as unknown as ErrorValue;
  const entry = Object.hasOwn(PROBLEMS, code) ? PROBLEMS[code as keyof typeof PROBLEMS] : null;
  if (!entry) return [`an error code that is in no table: ${code}`];
  const faults: string[] = [];
  if (entry.status !== status) faults.push(`${code} with status ${status}`);
  if (entry.type !== type) faults.push(`${code} with type ${type}`);
  if (typeof message !== "string" || message === "") faults.push("a refusal without a message");
  if (!Array.isArray(details) || details.some((detail) => keysOf(detail) !== "message,parameter"))
    faults.push("details of another shape");
  if (parameter !== (details[0]?.parameter ?? null)) faults.push("a parameter that is not the first of the details");
  if (requestId !== headers["request-id"]) faults.push("a requestId that is not that of the header");
  if (!reference.endsWith(`/docs/errors/${code}`)) faults.push("a reference that leads elsewhere");
  if (status === 429 && !/^\d+$/.test(String(headers["retry-after"]))) faults.push("a 429 without Retry-After");
  if (status === 405 && !headers["allow"]) faults.push("a 405 without Allow");
  return faults;
}

function checkEnvelope(request: FuzzRequest, { status, body }: FuzzResponse): string[] {
  const parsed = parse(body);
  if (status !== 200 || !isRecord(parsed)) return [`a ${status} whose body is no envelope`];
  const { id, data, totalCount, message, error, unicode, flash } = parsed as unknown as Envelope;
  const sent = (parse(request.body?.toString("utf8") ?? "") ?? {}) as Record<string, unknown>;
  const expected = [
    "id",
    "data",
    "totalCount",
    "message",
    "error",
    ...["unicode", "flash"].filter((field) => field in sent),
  ];
  const faults: string[] = [];
  if (keysOf(parsed) !== expected.toSorted().join()) faults.push(`an envelope with the fields ${keysOf(parsed)}`);
  if (unicode !== sent["unicode"] || flash !== sent["flash"]) faults.push("an echo that differs from what was sent");
  if (message !== SENT_MESSAGE || error !== null) faults.push("a success with another message");
  if (totalCount !== data.length || data.length === 0) faults.push("a totalCount that does not count");
  if (data.some((record) => keysOf(record) !== "messageId,recipient")) faults.push("a record of another shape");
  if (data.some(({ messageId }, index) => messageId !== `${id}:${index + 1}`))
    faults.push("a messageId of another shape");
  return faults;
}

const validators = new Map<Schema, Validator>(
  ROUTES.flatMap(({ body }) => (body ? [[body, Compile(body)] as const] : [])),
);

/** A body that the published schema rejects must not be accepted. */
function checkSchema({ route, body }: FuzzRequest): string[] {
  if (!route?.body || body === null || body.length === 0) return [];
  return validators.get(route.body)?.Check(parse(body.toString("utf8")))
    ? []
    : ["accepted a body that its schema rejects"];
}

/** Headers that an error may name as its parameter. */
const HEADERS = new Set(["Idempotency-Key", "Content-Type", "Content-Encoding"]);

/** The parameter of every error detail must be a field of the body or of its schema. */
function checkDetails({ route, body }: FuzzRequest, answer: FuzzResponse): string[] {
  const parsed = parse(answer.body) as { error?: ErrorValue } | undefined;
  const sent = parse(body?.toString("utf8") ?? "");
  if (!route?.body || parsed?.error?.code === "INSUFFICIENT_SCOPE") return [];
  const fields = Object.keys((route.body as { properties?: object }).properties ?? {});
  const elsewhere = new Set([...(route.path.match(/(?<=:)\w+/g) ?? []), ...Object.keys(route.query ?? {})]);
  return (parsed?.error?.details ?? [])
    .filter(({ parameter }) => !HEADERS.has(parameter) && !elsewhere.has(parameter))
    .filter(({ parameter }) => !isFieldPath(parameter, sent, fields))
    .map(({ parameter }) => `a fault with ${JSON.stringify(parameter)}, which the body does not have`);
}

/**
 * Checks a path such as `quietHours.from` or `recipients[1].custom[0]`: the first part is a field, and every index is
 * within its array.
 */
function isFieldPath(parameter: string, sent: unknown, fields: readonly string[]): boolean {
  if (parameter === "") return !isRecord(sent);
  const [first = "", ...parts] = parameter.match(/[^.[\]]+/g) ?? [];
  const isSent = isRecord(sent) && Object.hasOwn(sent, first);
  if (!isSent) return fields.includes(first) && parts.every((part) => !/^\d+$/.test(part));
  let value: unknown = sent[first];
  for (const part of parts) {
    // Several recipients may be one comma-separated string.
    const list = typeof value === "string" ? value.split(",") : value;
    if (/^\d+$/.test(part) && !Object.hasOwn(list ?? {}, part)) return false;
    value = (list as Record<string, unknown> | null | undefined)?.[part];
  }
  return true;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller treats undefined as invalid JSON.
    return undefined;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const keysOf = (value: object): string => Object.keys(value).toSorted().join();
