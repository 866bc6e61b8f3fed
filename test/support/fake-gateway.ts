import type { HttpPresetName } from "../../src/model/http-connection.ts";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { outcomeOf, type ScriptedReceipt } from "../../src/carriers/simulator/scripted-outcome.ts";
import { newId } from "../../src/lib/ids.ts";
import { CALM } from "../../src/model/phone.ts";

/** Scripted fault of the gateway. */
export type Misbehaviour =
  | { kind: "status"; status: number; headers?: Readonly<Record<string, string>>; text?: string }
  /** Closes the connection after reading the request. */
  | { kind: "cut" }
  /** Accepts the message and closes the connection in the middle of the response. */
  | { kind: "cut in the answer" }
  | { kind: "silent" }
  | { kind: "endless" };

/** A message that the gateway accepted, in fields common to all presets. */
export interface GatewayMessage {
  shape: Shape;
  id: string;
  to: string;
  from: string;
  text: string;
  callbackUrl: string | null;
  /** The received fields under the provider's own names. */
  fields: Readonly<Record<string, string>>;
}

type Shape = HttpPresetName;

/** Expected credentials. */
export const ACCOUNT = { name: "acct1", secret: "s3cret & more" };

interface Heard {
  method: string;
  url: URL;
  headers: IncomingMessage["headers"];
  body: string;
}

interface Answer {
  status: number;
  json?: unknown;
  text?: string;
}

interface Options {
  port?: number;
  /** Delay before a report. */
  delayMs?: number;
  /** Delay before a failed report is retried. */
  repeatMs?: number;
  /** Records every message; benches switch it off. */
  keep?: boolean;
}

/**
 * A provider of text messages whose HTTP API has the shape of each preset. It validates every field, chooses the
 * outcome by the last digits of the number, and retries a report until it is accepted.
 */
export class FakeGateway {
  readonly taken: GatewayMessage[] = [];
  /** Faults of the received requests. */
  readonly faults: string[] = [];
  /** Responses to its callbacks. */
  readonly answers: { status: number; text: string }[] = [];
  requests = 0;
  /** URL for the events of services whose requests have none. */
  webhook: string | null = null;
  #misbehaviour: Misbehaviour | null = null;
  #isClosed = false;
  readonly #options: Required<Options>;
  readonly #server: Server;
  readonly #timers = new Set<NodeJS.Timeout>();

