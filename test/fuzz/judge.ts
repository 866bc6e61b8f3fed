import { Compile, type Validator } from "typebox/compile";
import { SENT_MESSAGE, type ErrorValue } from "../../src/http/envelope.ts";
import type { Family } from "../../src/http/route.ts";
import { ROUTES } from "../../src/http/routes.ts";
import type { Schema } from "../../src/lib/schema.ts";
import { PROBLEMS } from "../../src/model/problem.ts";
import type { FuzzRequest } from "./requests.ts";

export interface FuzzAnswer {
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
/** The fields of a failure, by family. */
const SHAPES: Record<Family, string> = {
  send: "data,error,id,message,totalCount",
  otp: "data,error,message",
  plain: "error,message",
};
const familyOf = (path: string): Family =>
  SEND_PATHS.has(path) ? "send" : (ROUTES.find((route) => route.path === path)?.family ?? "plain");
/** Node refuses these by itself, before there is a request to answer. */
const BARE = new Set([400, 408, 417, 431]);

const PAGES = /^\/(?:docs|s\/|[^/]*$)/;

/** What is wrong with an answer; empty when nothing is. */
export function judge(request: FuzzRequest, answer: FuzzAnswer): string[] {
  const { status } = answer;
  if (status >= 500) return [`a ${status}`];
  if (request.method === "HEAD") return answer.body === "" ? [] : ["an answer to HEAD with a body"];
  const isSend = SEND_PATHS.has(pathOf(request));
  if (isSend && request.method !== "POST") return [...judgeRefusal(request, answer), ...judgeMethodRefusal(answer)];
  if (status >= 400) return [...judgeRefusal(request, answer), ...judgeDetails(request, answer)];
  const faults = judgeSchema(request);
  if (isSend) faults.push(...judgeEnvelope(request, answer));
  return faults;
}

export const pathOf = ({ path }: Pick<FuzzRequest, "path">): string => path.split("?", 1)[0] ?? "";

function judgeMethodRefusal({ status, headers }: FuzzAnswer): string[] {
  // Whoever has no key does not learn the method either, and that is fine.
  return status === 405 && headers["allow"] === "POST" ? [] : [`a ${status} where 405 with Allow: POST is due`];
}

function judgeRefusal(request: FuzzRequest, { status, headers, body }: FuzzAnswer): string[] {
  if (body === "" && BARE.has(status) && headers["connection"] === "close") return [];
  // The reference is for people, and so are short links.
  if (String(headers["content-type"]).startsWith("text/html") && PAGES.test(pathOf(request))) return [];
  const parsed = parse(body);
  if (!isRecord(parsed)) return [`a ${status} whose body is no JSON object`];
  const faults: string[] = [];
  const wanted = SHAPES[familyOf(pathOf(request))];
  if (keysOf(parsed) !== wanted) faults.push(`a refusal with the fields ${keysOf(parsed)}`);
  if (
    wanted === SHAPES.send &&
    (parsed["id"] !== null || JSON.stringify(parsed["data"]) !== "[]" || parsed["totalCount"] !== 0)
  )
    faults.push("a refused send whose envelope is not empty");
  return [...faults, ...judgeError(status, headers, parsed)];
}

function judgeError(status: number, headers: FuzzAnswer["headers"], parsed: Record<string, unknown>): string[] {
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
  if (typeof message !== "string" || message === "") faults.push("a refusal without words");
  if (!Array.isArray(details) || details.some((detail) => keysOf(detail) !== "message,parameter"))
    faults.push("details of another shape");
  if (parameter !== (details[0]?.parameter ?? null)) faults.push("a parameter that is not the first of the details");
  if (requestId !== headers["request-id"]) faults.push("a requestId that is not that of the header");
  if (!reference.endsWith(`/docs/errors/${code}`)) faults.push("a reference that leads elsewhere");
  if (status === 429 && !/^\d+$/.test(String(headers["retry-after"]))) faults.push("a 429 without Retry-After");
  if (status === 405 && !headers["allow"]) faults.push("a 405 without Allow");
  return faults;
}

function judgeEnvelope(request: FuzzRequest, { status, body }: FuzzAnswer): string[] {
  const parsed = parse(body);
  if (status !== 200 || !isRecord(parsed)) return [`a ${status} whose body is no envelope`];
  const { id, data, totalCount, message, error, unicode, flash } = parsed as unknown as Envelope;
  const sent = (parse(request.body?.toString("utf8") ?? "") ?? {}) as Record<string, unknown>;
  const wanted = [
    "id",
    "data",
    "totalCount",
    "message",
    "error",
    ...["unicode", "flash"].filter((field) => field in sent),
  ];
  const faults: string[] = [];
  if (keysOf(parsed) !== wanted.toSorted().join()) faults.push(`an envelope with the fields ${keysOf(parsed)}`);
  if (unicode !== sent["unicode"] || flash !== sent["flash"]) faults.push("an echo that differs from what was sent");
  if (message !== SENT_MESSAGE || error !== null) faults.push("a success with other words");
  if (totalCount !== data.length || data.length === 0) faults.push("a totalCount that does not count");
  if (data.some((record) => keysOf(record) !== "messageId,recipient")) faults.push("a record of another shape");
  if (data.some(({ messageId }, index) => messageId !== `${id}:${index + 1}`))
    faults.push("a messageId of another shape");
  return faults;
}

const validators = new Map<Schema, Validator>(
  ROUTES.flatMap(({ body }) => (body ? [[body, Compile(body)] as const] : [])),
);

/** What the published schema refuses, the server refuses too. */
function judgeSchema({ route, body }: FuzzRequest): string[] {
  if (!route?.body || body === null || body.length === 0) return [];
  return validators.get(route.body)?.Check(parse(body.toString("utf8")))
    ? []
    : ["a body was taken that its schema refuses"];
}

/** Every fault names a field that is in the body, or one that could be. */
function judgeDetails({ route, body }: FuzzRequest, answer: FuzzAnswer): string[] {
  const parsed = parse(answer.body) as { error?: ErrorValue } | undefined;
  const sent = parse(body?.toString("utf8") ?? "");
  if (!route?.body || parsed?.error?.code === "INSUFFICIENT_SCOPE") return [];
  const fields = Object.keys((route.body as { properties?: object }).properties ?? {});
  const elsewhere = new Set([...(route.path.match(/(?<=:)\w+/g) ?? []), ...Object.keys(route.query ?? {})]);
  return (parsed?.error?.details ?? [])
    .filter(({ parameter }) => parameter !== "Idempotency-Key" && !elsewhere.has(parameter))
    .filter(({ parameter }) => !names(parameter, sent, fields))
    .map(({ parameter }) => `a fault with ${JSON.stringify(parameter)}, which the body does not have`);
}

/** `quietHours.from` or `recipients[1].custom[0]`: its first part is a field, and every place is within its list. */
function names(parameter: string, sent: unknown, fields: readonly string[]): boolean {
  if (parameter === "") return !isRecord(sent);
  const [first = "", ...parts] = parameter.match(/[^.[\]]+/g) ?? [];
  const isSent = isRecord(sent) && Object.hasOwn(sent, first);
  if (!isSent) return fields.includes(first) && parts.every((part) => !/^\d+$/.test(part));
  let value: unknown = sent[first];
  for (const part of parts) {
    // Several recipients can come as one string.
    const list = typeof value === "string" ? value.split(",") : value;
    if (/^\d+$/.test(part) && !(Array.isArray(list) && Number(part) < list.length)) return false;
    value = (list as Record<string, unknown> | null | undefined)?.[part];
  }
  return true;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // No JSON is as good an answer as any: the caller sees undefined.
    return undefined;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const keysOf = (value: object): string => Object.keys(value).toSorted().join();
