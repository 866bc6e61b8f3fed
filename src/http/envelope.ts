import { PROBLEMS, type Problem } from "../model/problem.ts";
import type { Family } from "./route.ts";

export const JSON_TYPE = "application/json; charset=utf-8";

/** Messages of successful OTP requests and checks. */
export const OTP_GENERATED = "OTP Generated Successfully!";
export const OTP_VERIFIED = "OTP Verified Successfully!";
export const OTP_OUTCOME = "OTP Outcome Recorded!";

export const otpEnvelope = (verifyId: string, message: string): string =>
  `{"data":"${verifyId}","message":"${message}","error":null}`;

export const SENT_MESSAGE = "Message Sent Successfully!";

/** A response that is already serialised. */
export interface JsonText {
  text: string;
}

/**
 * Response to every send: one record per recipient, in order. `echo` has the request fields that SMS repeats. The text is
 * concatenated because building and stringifying an object takes three times as long.
 */
export function sendEnvelope(
  requestId: string,
  recipients: readonly string[],
  echo: { unicode?: number; flash?: number },
): string {
  let records = "";
  let n = 0;
  for (const recipient of recipients) {
    n += 1;
    records += `${n === 1 ? "" : ","}{"recipient":${JSON.stringify(recipient)},"messageId":"${requestId}:${n}"}`;
  }
  const unicode = echo.unicode === undefined ? "" : `,"unicode":${echo.unicode}`;
  const flash = echo.flash === undefined ? "" : `,"flash":${echo.flash}`;
  return `{"id":"${requestId}","data":[${records}],"totalCount":${recipients.length},"message":"${SENT_MESSAGE}","error":null${unicode}${flash}}`;
}

export interface ErrorValue {
  code: string;
  type: string;
  parameter: string | null;
  message: string;
  reference: string;
  details: readonly { parameter: string; message: string }[];
  requestId: string;
  /** Remaining attempts of a one-time password. */
  attemptsRemaining?: number;
}

/** Error body in the form of the operation that failed. */
export function errorBody(problem: Problem, family: Family, baseUrl: string, requestId: string): object {
  const { code, message, faults, echo, facts } = problem;
  const error: ErrorValue = {
    code,
    type: PROBLEMS[code].type,
    parameter: faults[0]?.parameter ?? null,
    message: faults[0]?.message ?? message,
    reference: `${baseUrl}/docs/errors/${code}`,
    details: faults,
    requestId,
    ...facts,
  };
  if (family === "otp") return { data: echo, message, error };
  return family === "send" ? { id: null, data: [], totalCount: 0, message, error } : { message, error };
}
