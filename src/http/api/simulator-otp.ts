import { Type } from "../../lib/schema.ts";
import { parseMessageId } from "../../model/message.ts";
import { Problem } from "../../model/problem.ts";
import type { KeyedRoute } from "../route.ts";
import { readPhoneNumber } from "./simulator.ts";

/** How many messages of a phone are looked at for one with a code. */
const LOOK_AT = 50;

/** What could be a code. */
const WORDS = /\b[0-9A-Z]{4,10}\b/g;

/** For tests of whoever uses this service: what a person would read on the phone. */
export const latestOtp: KeyedRoute = {
  method: "GET",
  path: "/api/simulator/otp/latest",
  family: "plain",
  scope: "manage",
  group: "Simulator",
  summary: "Read the latest code on a simulated phone",
  description:
    "The newest one-time password that a simulated phone received, for tests that sign in. Codes that went to real phones are nowhere to be read.",
  query: { to: { meaning: "The phone's number.", example: "15550100100", required: true } },
  problems: ["VERIFICATION_NOT_FOUND"],
  response: Type.Object({
    verifyId: Type.String({ description: "The verification that it is for." }),
    messageId: Type.String({ description: "The message that brought it." }),
    otp: Type.String({ description: "The code." }),
    text: Type.String({ description: "The message as the phone shows it." }),
    receivedAt: Type.Integer({ description: "Epoch milliseconds." }),
  }),
  responseExample: {
    verifyId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47",
    messageId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1",
    otp: "482913",
    text: "482913 is your verification code. It is valid for 5 minutes.",
    receivedAt: 1767225600016,
  },
  handle: async ({ store, verifying }, { query, caller }) => {
    const number = readPhoneNumber(query.to, "to");
    const accountId = caller.account.id;
    const { rows } = await store.listPhoneMessages(accountId, number, null, LOOK_AT);
    for (const { messageId, content, receivedAt } of rows) {
      const ref = parseMessageId(messageId);
      const verification = ref && (await store.findVerificationOf(accountId, ref.requestId));
      if (!verification) continue;
      const { id: verifyId, digest } = verification;
      const otp = content.text.match(WORDS)?.find((word) => verifying.digestOf(accountId, verifyId, word) === digest);
      if (otp !== undefined) return { verifyId, messageId, otp, text: content.text, receivedAt };
    }
    throw new Problem("VERIFICATION_NOT_FOUND", { message: "No one-time password has come to this phone." });
  },
};
