import { heldProblem } from "../../model/hold.ts";
import { Type } from "../../lib/schema.ts";
import { Problem } from "../../model/problem.ts";
import { isUuid } from "../../lib/ids.ts";
import { stateAt, VERIFICATION_STATES, type SourcedVerification } from "../../model/verification.ts";
import { checkOtp } from "../../otp/check.ts";
import { generateOtp } from "../../otp/generate.ts";
import { recordOutcome } from "../../otp/outcome.ts";
import { generateBody, outcomeBody, validateBody } from "../../model/verify-bodies.ts";
import { readGenerate, readOutcome, readValidate } from "../../otp/read.ts";
import { refuseMissingScope } from "../auth/authenticate.ts";
import { OTP_GENERATED, OTP_OUTCOME, OTP_VERIFIED, otpEnvelope } from "../envelope.ts";
import { SOURCE_FIELDS, sourceView } from "../verification-source.ts";
import { keyedRoute, type KeyedRoute, type SendRoute } from "../route.ts";
import { onceByKey, SEND_DESCRIPTION, SEND_HEADERS } from "./send.ts";

const PATH = "/v1/verify";
const EXAMPLE_ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";

const envelope = (message: string, title: string) =>
  Type.Object(
    {
      data: Type.String({ format: "uuid", description: "The verify id." }),
      error: Type.Null({ description: "null on success." }),
      message: Type.Literal(message, { description: "The outcome in words." }),
    },
    { title },
  );

/** `POST /v1/verify`: generates a code and delivers it. Next: src/otp/read.ts */
export const sendOtp: SendRoute = {
  fastPath: true,
  method: "POST",
  path: PATH,
  family: "otp",
  scope: "verify",
  testKeys: "verify",
  group: "Verification",
  summary: "Send a one-time password",
  description:
    "Makes a code, sends it to the phone by the channels of the configuration, and answers with the id to verify it by. " +
    "A product that makes its own codes gives `code`, and `mode` where it also checks them. " +
    `A new code ends the one before it for the same number and configuration. ${SEND_DESCRIPTION}`,
  headers: SEND_HEADERS,
  problems: [
    "INVALID_RECIPIENT",
    "CONFIG_NOT_FOUND",
    "COUNTRY_NOT_ALLOWED",
    "RECIPIENT_BLOCKED",
    "SENDER_NOT_REGISTERED",
    "TEMPLATE_NOT_FOUND",
    "BOT_NOT_FOUND",
    "INSUFFICIENT_CREDITS",
    "OTP_SEND_LIMIT",
    "OVERLOADED",
    "SERVICE_HELD",
    "STORAGE_FULL",
  ],
  body: generateBody,
  checkBody: false,
  requestExamples: {
    "sign in": { configId: "default", to: "15550100100" },
    "a code of your own": { configId: "default", to: "15550100101", code: "739204" },
    "a code that your product checks": { configId: "default", to: "15550100102", code: "739204", mode: "deliver" },
  },
  response: envelope(OTP_GENERATED, "OtpGenerated"),
  responseExample: { data: EXAMPLE_ID, message: OTP_GENERATED, error: null },
  handle: onceByKey(PATH, async ({ otpDeps }, { body, caller, setHeader }, idempotency, arrivedAt) => {
    const { account, key } = caller;
    const draft = readGenerate(body, account.settings);
    if (draft.code !== null) refuseMissingScope(key, "verify:custom");
    const { answer, replayed, noted } = await generateOtp(otpDeps, {
      account,
      test: key.mode === "test",
      draft,
      idempotency,
      arrivedAt,
      answer: (verifyId) => otpEnvelope(verifyId, OTP_GENERATED),
    });
    if (noted !== "") setHeader("heliograph-would-refuse", noted);
    if (replayed) setHeader("idempotent-replayed", "true");
    return { text: answer };
  }),
};

/** `POST /v1/verify/validate`: checks a code. Next: src/otp/check.ts */
export const validateOtp: SendRoute = {
  fastPath: true,
  method: "POST",
  path: `${PATH}/validate`,
  family: "otp",
  scope: "verify",
  testKeys: "verify",
  group: "Verification",
  summary: "Verify a one-time password",
  description:
    "Tries the code that the user typed. It is good once: of any number of requests with the right code one succeeds. " +
    "A wrong one says in `error.attemptsRemaining` how often it may still be tried.",
  problems: [
    "OTP_INCORRECT",
    "VERIFICATION_NOT_FOUND",
    "OTP_ALREADY_VERIFIED",
    "OTP_EXPIRED",
    "OTP_SUPERSEDED",
    "OTP_ATTEMPTS_EXHAUSTED",
    "OVERLOADED",
    "SERVICE_HELD",
  ],
  body: validateBody,
  checkBody: false,
  requestExamples: { "a code": { verifyId: EXAMPLE_ID, otp: "482913" } },
  response: envelope(OTP_VERIFIED, "OtpVerified"),
  responseExample: { data: EXAMPLE_ID, message: OTP_VERIFIED, error: null },
  handle: async ({ otpDeps, gate }, { body, caller }) => {
    const draft = readValidate(body);
    // The code may have been used since the backup.
    if (gate.isHeld) throw heldProblem();
    await checkOtp(otpDeps, caller.account, caller.key.mode, draft);
    return { text: otpEnvelope(draft.verifyId, OTP_VERIFIED) };
  },
};

