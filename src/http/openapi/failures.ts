import { Type } from "../../lib/schema.ts";
import { Problem, PROBLEMS, type Fault, type ProblemCode } from "../../model/problem.ts";
import { errorBody } from "../envelope.ts";
import { isPersonal, roleOf, type Family, type Route } from "../route.ts";

const TYPES = [...new Set(Object.values(PROBLEMS).map(({ type }) => type))];

const ErrorValue = Type.Object(
  {
    code: Type.String({
      description: "Stable error code: branch on this. Codes may be added but do not change their meaning.",
    }),
    type: Type.Union(
      TYPES.map((type) => Type.Literal(type)),
      { description: "Category of the error, for clients that do not know the `code`." },
    ),
    parameter: Type.Union([Type.String(), Type.Null()], {
      description: "First invalid field, such as `to[1]`; null if the error is not about a field.",
    }),
    message: Type.String({ description: "Human-readable description. It may change." }),
    reference: Type.String({ description: "URL of the page about this code on this server, with cause and fix." }),
    details: Type.Array(
      Type.Object({
        parameter: Type.String({ description: "Path of the field." }),
        message: Type.String({ description: "Requirement of the field." }),
      }),
      { description: "All invalid fields." },
    ),
    requestId: Type.String({
      description: "Request ID, also in the `request-id` header and in the server log. Give it to the operator.",
    }),
    attemptsRemaining: Type.Optional(Type.Integer({ description: "Attempts left after a wrong one-time password." })),
  },
  { title: "Error" },
);

const SendFailure = Type.Object(
  {
    id: Type.Null({ description: "Always null." }),
    data: Type.Array(Type.Unknown(), { maxItems: 0, description: "Always empty." }),
    totalCount: Type.Literal(0, { description: "Always 0." }),
    message: Type.String({ description: "Error message." }),
    error: ErrorValue,
  },
  { title: "SendFailure" },
);

const OtpFailure = Type.Object(
  {
    data: Type.Union([Type.String(), Type.Null()], {
      description: "`verifyId` of the request, if it had one; otherwise null.",
    }),
    message: Type.String({ description: "Error message." }),
    error: ErrorValue,
  },
  { title: "OtpFailure" },
);

const PlainFailure = Type.Object(
  { message: Type.String({ description: "Error message." }), error: ErrorValue },
  { title: "Failure" },
);

/** Error schemas by response family. */
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
/** Errors of lists and statistics. */
const WITH_QUERY = ["QUERY_TIMED_OUT", "QUERY_QUEUE_FULL"] as const;
const WITH_SESSION = ["LOGIN_REQUIRED", "STORAGE_UNAVAILABLE"] as const;
const WITH_IDEMPOTENCY = ["IDEMPOTENCY_IN_PROGRESS", "IDEMPOTENCY_MISMATCH"] as const;

/** Codes without an operation: responses to unsupported methods. */
export const WITHOUT_OPERATION: readonly ProblemCode[] = ["METHOD_NOT_ALLOWED"];

/** All error codes of an operation, in the order of the registry. */
export function problemsOf(route: Route): ProblemCode[] {
  const possible = new Set<ProblemCode>([
    ...(route.body ? WITH_BODY : []),
    ...(route.query ? (["INVALID_REQUEST"] as const) : []),
    ...(route.scope === null ? [] : WITH_KEY),
    ...(route.scope !== null && route.method === "GET" && route.query ? WITH_QUERY : []),
    ...(route.scope !== null && !isPersonal(route) && route.testKeys === null
      ? (["TEST_KEY_NOT_ALLOWED"] as const)
      : []),
    ...sessionProblems(route),
    ...(takesIdempotencyKey(route) ? WITH_IDEMPOTENCY : []),
    ...(route.problems ?? []),
    "INTERNAL",
  ]);
  return codes().filter((code) => possible.has(code));
}

/** Errors of session requests. Omitted under `/v1`, which is documented for programs. */
function sessionProblems(route: Route): readonly ProblemCode[] {
  const changes = route.method === "GET" ? [] : (["CSRF_REFUSED"] as const);
  if (isPersonal(route)) return [...WITH_SESSION, ...changes];
  if (route.scope === null || !route.path.startsWith("/api/")) return [];
  const forSome = roleOf(route) === "viewer" ? [] : (["INSUFFICIENT_ROLE"] as const);
  return [...WITH_SESSION, ...changes, ...forSome, "PASSWORD_CHANGE_REQUIRED"];
}

export const takesIdempotencyKey = (route: Route): boolean => "Idempotency-Key" in (route.headers ?? {});

export const codes = (): ProblemCode[] => Object.keys(PROBLEMS) as ProblemCode[];

/** Sample faults for codes that name fields. */
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

/** Sample error response, built by the code that builds real ones. */
export const sampleFailure = (code: ProblemCode, family: Family, baseUrl: string): object =>
  errorBody(
    new Problem(code, {
      faults: SAMPLE_FAULTS[code] ?? [],
      ...(code === "OTP_INCORRECT" && { echo: SAMPLE_REQUEST_ID, facts: { attemptsRemaining: 4 } }),
    }),
    family,
    baseUrl,
    SAMPLE_REQUEST_ID,
  );
