import { Type } from "../../lib/schema.ts";
import { parseMessageId } from "../../model/message.ts";
import { Problem } from "../../model/problem.ts";
import { phoneParameter } from "../parameters.ts";
import type { KeyedRoute } from "../route.ts";
import { seesTestsOnly } from "../auth/test-mode.ts";
import { readPhoneNumber } from "./simulator.ts";

/** Messages of a phone that are searched for a code. */
const LOOK_AT = 50;

/** Matches anything that could be a code. */
const WORDS = /\b[0-9A-Z]{4,10}\b/g;

/** Lets automated tests read the code that a person would read on the phone. */
export const latestOtp: KeyedRoute = {
  method: "GET",
  path: "/api/simulator/otp/latest",
  family: "plain",
  scope: "manage",
  testKeys: "read",
  role: "member",
  group: "Simulator",
  summary: "Get a simulated phone's OTP",
  description:
    "Returns the newest one-time password that a simulated phone received, for automated sign-in tests. Codes sent to real phones cannot be read.",
  query: { to: { ...phoneParameter("Phone number."), example: "15550100100", required: true } },
  problems: ["VERIFICATION_NOT_FOUND"],
  response: Type.Object({
    verifyId: Type.String({ description: "Verification ID." }),
    messageId: Type.String({ description: "Message that contains the code." }),
    otp: Type.String({ description: "One-time password." }),
    text: Type.String({ description: "Text of the message." }),
    receivedAt: Type.Integer({ description: "Epoch milliseconds." }),
  }),
  responseExample: {
    verifyId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47",
    messageId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1",
    otp: "482913",
    text: "482913 is your verification code. It is valid for 5 minutes.",
    receivedAt: 1767225600016,
  },
  handle: async ({ store, otpDeps: verifying }, { query, caller }) => {
    const number = readPhoneNumber(query.to, "to");
    const accountId = caller.account.id;
    const { rows } = await store.listPhoneMessages(accountId, number, null, LOOK_AT, {
      testOnly: seesTestsOnly(caller),
    });
    for (const { messageId, content, receivedAt } of rows) {
      const ref = parseMessageId(messageId);
      const verification = ref && (await store.findVerificationOf(accountId, ref.requestId));
      if (!verification) continue;
      const { id: verifyId, digest } = verification;
      const otp = content.text.match(WORDS)?.find((word) => verifying.digestOf(accountId, verifyId, word) === digest);
      if (otp !== undefined) return { verifyId, messageId, otp, text: content.text, receivedAt };
    }
    throw new Problem("VERIFICATION_NOT_FOUND", { message: "This phone has not received a one-time password." });
  },
};
