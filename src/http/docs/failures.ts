import { Type } from "../../lib/schema.ts";
import { Problem, PROBLEMS, type Fault, type ProblemCode } from "../../model/problem.ts";
import { failureBody } from "../envelope.ts";
import { isPersonal, roleOf, type Family, type Route } from "../route.ts";

const TYPES = [...new Set(Object.values(PROBLEMS).map(({ type }) => type))];

const ErrorValue = Type.Object(
  {
    code: Type.String({ description: "Stable: branch on this. New codes may be added, none changes its meaning." }),
    type: Type.Union(
      TYPES.map((type) => Type.Literal(type)),
      { description: "The kind of failure, for code that does not know the `code`." },
    ),
    parameter: Type.Union([Type.String(), Type.Null()], {
      description: "The first field that is wrong, like `to[1]`; null when the failure is about no field.",
    }),
    message: Type.String({ description: "What is wrong, for people. It may change." }),
    reference: Type.String({ description: "The page of this code on this server: cause and fix." }),
    details: Type.Array(
      Type.Object({
        parameter: Type.String({ description: "Where it is." }),
        message: Type.String({ description: "What it needs." }),
      }),
      { description: "Every field that is wrong, all at once." },
    ),
    requestId: Type.String({
      description: "Also in the `request-id` header. The log has it: give it to the operator.",
    }),
    attemptsRemaining: Type.Optional(
      Type.Integer({ description: "Of a one-time password that was wrong: how often it may still be tried." }),
    ),
  },
  { title: "Error" },
);

const SendFailure = Type.Object(
  {
    id: Type.Null({ description: "Always null." }),
    data: Type.Array(Type.Unknown(), { maxItems: 0, description: "Always empty." }),
    totalCount: Type.Literal(0, { description: "Always 0." }),
    message: Type.String({ description: "The failure in words." }),
    error: ErrorValue,
  },
  { title: "SendFailure" },
);

const OtpFailure = Type.Object(
  {
    data: Type.Union([Type.String(), Type.Null()], {
      description: "The `verifyId` that was submitted, where it was one; else null.",
    }),
    message: Type.String({ description: "The failure in words." }),
    error: ErrorValue,
  },
  { title: "OtpFailure" },
);

const PlainFailure = Type.Object(
  { message: Type.String({ description: "The failure in words." }), error: ErrorValue },
  { title: "Failure" },
);

/** The shape of a failure, by family. */
export const FAILURE_SCHEMAS = { send: SendFailure, otp: OtpFailure, plain: PlainFailure } as const satisfies Record<
  Family,
  object
>;

const WITH_BODY = ["INVALID_JSON", "INVALID_REQUEST", "BODY_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"] as const;
const WITH_KEY = [
  "UNAUTHORIZED",
  "INSUFFICIENT_SCOPE",
  "IP_NOT_ALLOWED",
  "ACCOUNT_SUSPENDED",
  "RATE_LIMITED",
  "STORAGE_UNAVAILABLE",
] as const;
const WITH_SESSION = ["LOGIN_REQUIRED", "STORAGE_UNAVAILABLE"] as const;
const WITH_IDEMPOTENCY = ["IDEMPOTENCY_IN_PROGRESS", "IDEMPOTENCY_MISMATCH"] as const;

/** No operation has these: they answer for paths and methods that are none. */
export const WITHOUT_OPERATION: readonly ProblemCode[] = ["ROUTE_NOT_FOUND", "METHOD_NOT_ALLOWED"];

/** Everything an operation can answer instead of a success, in the order of the registry. */
export function problemsOf(route: Route): ProblemCode[] {
  const possible = new Set<ProblemCode>([
    ...(route.body ? WITH_BODY : []),
    ...(route.query ? (["INVALID_REQUEST"] as const) : []),
    ...(route.scope === null ? [] : WITH_KEY),
    ...sessionProblems(route),
    ...(takesIdempotencyKey(route) ? WITH_IDEMPOTENCY : []),
    ...(route.problems ?? []),
    "INTERNAL",
  ]);
  return codes().filter((code) => possible.has(code));
}

/** What can be wrong with a person's request. Under `/v1` it is left out: what stands there is read by those who write programs. */
function sessionProblems(route: Route): readonly ProblemCode[] {
  const changes = route.method === "GET" ? [] : (["CSRF_REFUSED"] as const);
  if (isPersonal(route)) return [...WITH_SESSION, ...changes];
  if (route.scope === null || !route.path.startsWith("/api/")) return [];
  const forSome = roleOf(route) === "viewer" ? [] : (["INSUFFICIENT_ROLE"] as const);
  return [...WITH_SESSION, ...changes, ...forSome, "PASSWORD_CHANGE_REQUIRED"];
}

export const takesIdempotencyKey = (route: Route): boolean => "Idempotency-Key" in (route.headers ?? {});

export const codes = (): ProblemCode[] => Object.keys(PROBLEMS) as ProblemCode[];

/** Fields to show in the example of a code that names fields. */
const SAMPLE_FAULTS: Partial<Record<ProblemCode, readonly Fault[]>> = {
  INVALID_REQUEST: [
    { parameter: "sender", message: "Give the sender as a string: an alphanumeric sender id or a number." },
    { parameter: "type", message: "type is one of TRANS, PROMO or OTP; write it as TRANS." },
  ],
  INVALID_RECIPIENT: [
    {
      parameter: "to",
      message: "Write the number internationally: country code first, 7 to 15 digits, with or without a plus.",
    },
  ],
  MESSAGE_TOO_LONG: [
    {
      parameter: "text",
      message: "The text has 1912 characters in 13 segments; at most 1600 characters and 12 segments are sent.",
    },
  ],
  OTP_INCORRECT: [{ parameter: "otp", message: "This is not the code that was sent. 4 tries are left." }],
  OTP_SEND_LIMIT: [
    { parameter: "to", message: "A code was sent to this number a moment ago. Try again in 24 seconds." },
  ],
  TOO_MANY_RECIPIENTS: [{ parameter: "to", message: "1200 recipients; a request takes at most 1000." }],
};

const SAMPLE_REQUEST_ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";

/** An answer with that code, made by the code that makes the real ones. */
export const sampleFailure = (code: ProblemCode, family: Family, baseUrl: string): object =>
  failureBody(
    new Problem(code, {
      faults: SAMPLE_FAULTS[code] ?? [],
      ...(code === "OTP_INCORRECT" && { echo: SAMPLE_REQUEST_ID, facts: { attemptsRemaining: 4 } }),
    }),
    family,
    baseUrl,
    SAMPLE_REQUEST_ID,
  );
