import type { FacadeReply } from "../../http/facade.ts";
import { Problem, type ProblemCode } from "../../model/problem.ts";

/** A refusal with a code of Twilio's, where the facade knows more than the pipeline. */
export class TwilioProblem extends Problem {
  readonly twilioCode: number;

  constructor(twilioCode: number, message: string, code: ProblemCode = "INVALID_REQUEST") {
    super(code, { message });
    this.twilioCode = twilioCode;
  }
}

const NOT_FOUND = 20404;
const INVALID_PARAMETER = 20422;

/** Twilio's code of each problem, and its HTTP status where that differs from ours. */
const CODES: Partial<Readonly<Record<ProblemCode, readonly [code: number, status?: number]>>> = {
  UNAUTHORIZED: [20003],
  INSUFFICIENT_SCOPE: [20006],
  IP_NOT_ALLOWED: [20006],
  TEST_KEY_NOT_ALLOWED: [20006],
  ACCOUNT_SUSPENDED: [20005],
  INSUFFICIENT_CREDITS: [30010],
  INVALID_JSON: [20001],
  INVALID_REQUEST: [INVALID_PARAMETER],
  INVALID_RECIPIENT: [21211],
  SENDER_NOT_REGISTERED: [21606, 400],
  BOT_NOT_FOUND: [63007, 400],
  RECIPIENT_OPTED_OUT: [21610, 400],
  COUNTRY_NOT_ALLOWED: [21408, 400],
  MESSAGE_TOO_LONG: [21617],
  UNSUPPORTED_TYPE: [INVALID_PARAMETER],
  TEMPLATE_NOT_FOUND: [21655, 400],
  PARAMS_MISMATCH: [21656, 400],
  TEMPLATE_KIND_MISMATCH: [21656, 400],
  TEXT_TEMPLATE_MISMATCH: [21656, 400],
  MEDIA_TYPE_UNSUPPORTED: [21620, 400],
  MEDIA_TOO_LARGE: [30019, 400],
  SESSION_CLOSED: [63016, 400],
  CONFIG_NOT_FOUND: [NOT_FOUND],
  VERIFICATION_NOT_FOUND: [NOT_FOUND],
  OTP_EXPIRED: [NOT_FOUND, 404],
  OTP_SUPERSEDED: [NOT_FOUND, 404],
  OTP_ALREADY_VERIFIED: [NOT_FOUND, 404],
  MESSAGE_NOT_FOUND: [NOT_FOUND],
  RECORD_NOT_FOUND: [NOT_FOUND],
  ROUTE_NOT_FOUND: [NOT_FOUND],
  METHOD_NOT_ALLOWED: [20004],
  NOT_CANCELLABLE: [30409],
  OTP_SEND_LIMIT: [60203],
  OTP_ATTEMPTS_EXHAUSTED: [60202],
  RATE_LIMITED: [20429],
  OVERLOADED: [20503],
  STORAGE_UNAVAILABLE: [20503],
  SERVICE_HELD: [20503],
  QUERY_TIMED_OUT: [20503],
  QUERY_QUEUE_FULL: [20503],
  INTERNAL: [20500],
};

/** Twilio's code of a fault, by the field of `/v1` that it is about. */
const FAULTS: Readonly<Record<string, number>> = {
  to: 21211,
  number: 21211,
  sender: 21212,
  from: 21212,
  botId: 21212,
  text: 21602,
  "text.body": 21602,
  sendAt: 35118,
};

/** Twilio's parameter of a field of `/v1`, for messages about it. */
const PARAMETERS: Readonly<Record<string, string>> = {
  to: "To",
  number: "To",
  sender: "From",
  from: "From",
  botId: "From",
  text: "Body",
  "text.body": "Body",
  sendAt: "SendAt",
  templateName: "ContentSid",
  templateId: "ContentSid",
  custom: "ContentVariables",
  configId: "ServiceSid",
};

const GENERAL_CODE = 20001;

interface TwilioError {
  code: number;
  message: string;
  more_info: string;
  status: number;
}

function twilioErrorOf(problem: Problem): TwilioError {
  const [fault] = problem.faults;
  const [known = GENERAL_CODE, status = problem.status] = CODES[problem.code] ?? [];
  const byField = fault && problem.code === "INVALID_REQUEST" ? FAULTS[fault.parameter] : undefined;
  const code = problem instanceof TwilioProblem ? problem.twilioCode : (byField ?? known);
  const parameter = fault && PARAMETERS[fault.parameter];
  const message = fault ? `${parameter ? `${parameter}: ` : ""}${fault.message}` : problem.message;
  return { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status };
}

export const JSON_TYPE = "application/json;charset=utf-8";

/** A refusal in Twilio's form. */
export function failTwilio(problem: Problem): FacadeReply {
  const error = twilioErrorOf(problem);
  return {
    status: error.status,
    contentType: JSON_TYPE,
    text: JSON.stringify(error),
    ...(error.status === 401 && { headers: { "www-authenticate": 'Basic realm="Twilio API"' } }),
  };
}

/** Codes of messages that failed. A carrier's own codes are not Twilio's, so they get the one for an unknown error. */
const FAILURE_CODES: Readonly<Record<string, number>> = {
  INVALID_RECIPIENT: 21211,
  RECIPIENT_OPTED_OUT: 21610,
  COUNTRY_NOT_ALLOWED: 21408,
  SAME_TEXT_FLOOD: 30007,
  EXPIRED_IN_QUEUE: 30036,
  SESSION_CLOSED: 63016,
  MEDIA_TYPE_UNSUPPORTED: 21620,
  MEDIA_TOO_LARGE: 30019,
};
const UNKNOWN_ERROR = 30008;

export const failureCodeOf = (code: string | null): number => FAILURE_CODES[code ?? ""] ?? UNKNOWN_ERROR;