/** `POST /v1/verify/{verifyId}/outcome`: what a product that checks codes itself did with one. Next: src/otp/read.ts */
export const postOutcome: KeyedRoute = keyedRoute({
  method: "POST",
  path: `${PATH}/:verifyId/outcome`,
  family: "otp",
  scope: "verify:custom",
  testKeys: "verify:custom",
  group: "Verification",
  summary: "Report the outcome of a code",
  description:
    "For products that check codes themselves. `used` counts the code as verified, which keeps the protection against SMS pumping from blocking its prefix; `not-used` ends it. The same report may be repeated. Of a code sent with `mode: deliver`, `used` is accepted until an hour after `expiresAt`.",
  params: { verifyId: { meaning: "As in the answer to `POST /v1/verify`.", example: EXAMPLE_ID } },
  problems: [
    "VERIFICATION_NOT_FOUND",
    "OTP_ALREADY_VERIFIED",
    "OTP_EXPIRED",
    "OTP_SUPERSEDED",
    "OTP_ATTEMPTS_EXHAUSTED",
    "SERVICE_HELD",
  ],
  body: outcomeBody,
  checkBody: false,
  requestExamples: { "the user signed in": { outcome: "used" }, "the user gave up": { outcome: "not-used" } },
  response: envelope(OTP_OUTCOME, "OtpOutcome"),
  responseExample: { data: EXAMPLE_ID, message: OTP_OUTCOME, error: null },
  handle: async ({ otpDeps, store, gate }, { params, body, caller }) => {
    const id = (params.verifyId ?? "").toLowerCase();
    const { outcome } = readOutcome(body);
    if (gate.isHeld) throw heldProblem();
    await recordOutcome({ ...otpDeps, store }, caller.account, { id, mode: caller.key.mode, outcome });
    return { data: id, message: OTP_OUTCOME, error: null };
  },
});

const VerificationView = Type.Object(
  {
    verifyId: Type.String({ description: "Verification ID as in the response to `POST /v1/verify`." }),
    configId: Type.String({ description: "Name of the configuration." }),
    to: Type.String({ description: "Phone number, without plus." }),
    state: Type.Union(
      VERIFICATION_STATES.map((state) => Type.Literal(state)),
      { description: "State of the verification. Only pending codes can be verified." },
    ),
    attempts: Type.Integer({ description: "Number of attempts." }),
    attemptsRemaining: Type.Integer({ description: "Number of remaining attempts; 0 in a final state." }),
    test: Type.Boolean({ description: "True if sent with a test key or to a test number." }),
    createdAt: Type.Integer({ description: "Epoch milliseconds." }),
    expiresAt: Type.Integer({ description: "Expiry of the code in epoch milliseconds." }),
    doneAt: Type.Union([Type.Integer(), Type.Null()], {
      description: "Time of the final state in epoch milliseconds; null while pending.",
    }),
    ...SOURCE_FIELDS,
  },
  { title: "Verification" },
);

/** A verification as the customer sees it, without the code. */
const verificationView = (verification: SourcedVerification, now: number): object => {
  const { state, expiresAt, checks, checksMax } = verification;
  const current = stateAt(state, expiresAt, now);
  return {
    verifyId: verification.id,
    configId: verification.config,
    to: verification.number,
    state: current,
    attempts: checks,
    attemptsRemaining: current === "pending" ? checksMax - checks : 0,
    test: verification.test,
    createdAt: verification.createdAt,
    expiresAt,
    doneAt: verification.doneAt ?? (current === "expired" ? expiresAt : null),
    ...sourceView(verification),
  };
};

export const getVerification: KeyedRoute = {
  method: "GET",
  path: `${PATH}/:verifyId`,
  family: "plain",
  scope: "verify",
  testKeys: "verify",
  group: "Verification",
  summary: "Read a verification",
  description: "Returns the state of a verification, never its code.",
  params: { verifyId: { meaning: "As in the answer to `POST /v1/verify`.", example: EXAMPLE_ID } },
  problems: ["VERIFICATION_NOT_FOUND"],
  response: VerificationView,
  responseExample: {
    verifyId: EXAMPLE_ID,
    configId: "default",
    to: "15550100100",
    state: "pending",
    attempts: 0,
    attemptsRemaining: 5,
    test: false,
    createdAt: 1767225600000,
    expiresAt: 1767225900000,
    doneAt: null,
    source: "supabase",
    deliverOnly: true,
  },
  handle: async ({ store, clock }, { params, caller }) => {
    const id = (params.verifyId ?? "").toLowerCase();
    const verification = isUuid(id) ? await store.findVerification(caller.account.id, id) : null;
    if (verification?.mode !== caller.key.mode) throw new Problem("VERIFICATION_NOT_FOUND");
    return verificationView(verification, clock.now());
  },
};