  private constructor(options: Options) {
    this.#options = { port: 0, delayMs: 5, repeatMs: 50, keep: true, ...options };
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => this.#hear(request, Buffer.concat(chunks).toString("utf8"), response));
    });
  }

  static async open(options: Options = {}): Promise<FakeGateway> {
    const gateway = new FakeGateway(options);
    await new Promise<void>((resolve) => gateway.#server.listen(options.port ?? 0, "127.0.0.1", resolve));
    return gateway;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Sets the fault of all later requests; null for none. */
  misbehave(misbehaviour: Misbehaviour | null): void {
    this.#misbehaviour = misbehaviour;
  }

  close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  #hear(request: IncomingMessage, body: string, response: ServerResponse): void {
    this.requests += 1;
    const wrong = this.#misbehaviour;
    if (wrong && wrong.kind !== "cut in the answer") return misbehave(wrong, response);
    const { method = "", url = "", headers } = request;
    const { status, json, text = "" } = this.#answer({ method, url: new URL(url, this.url), headers, body });
    const responseText = json === undefined ? text : JSON.stringify(json);
    if (wrong) {
      response.writeHead(status, { "content-length": responseText.length + 100 });
      response.write(responseText.slice(0, 5), () => response.destroy());
      return;
    }
    response
      .writeHead(status, { "content-type": json === undefined ? "text/plain" : "application/json" })
      .end(responseText);
  }

  #answer(heard: Heard): Answer {
    const { pathname } = heard.url;
    if (pathname === "/cgi-bin/sendsms") return this.#kannel(heard);
    if (pathname === `/2010-04-01/Accounts/${ACCOUNT.name}/Messages.json`) return this.#twilio(heard);
    if (pathname === `/xms/v1/${ACCOUNT.name}/batches`) return this.#sinch(heard);
    if (pathname === "/sms/json") return this.#vonage(heard);
    if (pathname === "/sms/2/text/advanced") return this.#infobip(heard);
    if (pathname === `/v1/Accounts/${ACCOUNT.name}/Sms/send.json`) return this.#exotel(heard);
    if (pathname === "/api/v2/sendsms") return this.#msg91(heard);
    if (pathname === "/GatewayAPI/rest") return this.#gupshup(heard);
    if (pathname === `/v1/${ACCOUNT.name}/messages`) return this.#kaleyra(heard);
    if (pathname === "/bulksms/bulksms") return this.#routemobile(heard);
    if (pathname === "/3rdparty/v1/messages") return this.#smsgate(heard);
    if (pathname === `/api/v1/gateway/devices/${ACCOUNT.name}/send-sms`) return this.#textbee(heard);
    if (pathname === "/v1/messages/send") return this.#httpsms(heard);
    return { status: 404, text: "Nothing is here" };
  }

  #kannel({ method, url }: Heard): Answer {
    const fields = Object.fromEntries(url.searchParams);
    if (method !== "GET") return { status: 405 };
    if (fields["username"] !== ACCOUNT.name || fields["password"] !== ACCOUNT.secret)
      return { status: 403, text: "Authorization failed for sendsms" };
    const known = ["username", "password", "from", "to", "text", "charset", "coding", "mclass", "validity", "dlr-mask", "dlr-url", "meta-data"]; // prettier-ignore
    this.#check(fields, known, ["to", "text", "dlr-url"]);
    const { to = "", from = "", text = "" } = fields;
    const fate = scriptedOutcomeOf(to);
    if (fate.submit === "refused") return { status: 400, text: "Malformed destination" };
    if (fate.submit === "busy") return { status: 503, text: "Temporal failure, try again later." };
    const callbackUrl = fields["dlr-url"] ?? null;
    const message = this.#take({ shape: "kannel", id: "", to, from, text, callbackUrl, fields });
    this.#reportAll(message, fate.reports, ({ state, errorCode }) => ({
      url: (callbackUrl ?? "")
        .replace("%d", state === "delivered" ? "1" : state === "enroute" ? "8" : "2")
        .replace("%T", String(Math.floor(Date.now() / 1000)))
        .replace("%A", encodeURIComponent(`id:1 sub:001 stat:X err:${errorCode ?? "000"} text:${text}`)),
    }));
    return { status: 202, text: "0: Accepted for delivery" };
  }

  #twilio({ method, headers, body }: Heard): Answer {
    const error = (status: number, code: number): Answer => ({
      status,
      json: { code, message: "No", more_info: `https://www.twilio.com/docs/errors/${code}`, status },
    });
    const basic = `Basic ${Buffer.from(`${ACCOUNT.name}:${ACCOUNT.secret}`).toString("base64")}`;
    if (method !== "POST") return error(405, 20_004);
    if (headers.authorization !== basic) return error(401, 20_003);
    const fields = this.#form(headers, body);
    this.#check(fields, ["To", "From", "Body", "ValidityPeriod", "StatusCallback"], ["To", "From", "Body"]);
    const { To = "", From = "", Body = "", ValidityPeriod = "1", StatusCallback = null } = fields;
    if (!/^\+[1-9]\d{6,14}$/.test(To)) this.faults.push("To is no number");
    if (!/^\d+$/.test(ValidityPeriod) || Number(ValidityPeriod) < 1 || Number(ValidityPeriod) > 36_000)
      return error(400, 21_624);
    const fate = scriptedOutcomeOf(To.slice(1));
    if (fate.submit === "refused") return error(400, 21_211);
    if (fate.submit === "busy") return error(429, 20_429);
    const id = `SM${newId(Date.now()).replaceAll("-", "")}`;
    const message = this.#take({
      shape: "twilio",
      id,
      to: To,
      from: From,
      text: Body,
      callbackUrl: StatusCallback,
      fields,
    });
    this.#reportAll(message, fate.reports, ({ state, errorCode }) => ({
      url: StatusCallback ?? "",
      contentType: "application/x-www-form-urlencoded",
      body: new URLSearchParams({
        AccountSid: ACCOUNT.name,
        MessageSid: id,
        SmsSid: id,
        MessageStatus: state === "enroute" ? "sent" : state === "delivered" ? "delivered" : "undelivered",
        ...(errorCode && errorCode !== "000" ? { ErrorCode: errorCode } : {}),
        To,
        From,
      }).toString(),
    }));
    return { status: 201, json: { sid: id, status: "queued", error_code: null } };
  }

  #sinch({ method, headers, body }: Heard): Answer {
    if (method !== "POST") return { status: 405 };
    if (headers.authorization !== `Bearer ${ACCOUNT.secret}`) return { status: 401, text: "" };
    const batch = this.#json(headers, body);
    const fields = flat(batch);
    const known = ["from", "to", "body", "expire_at", "delivery_report", "callback_url", "client_reference", "flash_message"]; // prettier-ignore
    this.#check(fields, known, ["from", "to", "body"]);
    const [to = ""] = batch["to"] as string[];
    if (fields["delivery_report"] !== "per_recipient") this.faults.push("delivery_report is not per_recipient");
    if (Number.isNaN(Date.parse(fields["expire_at"] ?? ""))) this.faults.push("expire_at is no date");
    const fate = scriptedOutcomeOf(to);
    if (fate.submit === "refused")
      return { status: 400, json: { code: "syntax_invalid_parameter_format", text: "No" } };
    if (fate.submit === "busy") return { status: 429, json: { code: "too_many_requests", text: "Slower" } };
    const id = newId(Date.now());
    const callbackUrl = fields["callback_url"] ?? null;
    const { from = "", body: text = "" } = fields;
    const message = this.#take({ shape: "sinch", id, to, from, text, callbackUrl, fields });
    this.#reportAll(message, fate.reports, ({ state }) => ({
      url: callbackUrl ?? "",
      contentType: "application/json",
      body: JSON.stringify({
        type: "recipient_delivery_report_sms",
        batch_id: id,
        recipient: to,
        code: state === "delivered" ? 0 : 406,
        status: state === "delivered" ? "Delivered" : state === "enroute" ? "Dispatched" : "Failed",
        at: new Date().toISOString(),
        client_reference: fields["client_reference"],
      }),
    }));
    return { status: 201, json: { id, to: [to], canceled: false, type: "mt_text" } };
  }

  #vonage({ method, headers, body }: Heard): Answer {
    const error = (status: string): Answer => ({
      status: 200,
      json: { "message-count": "1", messages: [{ status, "error-text": "No" }] },
    });
    if (method !== "POST") return { status: 405 };
    const fields = this.#form(headers, body);
    if (fields["api_key"] !== ACCOUNT.name || fields["api_secret"] !== ACCOUNT.secret) return error("4");
    const known = ["api_key", "api_secret", "from", "to", "text", "type", "message-class", "entity-id", "content-id", "callback", "client-ref"]; // prettier-ignore
    this.#check(fields, known, ["from", "to", "text"]);
    const { to = "", from = "", text = "", callback = null } = fields;
    const fate = scriptedOutcomeOf(to);
    if (fate.submit === "refused") return error("3");
    if (fate.submit === "busy") return error("1");
    const single = fields["type"] === "unicode" ? 70 : 160;
    const parts = text.length <= single ? 1 : Math.ceil(text.length / (fields["type"] === "unicode" ? 67 : 153));
    const messages = Array.from({ length: parts }, () => {
      const id = newId(Date.now()).replaceAll("-", "").toUpperCase();
      const message = this.#take({ shape: "vonage", id, to, from, text, callbackUrl: callback, fields });
      this.#reportAll(message, fate.reports, ({ state, errorCode }) => ({
        url: `${callback ?? ""}&${new URLSearchParams({
          msisdn: to,
          to: from,
          messageId: id,
          status: state === "delivered" ? "delivered" : state === "enroute" ? "accepted" : "failed",
          "err-code": errorCode ?? "0",
          "message-timestamp": new Date().toISOString().replace("T", " ").slice(0, 19),
          ...(fields["client-ref"] === undefined ? {} : { "client-ref": fields["client-ref"] }),
        }).toString()}`,
      }));
      return { to, "message-id": id, status: "0", "remaining-balance": "3.14", "message-price": "0.03" };
    });
    return { status: 200, json: { "message-count": String(parts), messages } };
  }

  #infobip({ method, headers, body }: Heard): Answer {
    const fault = (status: number, messageId: string): Answer => ({
      status,
      json: { requestError: { serviceException: { messageId, text: "No" } } },
    });
    if (method !== "POST") return { status: 405 };
    if (headers.authorization !== `App ${ACCOUNT.secret}`) return fault(401, "UNAUTHORIZED");
    const { messages } = this.#json(headers, body) as { messages: Record<string, unknown>[] };
    const fields = flat(messages[0] ?? {});
    const known = ["destinations", "from", "text", "validityPeriod", "notifyUrl", "notifyContentType", "callbackData", "flash", "regional"]; // prettier-ignore
    this.#check(fields, known, ["destinations", "text"]);
    const [{ to = "" } = {}] = (messages[0]?.["destinations"] ?? []) as { to?: string }[];
    if (Number(fields["validityPeriod"]) > 2880) this.faults.push("validityPeriod is above two days");
    const scripted = scriptedOutcomeOf(to);
    const answer = (groupName: string, name: string, messageId: string): Answer => ({
      status: 200,
      json: { messages: [{ to, messageId, status: { groupId: 1, groupName, id: 26, name, description: "Said so" } }] },
    });
    if (scripted.submit === "busy") return fault(429, "TOO_MANY_REQUESTS");
    const id = newId(Date.now());
    if (scripted.submit === "refused") return answer("REJECTED", "REJECTED_DESTINATION", id);
    const { from = "", text = "", notifyUrl = null } = fields;
    const message = this.#take({ shape: "infobip", id, to, from, text, callbackUrl: notifyUrl, fields });
    this.#reportAll(message, scripted.reports, ({ state, errorCode }) => {
      const groupName = state === "delivered" ? "DELIVERED" : state === "enroute" ? "PENDING" : "UNDELIVERABLE";
      const name = state === "undelivered" ? `EC_${errorCode ?? "X"}` : "NO_ERROR";
      return jsonCall(notifyUrl ?? "", {
        results: [
          {
            messageId: id,
            to,
            doneAt: new Date().toISOString().replace("Z", "+0000"),
            status: { groupId: 3, groupName, id: 5, name: groupName, description: "Said so" },
            error: { groupId: 0, groupName: "OK", id: 0, name, permanent: false },
            callbackData: fields["callbackData"],
          },
        ],
      });
    });
    return answer("PENDING", "PENDING_ACCEPTED", id);
  }

  #exotel({ method, headers, body }: Heard): Answer {
    const fault = (status: number): Answer => ({ status, json: { RestException: { Status: status, Message: "No" } } });
    const basic = `Basic ${Buffer.from(`${ACCOUNT.name}:${ACCOUNT.secret}`).toString("base64")}`;
    if (method !== "POST") return { status: 405 };
    if (headers.authorization !== basic) return fault(401);
    const fields = this.#form(headers, body);
    const known = ["From", "To", "Body", "EncodingType", "DltEntityId", "DltTemplateId", "SmsType", "CustomField", "Priority", "StatusCallback"]; // prettier-ignore
    this.#check(fields, known, ["From", "To", "Body"]);
    const { From = "", To = "", Body = "", StatusCallback = null } = fields;
    const scripted = scriptedOutcomeOf(To.slice(1));
    if (scripted.submit === "refused") return fault(400);
    if (scripted.submit === "busy") return fault(429);
    const id = newId(Date.now()).replaceAll("-", "");
    const callbackUrl = StatusCallback;
    const message = this.#take({ shape: "exotel", id, to: To, from: From, text: Body, callbackUrl, fields });
    this.#reportAll(message, scripted.reports, ({ state, errorCode }) => ({
      url: StatusCallback ?? "",
      contentType: "application/x-www-form-urlencoded",
      body: new URLSearchParams({
        SmsSid: id,
        To,
        Status: state === "delivered" ? "sent" : state === "enroute" ? "submitted" : "failed",
        DetailedStatus: "SAID_SO",
        DetailedStatusCode: errorCode ?? "20005",
      }).toString(),
    }));
    return { status: 200, json: { SMSMessage: { Sid: id, To, From, Body, Status: "queued" } } };
  }

  /** From MSG91's pages "Send SMS (v2)" and "How to use Webhook", version 3. */
  #msg91({ method, headers, body }: Heard): Answer {
    const error = (status: number, message: string): Answer => ({ status, json: { message, type: "error" } });
    if (method !== "POST") return { status: 405 };
    if (headers["authkey"] !== ACCOUNT.secret) return error(200, "Authentication failure");
    const given = this.#json(headers, body);
    const fields = flat(given);
    const known = ["sender", "route", "country", "unicode", "flash", "DLT_TE_ID", "sms"];
    this.#check(fields, known, ["sender", "route", "country", "sms"]);
    const [{ message: text = "", to: [to = ""] = [] } = {}] = given["sms"] as { message?: string; to?: string[] }[];
    const scripted = scriptedOutcomeOf(to);
    if (scripted.submit === "busy") return error(429, "Too many requests");
    if (scripted.submit === "refused") return error(200, "Invalid mobile number");
    const id = newId(Date.now()).replaceAll("-", "").slice(0, 24);
    const from = fields["sender"] ?? "";
    const taken = this.#take({ shape: "msg91", id, to, from, text, callbackUrl: this.webhook, fields });
    this.#reportAll(taken, scripted.reports, ({ state }) =>
      jsonCall(this.webhook ?? "", {
        requestId: id,
        number: to,
        senderId: from,
        date: "2024-05-22 09:58:16",
        status: state === "delivered" ? "1" : state === "enroute" ? "8" : "2",
        desc: state.toUpperCase(),
      }),
    );
    return { status: 200, json: { message: id, type: "success" } };
  }

  /** From Gupshup's pages "Send Messages to Single Number" and "Real Time Delivery Reports". */
  #gupshup({ method, headers, body }: Heard): Answer {
    if (method !== "POST") return { status: 405 };
    const fields = this.#form(headers, body);
    if (fields["userid"] !== ACCOUNT.name || fields["password"] !== ACCOUNT.secret)
      return { status: 200, text: "error | 102 | The user id or password is wrong" };
    const known = ["method", "v", "auth_scheme", "format", "userid", "password", "send_to", "mask", "msg", "msg_type", "principalEntityId", "dltTemplateId"]; // prettier-ignore
    this.#check(fields, known, ["method", "v", "auth_scheme", "send_to", "msg", "msg_type"]);
    const { send_to: to = "", mask: from = "", msg: text = "" } = fields;
    const scripted = scriptedOutcomeOf(to);
    if (scripted.submit === "busy") return { status: 503 };
    if (scripted.submit === "refused") return { status: 200, text: "error | 105 | The phone number is not valid" };
    const id = `${Date.now()}-${this.requests}`;
    const taken = this.#take({ shape: "gupshup", id, to, from, text, callbackUrl: this.webhook, fields });
    this.#reportAll(taken, scripted.reports, ({ state, errorCode }) => ({
      url: `${this.webhook}&${new URLSearchParams({
        externalId: id,
        deliveredTS: String(Date.now()),
        status: state === "delivered" ? "SUCCESS" : state === "enroute" ? "UNKNOWN" : "FAIL",
        cause: state === "delivered" ? "SUCCESS" : "UNKNOWN_SUBSCRIBER",
        phoneNo: to,
        errCode: errorCode ?? "000",
      }).toString()}`,
    }));
    return { status: 200, text: `success | ${to} | ${id}` };
  }

  /** From Kaleyra's pages "Callback Request using Callback Profiles" and "SMS Callback". */
  #kaleyra({ method, headers, body }: Heard): Answer {
    const fault = (status: number): Answer => ({ status, json: { code: `E${status}`, message: "No", data: [] } });
    if (method !== "POST") return { status: 405 };
    if (headers["api-key"] !== ACCOUNT.secret) return fault(401);
    const fields = this.#form(headers, body);
    const known = ["to", "sender", "body", "type", "template_id", "callback_profile_id"];
    this.#check(fields, known, ["to", "sender", "body", "type", "callback_profile_id"]);
    const { to = "", sender: from = "", body: text = "" } = fields;
    const scripted = scriptedOutcomeOf(to.slice(1));
    if (scripted.submit === "busy") return fault(429);
    if (scripted.submit === "refused") return fault(400);
    const id = `${newId(Date.now())}:1`;
    const taken = this.#take({ shape: "kaleyra", id, to, from, text, callbackUrl: this.webhook, fields });
    this.#reportAll(taken, scripted.reports, ({ state, errorCode }) =>
      jsonCall(this.webhook ?? "", {
        id,
        mobile: to,
        status: state === "delivered" ? "Delivered" : state === "enroute" ? "Sent" : "Undelivered",
        error: errorCode ?? "",
      }),
    );
    return { status: 202, json: { id: id.slice(0, -2), data: [{ message_id: id, recipient: to }], error: {} } };
  }

  /** From Route Mobile's documents "Bulk HTTP API Specifications" and "DLR Push API Specifications". */
  #routemobile({ method, url }: Heard): Answer {
    const fields = Object.fromEntries(url.searchParams);
    if (method !== "GET") return { status: 405 };
    if (fields["username"] !== ACCOUNT.name || fields["password"] !== ACCOUNT.secret)
      return { status: 200, text: "1703" };
    const known = ["username", "password", "dlr", "type", "destination", "source", "message", "entityid", "tempid"];
    this.#check(fields, known, ["dlr", "type", "destination", "source", "message"]);
    const { destination: to = "", source: from = "", message: text = "" } = fields;
    const scripted = scriptedOutcomeOf(to);
    if (scripted.submit === "busy") return { status: 200, text: "1710" };
    if (scripted.submit === "refused") return { status: 200, text: `1706|${to}` };
    const id = newId(Date.now());
    const taken = this.#take({ shape: "routemobile", id, to, from, text, callbackUrl: this.webhook, fields });
    this.#reportAll(taken, scripted.reports, ({ state, errorCode }) => ({
      url: this.webhook ?? "",
      contentType: "application/x-www-form-urlencoded",
      body: new URLSearchParams({
        sSender: from,
        sMobileNo: to,
        sStatus: state === "delivered" ? "DELIVRD" : state === "enroute" ? "ENROUTE" : "UNDELIV",
        sMessageId: id,
        iErrCode: errorCode ?? "0",
      }).toString(),
    }));
    return { status: 200, text: `1701|${to}|${id}` };
  }

  #smsgate({ method, headers, body }: Heard): Answer {
    const basic = `Basic ${Buffer.from(`${ACCOUNT.name}:${ACCOUNT.secret}`).toString("base64")}`;
    if (method !== "POST") return { status: 405 };
    if (headers.authorization !== basic) return { status: 401, json: { message: "Unauthorized" } };
    const given = this.#json(headers, body);
    const fields = flat(given);
    this.#check(fields, ["textMessage", "phoneNumbers", "ttl", "withDeliveryReport"], ["textMessage", "phoneNumbers"]);
    if (fields["withDeliveryReport"] !== "true") this.faults.push("withDeliveryReport is not true");
    if (!Number.isInteger(given["ttl"])) this.faults.push("ttl is no number");
    const [to = ""] = given["phoneNumbers"] as string[];
    const { text = "" } = given["textMessage"] as { text?: string };
    const event = (id: string, { state, errorCode }: ScriptedReceipt): object => ({
      deviceId: "device-1",
      event: state === "delivered" ? "sms:delivered" : state === "enroute" ? "sms:sent" : "sms:failed",
      id: newId(Date.now()),
      payload: { messageId: id, recipient: to, ...(state === "undelivered" && { reason: errorCode ?? "no" }) },
      webhookId: "hook-1",
    });
    const answer = (id: string): Answer => ({ status: 202, json: { id, deviceId: "device-1", state: "Pending" } });
    return this.#byPhone({ shape: "smsgate", to, text, fields, event, answer });
  }

  #textbee({ method, headers, body }: Heard): Answer {
    if (method !== "POST") return { status: 405 };
    if (headers["x-api-key"] !== ACCOUNT.secret) return { status: 401, json: { error: "Unauthorized" } };
    const given = this.#json(headers, body);
    const fields = flat(given);
    this.#check(fields, ["recipients", "message", "simSubscriptionId", "scheduledAt"], ["recipients", "message"]);
    const [to = ""] = given["recipients"] as string[];
    const event = (smsBatchId: string, { state, errorCode }: ScriptedReceipt): object => ({
      smsId: newId(Date.now()),
      smsBatchId,
      message: fields["message"],
      deviceId: ACCOUNT.name,
      webhookEvent: state === "delivered" ? "MESSAGE_DELIVERED" : "MESSAGE_SENT",
      status: state === "delivered" ? "delivered" : state === "enroute" ? "sent" : "failed",
      recipient: to,
      ...(state === "undelivered" && { errorCode: errorCode ?? "1", errorMessage: "Said so" }),
    });
    const answer = (smsBatchId: string): Answer => ({ status: 201, json: { data: { success: true, smsBatchId } } });
    return this.#byPhone({ shape: "textbee", to, text: fields["message"] ?? "", fields, event, answer });
  }

  #httpsms({ method, headers, body }: Heard): Answer {
    if (method !== "POST") return { status: 405 };
    if (headers["x-api-key"] !== ACCOUNT.secret) return { status: 401, json: { status: "error", message: "No" } };
    const fields = flat(this.#json(headers, body));
    this.#check(fields, ["content", "from", "to", "request_id", "encrypted", "sim"], ["content", "from", "to"]);
    const { content = "", from = "", to = "" } = fields;
    const event = (id: string, { state, errorCode }: ScriptedReceipt): object => ({
      specversion: "1.0",
      id: newId(Date.now()),
      type:
        state === "delivered"
          ? "message.phone.delivered"
          : state === "enroute"
            ? "message.phone.sent"
            : "message.send.failed",
      data: {
        id,
        request_id: fields["request_id"],
        owner: from,
        contact: to,
        content,
        timestamp: new Date().toISOString(),
        ...(state === "undelivered" && { error_message: errorCode ?? "no" }),
      },
    });
    const answer = (id: string): Answer => ({
      status: 200,
      json: { status: "success", message: "queued", data: { id } },
    });
    return this.#byPhone({ shape: "httpsms", from, to, text: content, fields, event, answer });
  }

  /** A service whose events go to a webhook that was registered before. */
  #byPhone({ shape, from = "", to, text, fields, event, answer }: PhoneService): Answer {
    if (!/^\+[1-9]\d{6,14}$/.test(to)) this.faults.push(`${to} is no number`);
    const scripted = scriptedOutcomeOf(to.slice(1));
    if (scripted.submit === "refused") return { status: 400, json: { message: "No" } };
    if (scripted.submit === "busy") return { status: 429, json: { message: "Slower" } };
    const id = newId(Date.now());
    const message = this.#take({ shape, id, to, from, text, callbackUrl: this.webhook, fields });
    this.#reportAll(message, scripted.reports, (report) => jsonCall(this.webhook ?? "", event(id, report)));
    return answer(id);
  }

  #json(headers: Heard["headers"], body: string): Record<string, unknown> {
    if (!headers["content-type"]?.startsWith("application/json")) this.faults.push("the body has no JSON content type");
    return JSON.parse(body) as Record<string, unknown>;
  }

  #form(headers: Heard["headers"], body: string): Record<string, string> {
    if (headers["content-type"] !== "application/x-www-form-urlencoded")
      this.faults.push("the body has no form content type");
    return Object.fromEntries(new URLSearchParams(body));
  }

  #check(fields: Readonly<Record<string, string>>, known: readonly string[], required: readonly string[]): void {
    for (const name of Object.keys(fields)) if (!known.includes(name)) this.faults.push(`${name} is no field`);
    for (const name of required) if ((fields[name] ?? "") === "") this.faults.push(`${name} is missing`);
    for (const name of ["dlr-url", "StatusCallback", "callback_url", "callback", "notifyUrl"])
      if (fields[name] !== undefined && !URL.canParse(fields[name])) this.faults.push(`${name} is no address`);
  }

  #take(message: GatewayMessage): GatewayMessage {
    if (this.#options.keep) this.taken.push(message);
    return message;
  }

  #reportAll(
    { callbackUrl }: GatewayMessage,
    reports: readonly ScriptedReceipt[],
    write: (report: ScriptedReceipt) => Call,
  ): void {
    if (callbackUrl === null) return;
    for (const report of reports) this.#later(this.#options.delayMs, () => this.#call(write(report)));
  }

  /** Retries until the callback is accepted. */
  async #call(call: Call): Promise<void> {
    const { url, contentType, body } = call;
    let status = 0;
    try {
      const posted = body === undefined ? {} : { method: "POST", body, headers: { "content-type": contentType ?? "" } };
      const response = await fetch(url, posted);
      status = response.status;
      this.answers.push({ status, text: await response.text() });
    } catch {
      // The receiver is not reachable; retry.
    }
    if (status !== 200) this.#later(this.#options.repeatMs, () => this.#call(call));
  }

  #later(delayMs: number, run: () => Promise<void>): void {
    if (this.#isClosed) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      void run();
    }, delayMs);
    this.#timers.add(timer);
  }
}

interface PhoneService extends Pick<GatewayMessage, "shape" | "to" | "text" | "fields"> {
  from?: string;
  event(id: string, report: ScriptedReceipt): object;
  answer(id: string): Answer;
}

/** A JSON object as text fields. */
const flat = (given: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );

const jsonCall = (url: string, body: object): Call => ({
  url,
  contentType: "application/json",
  body: JSON.stringify(body),
});

interface Call {
  url: string;
  contentType?: string;
  body?: string;
}

/** By the last digits of the number only. */
const scriptedOutcomeOf = (recipient: string): ReturnType<typeof outcomeOf> =>
  outcomeOf({ recipient, channel: "sms", attempts: 0 }, CALM, () => 0);

function misbehave(wrong: Exclude<Misbehaviour, { kind: "cut in the answer" }>, response: ServerResponse): void {
  if (wrong.kind === "status") {
    response.writeHead(wrong.status, wrong.headers ?? {}).end(wrong.text ?? "");
    return;
  }
  if (wrong.kind === "cut") response.destroy();
  if (wrong.kind !== "endless") return;
  const pour = (): void => {
    if (!response.destroyed) response.write("x".repeat(65_536), pour);
  };
  pour();
}
