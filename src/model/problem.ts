/**
 * Registry of request errors: code (part of the API), HTTP status, message, and the cause and fix on the page behind
 * `error.reference`.
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
    cause:
      "The body could not be parsed as JSON, is empty, is not UTF-8, begins with a byte order mark, or nests deeper than 20 levels.",
    fix: "Send one JSON object. Check quotes, commas and that the text is UTF-8.",
  },
  INVALID_REQUEST: {
    status: 400,
    type: "invalid_request",
    message: "Some fields are missing or invalid.",
    cause: "One or more fields are missing, have the wrong type, or a value that is not allowed.",
    fix: "`error.details` lists the invalid fields and their requirements (up to twenty). Fix the listed fields and retry. Nothing was accepted.",
  },
  INVALID_RECIPIENT: {
    status: 400,
    type: "invalid_request",
    message: "No recipient is a valid phone number.",
    cause:
      "Every recipient in the request is malformed. (Among valid numbers, a malformed one is accepted and fails alone.)",
    fix: "Write numbers internationally: country code first, 7 to 15 digits, for example 919876543210 or +919876543210. RCS requires the plus.",
  },
  MESSAGE_TOO_LONG: {
    status: 400,
    type: "invalid_request",
    message: "The text is too long.",
    cause: "The text has more characters than its channel allows, or needs more SMS segments than this server allows.",
    fix: "Shorten the text. In an SMS, one character outside the GSM alphabet more than halves the capacity of a segment; the limits are server settings.",
  },
  UNSUPPORTED_TYPE: {
    status: 400,
    type: "invalid_request",
    message: "This message type is not supported.",
    cause:
      "The `type` of a chat-app request is none of `template`, `text`, `image`, `video`, `document`, `audio`, `sticker`, `location`, `contacts`, `interactive` and `reaction`.",
    fix: "Send `template`, or one of the others within 24 hours of the recipient's own last message.",
  },
  OTP_INCORRECT: {
    status: 400,
    type: "invalid_request",
    message: "The code is wrong.",
    cause: "The submitted code differs from the one sent for this `verifyId`.",
    fix: "Let the user enter it again while `error.attemptsRemaining` is above 0. Then request a new code with `POST /v1/verify`.",
  },
  INVITATION_INVALID: {
    status: 410,
    type: "authentication",
    message: "This invitation is no longer valid.",
    cause:
      "The link has expired, was used before, was replaced by a newer one, or belongs to a user who cannot log in.",
    fix: "Ask an owner for a new link: `POST /api/users/{id}/invite`.",
  },
  TOTP_INCORRECT: {
    status: 400,
    type: "invalid_request",
    message: "The code is wrong.",
    cause: "The code is not the current one of the authenticator app, was used before, or setup was not started.",
    fix: "Enter the code that the app shows now. The clocks of phone and server may differ by at most 30 seconds.",
  },
  UNAUTHORIZED: {
    status: 401,
    type: "authentication",
    message: "The API key is missing or invalid.",
    cause:
      "There is no `apikey` header, its key is unknown, revoked or expired, or it was sent twice with different values. All cases get the same response on purpose.",
    fix: "Send the header `apikey: <your key>`. A key is shown once, when it is created; create a new one if yours is lost.",
  },
  LOGIN_REQUIRED: {
    status: 401,
    type: "authentication",
    message: "Log in first: the request has no valid session.",
    cause:
      "The request requires a logged-in user. It has no session, or one that has ended by logout, timeout or a password change.",
    fix: "Log in with `POST /api/session` and send its cookie. If a request has an `apikey`, its cookie is ignored.",
  },
  LOGIN_FAILED: {
    status: 401,
    type: "authentication",
    message: "The email address, password or code is wrong.",
    cause:
      "The user does not exist or is disabled, the password or code is wrong, or the code was used before. All cases get the same response on purpose.",
    fix: "Try again. An owner of the account can reset the password with `POST /api/users/{id}/reset-password`.",
  },
  TOTP_REQUIRED: {
    status: 401,
    type: "authentication",
    message: "A two-factor code is required.",
    cause: "The password is correct, and the user has enabled two-factor authentication.",
    fix: "Repeat the request with `totp`: the six-digit code of the authenticator app, or a recovery code.",
  },
  INSUFFICIENT_CREDITS: {
    status: 402,
    type: "payment",
    message: "The account has insufficient credits.",
    cause: "The account is metered, and its balance does not cover all messages of the request. Nothing was accepted.",
    fix: "Ask an owner to add credits (`POST /api/credits`, logged in), or send to fewer recipients. `POST /v1/sms/preview` returns the cost of a request.",
  },
  INSUFFICIENT_SCOPE: {
    status: 403,
    type: "permission",
    message: "This API key lacks the required scope.",
    cause: "The key is valid but lacks the scope that this operation requires.",
    fix: "Use a key with the scope named in the message, or create one with `POST /api/keys`.",
  },
  TEST_KEY_NOT_ALLOWED: {
    status: 403,
    type: "permission",
    message: "A test key may not do this: it cannot read or change live data.",
    cause:
      "The key is a test key. It sends to the simulator and reads test traffic only. Configuration, credits and all live data are closed to it, whatever its scopes.",
    fix: "Use a live key with the required scope, or log in.",
  },
  INSUFFICIENT_ROLE: {
    status: 403,
    type: "permission",
    message: "Your role does not allow this.",
    cause:
      "The operation requires another role. Viewers read, members also send and edit, owners also manage users, keys and settings.",
    fix: "Ask an owner of the account to do it, or to change your role.",
  },
  CSRF_REFUSED: {
    status: 403,
    type: "permission",
    message: "The CSRF check failed.",
    cause:
      "A request with a session cookie, unless it is a GET, must send the session's token in the header `x-csrf-token`. Its `Origin` header, if present, must match this server.",
    fix: "Send `csrfToken` of `GET /api/session` as `x-csrf-token`. Behind a proxy, set `HELIOGRAPH_BASE_URL` to the address in the browser. Programs use an `apikey` and need no token.",
  },
  PASSWORD_CHANGE_REQUIRED: {
    status: 403,
    type: "permission",
    message: "Change the password first.",
    cause: "The password is temporary and can only be used to set a new one.",
    fix: "Set a new password with `PATCH /api/session/password`.",
  },
  PASSWORD_INCORRECT: {
    status: 403,
    type: "permission",
    message: "The password is wrong.",
    cause: "The operation requires the user's password again, and the given one is wrong.",
    fix: "Enter your login password. Wrong passwords count as failed logins.",
  },
  IP_NOT_ALLOWED: {
    status: 403,
    type: "permission",
    message: "This API key may not be used from this address.",
    cause: "The key is restricted to certain networks, and the request came from another address.",
    fix: "Send from an allowed address, or change `allowedIps` of the key. Behind a proxy, check which address reaches the server.",
  },
  ACCOUNT_SUSPENDED: {
    status: 403,
    type: "permission",
    message: "The account is suspended.",
    cause: "The operator has suspended the account that this key belongs to.",
    fix: "Contact the operator of this server.",
  },
  AGENT_LIMIT: {
    status: 403,
    type: "permission",
    message: "The limits of this agent's key do not allow this.",
    cause:
      "The recipient is not in the key's list, or its messages of one hour or credits of one day would be exceeded.",
    fix: "The message names the limit. An owner can change the limits of the key under API keys.",
  },
  SENDER_NOT_REGISTERED: {
    status: 403,
    type: "permission",
    message: "The sender is not registered.",
    cause:
      "The message would go to a real carrier, or the account's `records` are strict, and no sender (chat app: business number) of that name is stored.",
    fix: "Add the sender with `POST /api/senders` or the business number with `POST /api/numbers`, or use a stored one. On the simulator unknown senders are learned.",
  },
  COUNTRY_NOT_ALLOWED: {
    status: 403,
    type: "permission",
    message: "The account may not send to this country.",
    cause: "The account has a list of allowed countries, and the recipient's country is not in it.",
    fix: "Add the country to `allowedCountries` with `PATCH /api/account`. Among several recipients, only this one fails.",
  },
  RECIPIENT_BLOCKED: {
    status: 403,
    type: "permission",
    message: "Codes to this number are blocked.",
    cause: "A rule of the account blocks one-time passwords to the number's prefix or country.",
    fix: 'Remove the rule with `DELETE /api/verify-rules/{id}`, or add one with `action: "allow"` for a longer prefix.',
  },
  RECIPIENT_OPTED_OUT: {
    status: 403,
    type: "permission",
    message: "The recipient has opted out of promotions.",
    cause:
      "The number is on the account's opt-out list: the recipient replied with a stop word, or a user or key added it.",
    fix: "Respect the opt-out. The list is at `/api/optouts`; a reply with a start word removes the number. TRANS and OTP are not affected.",
  },
  SESSION_CLOSED: {
    status: 403,
    type: "permission",
    message: "The recipient has not written within the last 24 hours.",
    cause:
      "A chat-app message of type `text` is a session message: it can only be sent within 24 hours of the recipient's last message to the same business number.",
    fix: "Send an approved template instead. Templates can be sent at any time.",
  },
  TEMPLATE_NOT_FOUND: {
    status: 404,
    type: "not_found",
    message: "There is no such template.",
    cause:
      "The template is stored but not approved, or none of that name is stored for the channel while the message would go to a real carrier or the account's `records` are strict.",
    fix: "Add the template with `POST /api/templates`, or use a stored one. On the simulator unknown templates are learned.",
  },
  BOT_NOT_FOUND: {
    status: 404,
    type: "not_found",
    message: "There is no such bot.",
    cause:
      "The message would go to a real carrier, or the account's `records` are strict, and no bot of that id is stored.",
    fix: "Add the bot with `POST /api/bots`, or use a stored one. On the simulator unknown bots are learned.",
  },
  CONFIG_NOT_FOUND: {
    status: 404,
    type: "not_found",
    message: "There is no such verification configuration.",
    cause:
      "The code would go to a real carrier, or the account's `records` are strict, and no verification configuration has that name or id.",
    fix: "Add it with `POST /api/verify-configs`, or use a stored one. On the simulator unknown configurations are learned.",
  },
  VERIFICATION_NOT_FOUND: {
    status: 404,
    type: "not_found",
    message: "There is no such verification.",
    cause: "No verification of this account has this id. Verifications of other accounts get the same response.",
    fix: "Use the `data` of the response to `POST /v1/verify`, with a key of the same account.",
  },
  MESSAGE_NOT_FOUND: {
    status: 404,
    type: "not_found",
    message: "There is no such message.",
    cause: "No message of this account has this id.",
    fix: "Use a `messageId` from the send response: `<id>:<n>`.",
  },
  RECORD_NOT_FOUND: {
    status: 404,
    type: "not_found",
    message: "There is no record with this id.",
    cause: "No record of this account has this id.",
    fix: "List the records to see their ids.",
  },
  ROUTE_NOT_FOUND: {
    status: 404,
    type: "not_found",
    message: "There is nothing at this path.",
    cause: "This server has no such path.",
    fix: "Compare it with the API reference at `/docs`. All message operations start with `/v1`.",
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    type: "invalid_request",
    message: "This path does not support the HTTP method.",
    cause: "The path exists, but not for this method.",
    fix: "Use a method from the `Allow` header of the response. Every send operation is a POST.",
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    type: "conflict",
    message: "A request with this Idempotency-Key is still being processed.",
    cause: "Two requests with the same key overlapped.",
    fix: "Wait a moment and repeat the same request: it returns the response of the first one.",
  },
  OTP_ALREADY_VERIFIED: {
    status: 409,
    type: "conflict",
    message: "This code was already used.",
    cause: "A code can be verified once, and an earlier or simultaneous request has already verified it.",
    fix: "If that request was yours, the user is verified. Otherwise request a new code with `POST /v1/verify`.",
  },
  OTP_EXPIRED: {
    status: 410,
    type: "not_found",
    message: "The code has expired.",
    cause: "A code is valid for the time set in its configuration, five minutes by default.",
    fix: "Request a new code with `POST /v1/verify`.",
  },
  OTP_SUPERSEDED: {
    status: 410,
    type: "not_found",
    message: "A newer code was sent to this number.",
    cause: "A new code replaces the previous one for the same number and configuration.",
    fix: "Submit the newest code with the `verifyId` that came with it.",
  },
  BODY_TOO_LARGE: {
    status: 413,
    type: "limit",
    message: "The body is too large.",
    cause:
      "A body may have at most 10 MiB by default, 1 MiB for a carrier callback and 16 KiB for a login. The message names the limit and its setting.",
    fix: "Split the request.",
  },
  TOO_MANY_RECIPIENTS: {
    status: 413,
    type: "limit",
    message: "The request has too many recipients.",
    cause: "The number of recipients per request is limited (1,000 by default; a server setting).",
    fix: "Split the list into several requests.",
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    type: "invalid_request",
    message: "The body must be JSON in UTF-8: its media type, charset or encoding is another.",
    cause:
      "The `Content-Type` header is missing, names another type or a charset other than utf-8, or `Content-Encoding` is not gzip, deflate or identity.",
    fix: "Send `Content-Type: application/json`, and the body plain or compressed with gzip or deflate.",
  },
  NAME_TAKEN: {
    status: 409,
    type: "conflict",
    message: "A record of this name already exists.",
    cause: "Names are unique among records of one type.",
    fix: "Use another name, or update the existing record.",
  },
  AGENT_SEND_OVER: {
    status: 409,
    type: "conflict",
    message: "This send of an agent has already ended.",
    cause: "It was sent, approved or declined before, or its time is over.",
    fix: "Call `preview` again for a new token.",
  },
  TOTP_ALREADY_ON: {
    status: 409,
    type: "conflict",
    message: "Two-factor authentication is already on.",
    cause: "The user has already set up an authenticator app.",
    fix: "Turn it off with `DELETE /api/session/totp`, then set it up again.",
  },
  LAST_OWNER: {
    status: 409,
    type: "conflict",
    message: "The account must keep at least one active owner.",
    cause: "The change would leave the account without an owner.",
    fix: "Give another user the role owner first.",
  },
  RECORD_IN_USE: {
    status: 409,
    type: "conflict",
    message: "Another record still uses this one.",
    cause:
      "A route or delivery-report configuration uses the carrier that was to be deleted, or a campaign the audience.",
    fix: "The message names the record: change or delete it first, or cancel the campaign.",
  },
  NOT_CANCELLABLE: {
    status: 409,
    type: "conflict",
    message: "The message can no longer be cancelled.",
    cause: "A carrier already has the message, or it has ended.",
    fix: "Only messages that wait to be sent can be cancelled. Read the message for its state.",
  },
  CAMPAIGN_CANCELLED: {
    status: 409,
    type: "conflict",
    message: "The campaign is cancelled; it cannot be paused or resumed.",
    cause: "A cancelled campaign is final; its waiting messages were cancelled with it.",
    fix: "Use another `campaignName`.",
  },
  CAMPAIGN_STATE: {
    status: 409,
    type: "conflict",
    message: "The campaign's state does not allow this.",
    cause:
      "A draft can be changed, scheduled or started; a running campaign paused, a paused one resumed; each of these can be cancelled. Finished and cancelled ones can only be duplicated.",
    fix: "The message names the state and what it allows.",
  },
  UPLOAD_OFFSET_MISMATCH: {
    status: 409,
    type: "conflict",
    message: "The part does not continue the upload.",
    cause:
      "The `offset` of the part is not the number of bytes received so far, or the part goes beyond the `size` of the file.",
    fix: "Read the audience: upload the file from its `received` on.",
  },
  AUDIENCE_FILE_GONE: {
    status: 409,
    type: "conflict",
    message: "The file of the audience is no longer stored.",
    cause: "A file is kept for 24 hours after its check, and removed when a number is erased.",
    fix: "Create a new audience with this mapping, and upload the file again.",
  },
  TOO_MANY_AUDIENCES: {
    status: 409,
    type: "limit",
    message: "The account has as many audiences as it may have.",
    cause:
      "The number of audiences has reached `HELIOGRAPH_AUDIENCES_MAX`, or their stored files would exceed `HELIOGRAPH_AUDIENCE_STORED_MB`.",
    fix: "Delete audiences that are no longer needed. Files are removed 24 hours after their check.",
  },
  MEDIA_STORAGE_MISSING: {
    status: 409,
    type: "conflict",
    message: "This server has no storage for media: its operator sets HELIOGRAPH_MEDIA_DIR.",
    cause:
      "Several nodes may share PostgreSQL, and a file in the data directory would be on one of them only. So there is no default on PostgreSQL.",
    fix: "Set `HELIOGRAPH_MEDIA_DIR` to a place in a bucket, such as `s3://bucket/media`, or to a folder that all nodes share.",
  },
  MEDIA_NOT_FOUND: {
    status: 422,
    type: "not_found",
    message: "There is no uploaded file with this id.",
    cause:
      "The `mediaId` of the message is of another account, was deleted or has expired, or belongs to live traffic while the key is a test key.",
    fix: "Upload the file with `POST /v1/media`, and use the id of the answer.",
  },
  MEDIA_FULL: {
    status: 409,
    type: "limit",
    message: "The files of the account take as much room as they may.",
    cause: "All uploaded files of the account would exceed `HELIOGRAPH_MEDIA_STORED_MB`.",
    fix: "Delete files that are no longer needed. Unused ones are removed after `HELIOGRAPH_MEDIA_DAYS`.",
  },
  MEDIA_NOT_READY: {
    status: 409,
    type: "conflict",
    message: "The content of the file is not here.",
    cause:
      "The file of a user is still being fetched from the platform, or could not be fetched. Its `state` shows which.",
    fix: "Retry after the seconds in `Retry-After` while the `state` is `pending`. With `failed`, ask the user to send it again.",
  },
  CONTACT_EXISTS: {
    status: 409,
    type: "conflict",
    message: "The number has a contact already.",
    cause: "`POST /v1/contacts` only creates contacts.",
    fix: "Change the contact with `PUT /v1/contacts/{number}`.",
  },
  TOO_MANY_CAMPAIGNS: {
    status: 409,
    type: "limit",
    message: "The account has as many campaigns as it may have.",
    cause: "The number of campaigns, drafts and ended ones included, has reached `HELIOGRAPH_CAMPAIGNS_MAX`.",
    fix: "Change a draft in place of creating another one. Old campaigns are removed with the messages of their time.",
  },
  NOT_RESENDABLE: {
    status: 409,
    type: "conflict",
    message: "The callback cannot be resent.",
    cause: "It is still waiting for its next attempt, or its endpoint was deleted or disabled.",
    fix: "The message names the reason. Wait for the next attempt, or enable the endpoint with `enabled: true` and resend.",
  },
  NOT_MARKED: {
    status: 409,
    type: "conflict",
    message: "The message cannot be marked as read.",
    cause:
      "The platform has no read marks, its carrier is gone or was changed, or the platform refused the mark or did not answer.",
    fix: "The message names the reason. Only messages of the chat app and of RCS can be marked, for 30 days, through the carrier that they came by.",
  },
  PARAMS_MISMATCH: {
    status: 422,
    type: "invalid_request",
    message: "The number of values differs from the template's variables.",
    cause:
      "`custom` on SMS, `components.body.params` on the chat app and `content[0].params` on RCS must have exactly one value per placeholder, and RCS `content` one `fileUrl` per card.",
    fix: "Give the values in the order of the placeholders, or an empty array if there are none.",
  },
  TEMPLATE_KIND_MISMATCH: {
    status: 422,
    type: "invalid_request",
    message: "The request does not fit its template.",
    cause:
      "The template has another header than the request (chat app), or takes values instead of files, or files instead of values (RCS).",
    fix: "The message names the content of the template. Change the request, or the template at `/api/templates`.",
  },
  MEDIA_TYPE_UNSUPPORTED: {
    status: 422,
    type: "invalid_request",
    message: "The header does not support this type of file.",
    cause: "The extension of the link, or the content type from its server, is not supported by the header.",
    fix: "Images must be jpg, jpeg or png; videos mp4 or 3gp; documents pdf, doc, docx, xls, xlsx, ppt, pptx or txt.",
  },
  MEDIA_TOO_LARGE: {
    status: 422,
    type: "limit",
    message: "The file is too large.",
    cause: "The linked file exceeds the platform's limit: 5 MB for images, 16 MB for videos, 100 MB for documents.",
    fix: "Link to a smaller file.",
  },
  TEMPLATE_REFUSED: {
    status: 422,
    type: "invalid_request",
    message: "The platform refused the template.",
    cause:
      "The platform checks a template as it is submitted, before its review: name, category, placeholders, examples and buttons. It may also limit how often a template is edited.",
    fix: "The message has the platform's own words. Change the template at `/api/templates/{id}` and submit it again.",
  },
  TEXT_TEMPLATE_MISMATCH: {
    status: 422,
    type: "invalid_request",
    message: "The text does not match its template.",
    cause:
      "The text of a request with `templateId` is compared with the stored template, as operators do. The message names the first difference.",
    fix: "Send the fixed text of the template exactly, or let the server fill it in: `custom` instead of `text`. With `textMismatch` set to `warn`, the account sends the text anyway.",
  },
  SHORT_LINK_MISMATCH: {
    status: 422,
    type: "invalid_request",
    message: "The short links do not match the text.",
    cause:
      "Every `{SORT}` in the text is replaced by the URL at the same position of `targetUrl`. Their numbers differ, or `shortenUrl` is false.",
    fix: "Give one URL per `{SORT}` and set `shortenUrl` to true.",
  },
  IDEMPOTENCY_MISMATCH: {
    status: 422,
    type: "conflict",
    message: "This Idempotency-Key was used for a different request.",
    cause: "The same key was used with a different body in the last 24 hours.",
    fix: "Use a new key for a new request. Repeat a request with exactly the same body.",
  },
  RATE_LIMITED: {
    status: 429,
    type: "limit",
    message: "Too many requests.",
    cause: "The key exceeded its requests per second, or too many requests with invalid keys came from this address.",
    fix: "Wait for the seconds in `Retry-After`, then send more slowly.",
  },
  TOO_MANY_STREAMS: {
    status: 429,
    type: "limit",
    message: "Too many open streams.",
    cause:
      "The account, its API key or user, or the client address has as many live streams as `HELIOGRAPH_STREAMS_MAX` allows.",
    fix: "Close a stream, or share one between the parts of your program.",
  },
  LOGIN_LOCKED: {
    status: 429,
    type: "limit",
    message: "Too many wrong passwords.",
    cause:
      "After five wrong passwords or codes, logins of this user from this address are blocked for a minute, doubling with each further failure up to an hour.",
    fix: "Wait for the seconds in `Retry-After`.",
  },
  OTP_SEND_LIMIT: {
    status: 429,
    type: "limit",
    message: "No code can be sent to this number for now.",
    cause:
      "A cooldown or limit applies to this number, too few codes to similar numbers were verified, or the account has reached its daily limit. The message names the reason.",
    fix: "Wait for the seconds in `Retry-After`. The last code stays valid until it expires. Limits are fields of the verification configuration and of the account's `otpGuard`; blocked prefixes are at `/api/verify-blocks`.",
  },
  OTP_ATTEMPTS_EXHAUSTED: {
    status: 429,
    type: "limit",
    message: "This code can no longer be verified.",
    cause:
      "The code has no attempts left, or too many wrong codes were entered for its number within an hour or a day. A new code does not lift the latter limit.",
    fix: "If the code has no attempts left, request a new one with `POST /v1/verify`. If the number is blocked, wait for the seconds in `Retry-After`.",
  },
  INTERNAL: {
    status: 500,
    type: "server",
    message: "Something went wrong on this server.",
    cause: "A server error, not caused by the request.",
    fix: "Retry. If it persists, give the operator the `requestId` of the response: the log has the cause.",
  },
  OVERLOADED: {
    status: 503,
    type: "server",
    message: "The server is overloaded. Nothing was accepted.",
    cause: "Requests arrive faster than they can be stored or sent.",
    fix: "Wait for the seconds in `Retry-After`, then retry.",
  },
  QUERY_TIMED_OUT: {
    status: 503,
    type: "server",
    message: "The query took too long and was cancelled.",
    cause: "A list, search or statistic had to read more than it can within the time limit of this server.",
    fix: "Ask for less: a shorter period, a smaller `limit`, or one filter more. The operator can raise `HELIOGRAPH_REPORTING_TIMEOUT_SECONDS`. Sends are not affected.",
  },
  QUERY_QUEUE_FULL: {
    status: 503,
    type: "server",
    message: "Too many lists and statistics are read at the moment.",
    cause:
      "Lists, searches and statistics share a few database connections, so that they never delay a send. Too many of them wait, most of them for this account, or this one has waited for the whole time limit.",
    fix: "Wait for the seconds in `Retry-After`, then retry. Read lists one page after the other. The operator can raise `HELIOGRAPH_REPORTING_CONCURRENCY`. Sends are not affected.",
  },
  SERVICE_HELD: {
    status: 503,
    type: "server",
    message: "The service was restored from a backup and sends nothing until its operator resumes it.",
    cause:
      "After a restore the service is held: messages of the backup may have been sent already, and the operator decides about them first. Lists, statistics and configuration work; sends and one-time passwords are refused.",
    fix: "Wait, then retry with the same `Idempotency-Key`. The operator runs `heliograph resume`.",
  },
  STORAGE_FULL: {
    status: 503,
    type: "server",
    message: "The disk of the message store is nearly full. Nothing was accepted.",
    cause:
      "The disk has less free space than `HELIOGRAPH_DISK_FREE_MIN_MB`. The rest is kept for receipts, callbacks and retention, which continue.",
    fix: "Wait for the seconds in `Retry-After`, then retry. The operator frees space, shortens the retention of messages, or moves the data directory to a larger disk.",
  },
  STORAGE_UNAVAILABLE: {
    status: 503,
    type: "server",
    message: "The message store is not writable at the moment.",
    cause: "The disk is full or the database is unavailable.",
    fix: "Wait for the seconds in `Retry-After` and retry with the same `Idempotency-Key`. Nothing was accepted, unless the database connection broke during a commit: the key prevents a second send in that case. The server recovers automatically.",
  },
} as const satisfies Record<string, ProblemEntry>;

export type ProblemCode = keyof typeof PROBLEMS;

/** One invalid field: its path and its requirement. */
export interface Fault {
  parameter: string;
  message: string;
}

