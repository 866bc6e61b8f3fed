import { Type } from "../../lib/schema.ts";
import { Problem } from "../../model/problem.ts";
import { isUuid } from "../../lib/ids.ts";
import { stateAt, VERIFICATION_STATES, type Verification } from "../../model/verification.ts";
import { checkOtp } from "../../verify/check.ts";
import { generateOtp } from "../../verify/generate.ts";
import { readGenerate, readValidate } from "../../verify/read.ts";
import { OTP_GENERATED, OTP_VERIFIED, otpEnvelope } from "../envelope.ts";
import type { KeyedRoute, SendRoute } from "../route.ts";
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

/** `POST /v1/verify`: makes a code and has it brought. Next: src/verify/read.ts */
export const generate: SendRoute = {
  express: true,
  method: "POST",
  path: PATH,
  family: "otp",
  scope: "verify",
  group: "Verification",
  summary: "Send a one-time password",
  description:
    "Makes a code, sends it to the phone by the channels of the configuration, and answers with the id to verify it by. " +
    `A new code ends the one before it for the same number and configuration. ${SEND_DESCRIPTION}`,
  headers: SEND_HEADERS,
  problems: [
    "INVALID_RECIPIENT",
    "CONFIG_NOT_FOUND",
    "COUNTRY_NOT_ALLOWED",
    "SENDER_NOT_REGISTERED",
    "TEMPLATE_NOT_FOUND",
    "BOT_NOT_FOUND",
    "INSUFFICIENT_CREDITS",
    "OTP_SEND_LIMIT",
    "OVERLOADED",
  ],
  body: Type.Object(
    {
      configId: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 100,
          description: "The name or the id of the verification configuration. Required, under this name or the next.",
        }),
      ),
      "config-id": Type.Optional(Type.String({ description: "Another name for `configId`." })),
      to: Type.String({ description: "Phone number: country code first, 7 to 15 digits, plus optional." }),
    },
    { title: "VerifyRequest" },
  ),
  checkBody: false,
  requestExamples: { "sign in": { configId: "default", to: "15550100100" } },
  response: envelope(OTP_GENERATED, "OtpGenerated"),
  responseExample: { data: EXAMPLE_ID, message: OTP_GENERATED, error: null },
  handle: onceByKey(PATH, async ({ verifying }, { body, caller, setHeader }, idempotency) => {
    const { account, key } = caller;
    const { answer, replayed, noted } = await generateOtp(verifying, {
      account,
      test: key.mode === "test",
      draft: readGenerate(body, account.settings),
      idempotency,
      answer: (verifyId) => otpEnvelope(verifyId, OTP_GENERATED),
    });
    if (noted !== "") setHeader("heliograph-would-refuse", noted);
    if (replayed) setHeader("idempotent-replayed", "true");
    return { text: answer };
  }),
};

/** `POST /v1/verify/validate`: tries a code. Next: src/verify/check.ts */
export const validate: SendRoute = {
  express: true,
  method: "POST",
  path: `${PATH}/validate`,
  family: "otp",
  scope: "verify",
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
  ],
  body: Type.Object(
    {
      verifyId: Type.String({ format: "uuid", description: "The `data` of the answer to `POST /v1/verify`." }),
      otp: Type.String({
        minLength: 1,
        maxLength: 40,
        description: "What the user typed; spaces and dashes do not count, nor does the case of letters.",
      }),
    },
    { title: "ValidateRequest" },
  ),
  checkBody: false,
  requestExamples: { "a code": { verifyId: EXAMPLE_ID, otp: "482913" } },
  response: envelope(OTP_VERIFIED, "OtpVerified"),
  responseExample: { data: EXAMPLE_ID, message: OTP_VERIFIED, error: null },
  handle: async ({ verifying }, { body, caller }) => {
    const draft = readValidate(body);
    await checkOtp(verifying, caller.account, caller.key.mode, draft);
    return { text: otpEnvelope(draft.verifyId, OTP_VERIFIED) };
  },
};

const VerificationView = Type.Object(
  {
    verifyId: Type.String({ description: "As in the answer to `POST /v1/verify`." }),
    configId: Type.String({ description: "Name of the configuration." }),
    to: Type.String({ description: "The phone number, without plus." }),
    state: Type.Union(
      VERIFICATION_STATES.map((state) => Type.Literal(state)),
      { description: "Only a pending one can still be verified." },
    ),
    attempts: Type.Integer({ description: "How often a code was tried." }),
    attemptsRemaining: Type.Integer({ description: "How often it may still be; 0 when it is over." }),
    test: Type.Boolean({ description: "Sent with a test key, or to a test number." }),
    createdAt: Type.Integer({ description: "Epoch milliseconds." }),
    expiresAt: Type.Integer({ description: "Until when the code is good." }),
    doneAt: Type.Union([Type.Integer(), Type.Null()], {
      description: "When it was verified, used up, superseded or expired; null while it was not.",
    }),
  },
  { title: "Verification" },
);

/** A verification as its customer sees it: never the code. */
const verificationView = (verification: Verification, now: number): object => {
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
  };
};

export const getVerification: KeyedRoute = {
  method: "GET",
  path: `${PATH}/:verifyId`,
  family: "plain",
  scope: "verify",
  group: "Verification",
  summary: "Read a verification",
  description: "Tells how far a verification is, and never its code.",
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
  },
  handle: async ({ store, clock }, { params, caller }) => {
    const id = (params.verifyId ?? "").toLowerCase();
    const verification = isUuid(id) ? await store.findVerification(caller.account.id, id) : null;
    if (verification?.mode !== caller.key.mode) throw new Problem("VERIFICATION_NOT_FOUND");
    return verificationView(verification, clock.now());
  },
};
