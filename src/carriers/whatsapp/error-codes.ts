/**
 * Meaning of a platform error.
 * - `again`: temporary; `seldom` if it takes minutes.
 * - `bounded`: temporary, or caused by this message: given up after some attempts.
 * - `faster than allowed`: reduces the rate of the connection.
 * - `quota`: hourly quota exhausted; the connection pauses.
 * - `pair`: too many messages to this recipient.
 * - `number`: this business number is blocked until an operator acts; others continue.
 * - `halted`: the connection is blocked until an operator acts.
 * - `message`: no carrier will accept this message.
 * - `carrier`: not by this carrier; another might.
 * - `not known`: ambiguous, so another carrier is tried.
 */
export type ErrorClass =
  | "again"
  | "seldom"
  | "bounded"
  | "faster than allowed"
  | "quota"
  | "pair"
  | "number"
  | "halted"
  | "message"
  | "carrier"
  | "not known";

const CODES: Readonly<Record<number, readonly [ErrorClass, string]>> = {
  0: ["halted", "The platform does not accept the access token"],
  1: ["again", "The platform has an error of its own"],
  2: ["again", "The platform is out of service for the moment"],
  3: ["halted", "The access token does not allow to send messages"],
  4: ["quota", "The app has made more requests than it may in an hour"],
  10: ["halted", "The access token does not allow to send messages from this number"],
  190: ["halted", "The access token has expired or was revoked: give the line a new one"],
  368: ["halted", "The platform has blocked the business account for breaking its rules"],
  80007: ["quota", "The business account has made more requests than it may in an hour"],
  130429: ["faster than allowed", "The number has sent more messages than it may in a second"],
  130472: ["carrier", "The platform leaves this recipient out as part of an experiment"],
  130497: ["carrier", "The business account may not send to the recipient's country"],
  131000: ["bounded", "The platform could not send the message and does not know why"],
  131005: ["halted", "The access token does not allow this"],
  131008: ["message", "The request lacks a parameter that the platform needs"],
  131009: ["message", "A parameter of the request is not what the platform takes"],
  131016: ["again", "The platform is overloaded or down for the moment"],
  131021: ["message", "The recipient is the sending number itself"],
  131026: ["carrier", "The recipient cannot be reached: not on WhatsApp, with an old app, or without accepting its terms"],
  131030: ["carrier", "The recipient is not on the list of the platform's test number"],
  131031: ["halted", "The platform has locked the business account"],
  131037: ["number", "The number's display name has to be approved first"],
  131042: ["halted", "The business account's payment has to be put in order"],
  131045: ["number", "The number is not registered with the platform"],
  131047: ["message", "The recipient has not written for more than 24 hours: only a template may be sent"],
  131048: ["number", "The platform holds the number back, because too many recipients blocked it or called it spam"],
  131049: ["carrier", "The platform holds this message back to keep the recipient's marketing messages few"],
  131050: ["message", "The recipient wants no marketing messages from this business"],
  131051: ["message", "The platform does not take a message of this type"],
  131052: ["message", "The platform could not fetch the file"],
  131053: ["message", "The platform does not take the file"],
  131056: ["pair", "The number has sent this recipient too many messages within a short time"],
  131057: ["seldom", "The business account is being worked on by the platform"],
  131062: ["message", "The platform does not take a message like this"],
  131063: ["message", "The platform does not take a message like this"],
  131064: ["message", "The platform does not take a message like this"],
  132000: ["message", "The message has another number of values than its template has variables"],
  132001: ["carrier", "The business account has no approved template of this name in this language"],
  132005: ["message", "The text is too long with its values"],
  132007: ["message", "The template breaks the platform's rules for its content"],
  132008: ["message", "A value does not fit its variable"],
  132012: ["message", "A value is written otherwise than the template asks"],
  132015: ["carrier", "The platform has paused the template for its low quality"],
  132016: ["carrier", "The platform has disabled the template for its low quality"],
  132068: ["message", "The flow of the template is blocked"],
  132069: ["message", "The flow of the template is throttled"],
  133004: ["again", "The platform is out of service for the moment"],
  133010: ["number", "The number is not registered with the platform"],
  133016: ["number", "The number was registered too often and is blocked for a while"],
  135000: ["bounded", "The platform could not send the message and does not say why"],
  137000: ["message", "The recipient's identity has changed and has to be confirmed first"],
}; // prettier-ignore

/** Range of permission errors. */
const PERMISSIONS = { from: 200, to: 299 };

/** Every code has a meaning. */
export function meaningOf(code: number): { errorClass: ErrorClass; description: string } {
  const known = CODES[code];
  if (known) return { errorClass: known[0], description: known[1] };
  if (code >= PERMISSIONS.from && code <= PERMISSIONS.to)
    return { errorClass: "halted", description: "The access token does not allow this" };
  return { errorClass: "not known", description: `The platform refused the message with its error ${code}` };
}