interface ProblemOptions {
  message?: string;
  faults?: readonly Fault[];
  retryAfterSeconds?: number;
  /** The id that the response to a one-time password repeats. */
  echo?: string | null;
  /** Additional numeric fields of the error for clients. */
  facts?: Readonly<Record<string, number>>;
  cause?: unknown;
}

/** An error that the caller may see: it becomes the response. Every other error is internal and answers 500. */
export class Problem extends Error {
  override name = "Problem";
  readonly code: ProblemCode;
  readonly faults: readonly Fault[];
  readonly retryAfterSeconds: number | undefined;
  readonly echo: string | null;
  readonly facts: Readonly<Record<string, number>>;

  constructor(code: ProblemCode, options: ProblemOptions = {}) {
    // No stack trace: it would never be read, and capturing it takes longer than the response.
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

/** Response to a request that waited longer than clients do: the client may have repeated it on another node. */
export const tooLate = (): Problem =>
  new Problem("OVERLOADED", {
    message: "The request waited too long and was not executed: retry.",
    retryAfterSeconds: 1,
  });

/** Throws INVALID_REQUEST with all faults, if there are any. */
export function refuseFaults(faults: readonly Fault[]): void {
  if (faults.length > 0) throw new Problem("INVALID_REQUEST", { faults });
}
