/**
 * Everything that can be wrong with a request, in one table: the code (part of the API), its HTTP status,
 * the sentence the caller reads, and the cause and fix of the page behind `error.reference`.
 */

type ProblemType =
  | "invalid_request"
  | "payment"
  | "authentication"
  | "permission"
  | "not_found"
  | "conflict"
  | "limit"
  | "server";

interface ProblemEntry {
  status: number;
  type: ProblemType;
  message: string;
  cause: string;
  fix: string;
}

export const PROBLEMS = {
  INVALID_JSON: {
    status: 400,
    type: "invalid_request",
    message: "The body is not valid JSON.",
    cause: "The body could not be parsed as JSON, is empty, or nests deeper than 20 levels.",
    fix: "Send one JSON object. Check quotes, commas and that the text is UTF-8.",
  },
  INVALID_REQUEST: {
    status: 400,
    type: "invalid_request",
    message: "The request has fields that are missing or wrong.",
    cause: "One or more fields are absent, of the wrong type or outside their allowed values.",
    fix: "`error.details` names such fields with what they need, all of them unless they are very many; mend them and send again. Nothing was accepted.",
  },
  INVALID_RECIPIENT: {
    status: 400,
    type: "invalid_request",
    message: "No recipient is a valid phone number.",
    cause:
      "Every recipient in the request is malformed. (Among good numbers, a malformed one is accepted and fails alone.)",
    fix: "Write numbers internationally: country code first, 7 to 15 digits, for example 919876543210 or +919876543210. RCS asks for the plus.",
  },
  MESSAGE_TOO_LONG: {
    status: 400,
    type: "invalid_request",
    message: "The text is too long.",
    cause: "The text has more characters than its channel takes, or needs more SMS segments than this server allows.",
    fix: "Shorten the text. In an SMS one character outside the GSM alphabet more than halves what fits in a segment; its limits are settings of the server.",
  },
  UNSUPPORTED_TYPE: {
    status: 400,
    type: "invalid_request",
    message: "Messages of this type are not sent.",
    cause: "The `type` of a chat-app request is neither `template` nor `text`.",
    fix: "Send `template`, or `text` within 24 hours of the recipient's own last message.",
  },
  OTP_INCORRECT: {
    status: 400,
    type: "invalid_request",
    message: "The code is not right.",
    cause: "The code that was submitted is not the one that was sent for this `verifyId`.",
    fix: "Let the user type it again: `error.attemptsRemaining` says how often. With none left, ask for a new code with `POST /v1/verify`.",
  },
  TOTP_INCORRECT: {
    status: 400,
    type: "invalid_request",
    message: "The code is wrong.",
    cause: "The code is not the one that the authenticator app shows now, it was used before, or none was begun.",
    fix: "Type the code that the app shows now; the clocks of phone and server may differ by half a minute.",
  },
  UNAUTHORIZED: {
    status: 401,
    type: "authentication",
    message: "The API key is missing or not valid.",
    cause:
      "There is no `apikey` header, it holds an unknown, revoked or expired key, or it was sent twice with different values. These cases are answered alike on purpose.",
    fix: "Send the header `apikey: <your key>`. Keys are shown once when they are made; make a new one if yours is lost.",
  },
  LOGIN_REQUIRED: {
    status: 401,
    type: "authentication",
    message: "Nobody is logged in.",
    cause:
      "The request needs a person who is logged in, and brought no session, or one that has ended: by logging out, by its limits of time, or because the password was changed.",
    fix: "Log in with `POST /api/session` and send its cookie. A request that brings an `apikey` is a program's, whatever cookie it has.",
  },
  LOGIN_FAILED: {
    status: 401,
    type: "authentication",
    message: "The e-mail address, the password or the code is wrong.",
    cause:
      "There is no such person, the password or the code is wrong, a code was used before, or the person was disabled. These cases are answered alike on purpose.",
    fix: "Try again. An owner of the account can make a new password with `POST /api/users/{id}/reset-password`.",
  },
  TOTP_REQUIRED: {
    status: 401,
    type: "authentication",
    message: "The code of the second factor is needed too.",
    cause: "The password is right, and the person has switched on the second factor.",
    fix: "Send the same request with `totp`: the six digits of the authenticator app, or one of the recovery codes.",
  },
  INSUFFICIENT_CREDITS: {
    status: 402,
    type: "payment",
    message: "The account has not enough credits.",
    cause: "The account is metered, and its balance does not cover every message of the request. Nothing was accepted.",
    fix: "Add credits with `POST /api/credits`, or send to fewer recipients. `POST /v1/sms/preview` tells what a request costs.",
  },
  INSUFFICIENT_SCOPE: {
    status: 403,
    type: "permission",
    message: "This API key may not do that.",
    cause: "The key is valid but lacks the scope that this operation asks for.",
    fix: "Use a key with the scope named in the message, or make one with `POST /api/keys`.",
  },
  INSUFFICIENT_ROLE: {
    status: 403,
    type: "permission",
    message: "This is not for your role.",
    cause:
      "The person is logged in, and the operation is for another role: a viewer reads, a member works, an owner decides.",
    fix: "Ask an owner of the account to do it, or to change your role.",
  },
  CSRF_REFUSED: {
    status: 403,
    type: "permission",
    message: "The request does not show that it comes from the dashboard.",
    cause:
      "A request with a session cookie that changes something must repeat the session's token in the header `x-csrf-token`, and its `Origin`, if it has one, must be this server.",
    fix: "Send `csrfToken` of `GET /api/session` as `x-csrf-token`. Behind a proxy, set `HELIOGRAPH_BASE_URL` to the address in the browser. Programs use an `apikey` and need no token.",
  },
  PASSWORD_CHANGE_REQUIRED: {
    status: 403,
    type: "permission",
    message: "Change the password first.",
    cause: "The password was made by the server and is good for one thing: to choose another.",
    fix: "Choose a password with `PATCH /api/session/password`.",
  },
  PASSWORD_INCORRECT: {
    status: 403,
    type: "permission",
    message: "The password is wrong.",
    cause: "What was asked needs the password of whoever is logged in once more, and it was another.",
    fix: "Give the password that you log in with. Wrong ones count as failed logins.",
  },
  IP_NOT_ALLOWED: {
    status: 403,
    type: "permission",
    message: "This API key may not be used from this address.",
    cause: "The key has a list of allowed networks and the request came from outside of it.",
    fix: "Send from an allowed address, or change `allowedIps` of the key. Behind a proxy, check which address reaches the server.",
  },
  ACCOUNT_SUSPENDED: {
    status: 403,
    type: "permission",
    message: "The account is suspended.",
    cause: "The operator has suspended the account that this key belongs to.",
    fix: "Ask the operator of this server.",
  },
  SENDER_NOT_REGISTERED: {
    status: 403,
    type: "permission",
    message: "The sender is not registered.",
    cause:
      "The message would go to a real carrier, or the account's `records` are strict, and no sender (on the chat app: no business number) of that name is stored.",
    fix: "Add the sender with `POST /api/senders`, the business number with `POST /api/numbers`, or use one that is listed there. On the simulator any is learned.",
  },
  COUNTRY_NOT_ALLOWED: {
    status: 403,
    type: "permission",
    message: "The account may not send to this country.",
    cause: "The account has a list of allowed countries and the recipient's is not on it.",
    fix: "Add the country to `allowedCountries` with `PATCH /api/account`. Among several recipients such a one fails alone.",
  },
  RECIPIENT_OPTED_OUT: {
    status: 403,
    type: "permission",
    message: "The recipient has asked for no more promotions.",
    cause: "The number is on the account's opt-out list: it answered with a stop word, or somebody put it there.",
    fix: "Respect it. The list is at `/api/optouts`; a start word as an answer takes the number off. TRANS and OTP are not affected.",
  },
  SESSION_CLOSED: {
    status: 403,
    type: "permission",
    message: "The recipient has not written within the last 24 hours.",
    cause:
      "A chat-app message of type `text` is an answer: it is sent only within 24 hours of the recipient's own last message to the same business number.",
    fix: "Send an approved template instead, which may be sent at any time.",
  },
  TEMPLATE_NOT_FOUND: {
    status: 404,
    type: "not_found",
    message: "There is no such template.",
    cause:
      "The template is stored but not approved, or none of that name is stored for the channel while the message would go to a real carrier or the account's `records` are strict.",
    fix: "Add the template with `POST /api/templates`, or use one that is listed there. On the simulator any template is learned.",
  },
  BOT_NOT_FOUND: {
    status: 404,
    type: "not_found",
    message: "There is no such bot.",
    cause:
      "The message would go to a real carrier, or the account's `records` are strict, and no bot of that id is stored.",
    fix: "Add the bot with `POST /api/bots`, or use one that is listed there. On the simulator any bot is learned.",
  },
  CONFIG_NOT_FOUND: {
    status: 404,
    type: "not_found",
    message: "There is no such verification configuration.",
    cause:
      "The code would go to a real carrier, or the account's `records` are strict, and no verification configuration has that name or id.",
    fix: "Add it with `POST /api/verify-configs`, or use one that is listed there. On the simulator any is learned.",
  },
  VERIFICATION_NOT_FOUND: {
    status: 404,
    type: "not_found",
    message: "There is no such verification.",
    cause: "No verification of this account has that id. One of another account is answered in the same way.",
    fix: "Use the `data` of the answer to `POST /v1/verify`, with a key of the same account.",
  },
  MESSAGE_NOT_FOUND: {
    status: 404,
    type: "not_found",
    message: "There is no such message.",
    cause: "No message of this account has that id.",
    fix: "Use a `messageId` as it came in the send response: `<id>:<n>`.",
  },
  RECORD_NOT_FOUND: {
    status: 404,
    type: "not_found",
    message: "There is no such record.",
    cause: "No record of this account has that id.",
    fix: "List the records to see their ids.",
  },
  ROUTE_NOT_FOUND: {
    status: 404,
    type: "not_found",
    message: "There is nothing at this path.",
    cause: "The path is not one of this service's.",
    fix: "Compare it with the API reference at `/docs`. All message operations start with `/v1`.",
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    type: "invalid_request",
    message: "This path does not take that HTTP method.",
    cause: "The path exists but not for the method of the request.",
    fix: "Use a method from the `Allow` header of the answer. Every send operation is a POST.",
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    type: "conflict",
    message: "A request with this Idempotency-Key is still being worked on.",
    cause: "Two requests with the same key overlapped.",
    fix: "Wait a moment and send the same request again: it answers what the first one did.",
  },
  OTP_ALREADY_VERIFIED: {
    status: 409,
    type: "conflict",
    message: "This code has been used already.",
    cause: "A code is good once, and an earlier request with it, or one at the same moment, was the one that counted.",
    fix: "If that was you, the user is verified: go on. Otherwise ask for a new code with `POST /v1/verify`.",
  },
  OTP_EXPIRED: {
    status: 410,
    type: "not_found",
    message: "The code has expired.",
    cause: "A code is good for as long as its configuration says, five minutes unless it says otherwise.",
    fix: "Ask for a new one with `POST /v1/verify`.",
  },
  OTP_SUPERSEDED: {
    status: 410,
    type: "not_found",
    message: "A newer code was sent to this number.",
    cause: "Every new code ends the one before it for the same number and configuration.",
    fix: "Submit the newest code with the `verifyId` that came with it.",
  },
  BODY_TOO_LARGE: {
    status: 413,
    type: "limit",
    message: "The body is too large.",
    cause: "A body may have at most 1 MiB.",
    fix: "Split the request.",
  },
  TOO_MANY_RECIPIENTS: {
    status: 413,
    type: "limit",
    message: "The request has too many recipients.",
    cause: "A request may name a limited number of recipients (1,000 unless the operator changed it).",
    fix: "Split the list over several requests.",
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    type: "invalid_request",
    message: "The body must be application/json.",
    cause: "The `Content-Type` header is missing or names another type.",
    fix: "Send `Content-Type: application/json`.",
  },
  NAME_TAKEN: {
    status: 409,
    type: "conflict",
    message: "There is a record of this name already.",
    cause: "Names are unique among the records of one kind.",
    fix: "Use another name, or change the record that has it.",
  },
  TOTP_ALREADY_ON: {
    status: 409,
    type: "conflict",
    message: "The second factor is on already.",
    cause: "Whoever is logged in has an authenticator app set up.",
    fix: "Switch it off first with `DELETE /api/session/totp`, then set it up anew.",
  },
  LAST_OWNER: {
    status: 409,
    type: "conflict",
    message: "An account keeps at least one owner who can log in.",
    cause: "The change would leave the account without an owner.",
    fix: "Make somebody else an owner first.",
  },
  RECORD_IN_USE: {
    status: 409,
    type: "conflict",
    message: "Something else still needs this record.",
    cause: "A route or a delivery-report configuration needs the carrier that was to be removed.",
    fix: "The message names what needs it: change or remove that first.",
  },
  NOT_CANCELLABLE: {
    status: 409,
    type: "conflict",
    message: "The message can no longer be cancelled.",
    cause: "A carrier has it, or it has come to its end.",
    fix: "Only messages that wait to be sent can be cancelled. Read the message to see where it is.",
  },
  NOT_RESENDABLE: {
    status: 409,
    type: "conflict",
    message: "The callback cannot be sent again.",
    cause: "It still waits for its next try, or its endpoint is gone or switched off.",
    fix: "The message says which. Wait for the next try, or switch the endpoint on with `enabled: true` and send it again.",
  },
  PARAMS_MISMATCH: {
    status: 422,
    type: "invalid_request",
    message: "The number of values differs from the number of the template's variables.",
    cause:
      "`custom` on SMS, `components.body.params` on the chat app and `content[0].params` on RCS must have exactly one value per placeholder of the template, and RCS `content` one `fileUrl` per card.",
    fix: "Give the values in the order of the placeholders; an empty array when there are none.",
  },
  TEMPLATE_KIND_MISMATCH: {
    status: 422,
    type: "invalid_request",
    message: "The request is of another kind than its template.",
    cause:
      "The stored template has another header than the request (chat app), or takes values where the request has files, or files where it has values (RCS).",
    fix: "The message names what the template takes. Change the request, or the template at `/api/templates`.",
  },
  MEDIA_TYPE_UNSUPPORTED: {
    status: 422,
    type: "invalid_request",
    message: "The header cannot show this kind of file.",
    cause: "The link's extension, or what its server says of the file, is not among the kinds that the header shows.",
    fix: "Images are jpg, jpeg or png; videos mp4 or 3gp; documents pdf, doc, docx, xls, xlsx, ppt, pptx or txt.",
  },
  MEDIA_TOO_LARGE: {
    status: 422,
    type: "limit",
    message: "The file is too large.",
    cause:
      "What the link leads to is larger than the platform takes: 5 MB for images, 16 MB for videos, 100 MB for documents.",
    fix: "Link to a smaller file.",
  },
  TEXT_TEMPLATE_MISMATCH: {
    status: 422,
    type: "invalid_request",
    message: "The text does not match its template.",
    cause:
      "A request with `templateId` and `text` is held against the stored template, as operators do. The message names the first difference.",
    fix: "Send the template's fixed words exactly, or let the server fill it in: `custom` instead of `text`. With `textMismatch` set to `warn` the account sends such texts all the same.",
  },
  SHORT_LINK_MISMATCH: {
    status: 422,
    type: "invalid_request",
    message: "The short links do not match the text.",
    cause:
      "Every `{SORT}` in the text takes the address in the same place of `targetUrl`; their numbers differ, or `shortenUrl` is false.",
    fix: "Give one address per `{SORT}` and set `shortenUrl` to true.",
  },
  IDEMPOTENCY_MISMATCH: {
    status: 422,
    type: "conflict",
    message: "This Idempotency-Key was used for another request.",
    cause: "In the last 24 hours the same key came with a different body.",
    fix: "Use a new key for a new request; repeat a request with exactly the same body.",
  },
  RATE_LIMITED: {
    status: 429,
    type: "limit",
    message: "Too many requests.",
    cause:
      "The key sent more requests per second than it is set to, or too many requests with bad keys came from this address.",
    fix: "Wait for the seconds in `Retry-After`, then go on more slowly.",
  },
  LOGIN_LOCKED: {
    status: 429,
    type: "limit",
    message: "Too many wrong passwords.",
    cause:
      "Five wrong passwords or codes close the login of this address and person for a minute, each further one for twice as long, up to an hour.",
    fix: "Wait for the seconds in `Retry-After`.",
  },
  OTP_SEND_LIMIT: {
    status: 429,
    type: "limit",
    message: "No code is sent to this number for now.",
    cause:
      "The number has had a code within the cooldown or as many as it may have, too few codes to numbers like it were ever used, or the account has reached its daily cap. The message says which.",
    fix: "Wait for the seconds in `Retry-After`. The code that was sent last stays good until it expires. Caps are fields of the verification configuration; `otpGuard` of the account holds the others, and blocked prefixes are at `/api/verify-blocks`.",
  },
  OTP_ATTEMPTS_EXHAUSTED: {
    status: 429,
    type: "limit",
    message: "This code can no longer be tried.",
    cause:
      "The code was tried as often as it may be, or too many wrong codes were tried for its number within an hour or a day; a new code does not change the latter.",
    fix: "If the code was tried too often, ask for a new one with `POST /v1/verify`. If the number was, wait for the seconds in `Retry-After`.",
  },
  INTERNAL: {
    status: 500,
    type: "server",
    message: "Something went wrong on this server.",
    cause: "A fault of the server, not of the request.",
    fix: "Try again. If it stays, give the operator the `requestId` of the answer: the log has the cause under it.",
  },
  OVERLOADED: {
    status: 503,
    type: "server",
    message: "The server has more work waiting than it can take. Nothing was accepted.",
    cause: "Requests arrive faster than they can be stored, or than messages can be sent.",
    fix: "Wait for the seconds in `Retry-After` and send again.",
  },
  STORAGE_UNAVAILABLE: {
    status: 503,
    type: "server",
    message: "The message store cannot be written at the moment.",
    cause: "The disk is full or the database is away.",
    fix: "Wait for the seconds in `Retry-After` and send again with the same `Idempotency-Key`. Nothing was accepted, unless the line to the database broke in the middle of a commit: the key keeps that case from being sent twice. The server goes on by itself once the store is back.",
  },
} as const satisfies Record<string, ProblemEntry>;

export type ProblemCode = keyof typeof PROBLEMS;

/** One field that is wrong: where it is and what it needs. */
export interface Fault {
  parameter: string;
  message: string;
}

interface ProblemOptions {
  message?: string;
  faults?: readonly Fault[];
  retryAfterSeconds?: number;
  /** The id that the answer to a one-time password repeats. */
  echo?: string | null;
  /** Further fields of the error, which programs act on. */
  facts?: Readonly<Record<string, number>>;
  cause?: unknown;
}

/** A failure that is the caller's to know: it becomes the answer. Every other error is ours and answers 500. */
export class Problem extends Error {
  override name = "Problem";
  readonly code: ProblemCode;
  readonly faults: readonly Fault[];
  readonly retryAfterSeconds: number | undefined;
  readonly echo: string | null;
  readonly facts: Readonly<Record<string, number>>;

  constructor(code: ProblemCode, options: ProblemOptions = {}) {
    // An answer, not an accident: nobody reads where it was made, and finding that out takes longer than the answer.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(options.message ?? PROBLEMS[code].message, { cause: options.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.code = code;
    this.faults = options.faults ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.echo = options.echo ?? null;
    this.facts = options.facts ?? {};
  }

  get status(): number {
    return PROBLEMS[this.code].status;
  }
}
