import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { faultsIn, isReadMark } from "./fake-whatsapp-checks.ts";
import { FakeWhatsappMedia } from "./fake-whatsapp-media.ts";
import { templateFaultsIn } from "./fake-whatsapp-templates.ts";

/** Scripted fault of the next request. */
export type Fault =
  /** A documented error of the platform. */
  | { kind: "error"; code: number; status?: number; details?: string; headers?: Record<string, string> }
  /** A response from another source, such as a proxy. */
  | { kind: "status"; status: number; text?: string; headers?: Record<string, string> }
  /** Accepts the message with another status word. */
  | { kind: "taken as"; word: string }
  /** Closes the connection before reading the request or after accepting the message. */
  | { kind: "cut"; when: "before" | "after" }
  /** Accepts the message and never responds. */
  | { kind: "silent" };

/** A signed webhook call of the platform. */
export interface SignedCall {
  body: Buffer;
  headers: Record<string, string>;
}

export interface FakeOptions {
  token: string;
  appSecret: string;
  phoneNumberIds: readonly string[];
  businessAccountId: string;
  displayNumber: string;
  /** Required header with the token. */
  authentication: { header: string; value: string };
  /** Path prefix of all requests; empty for a provider without versions. */
  prefix: string;
  /** True if messages are posted under the id of the phone number. */
  phoneNumberInPath: boolean;
  /** Templates as its API lists them. */
  templates: readonly object[];
  port: number;
  /** Delivers a webhook call and returns the status. Calls not answered with 200 stay pending. */
  deliver(call: SignedCall): Promise<number>;
}

/** A message that the platform accepted. */
interface AcceptedMessage {
  id: string;
  to: string;
  path: string;
  body: Readonly<Record<string, unknown>>;
}

export interface FakeWhatsapp {
  url: string;
  taken: AcceptedMessage[];
  /** Read marks. */
  marks: object[];
  /** Created and edited templates. */
  submitted: { id: string; body: Readonly<Record<string, unknown>> }[];
  /** Uploaded files, and those of users. */
  media: FakeWhatsappMedia;
  /** Faults of the received requests. */
  faults: string[];
  /** Number of requests, including failed ones. */
  readonly requests: number;
  /** Sets the faults of the next requests, one each. */
  next(...scriptedFaults: Fault[]): void;
  /** Sends each pending report once; those not accepted stay pending. */
  report(): Promise<void>;
  /** Signs any payload as the platform does. */
  sign(value: unknown): SignedCall;
  close(): Promise<void>;
}

/** The last digits of the number choose the outcome. */
const REFUSED = "001";
const FAILED = "002";
const READ_AT_ONCE = "003";

export const RECIPIENTS = {
  deliverable: "15550109000",
  refused: `15550109${REFUSED}`,
  failed: `15550109${FAILED}`,
  readAtOnce: `15550109${READ_AT_ONCE}`,
} as const;

export const FAKE_DEFAULTS: Omit<FakeOptions, "deliver"> = {
  token: "EAAG-fake-token",
  appSecret: "fake-app-secret",
  phoneNumberIds: ["106540352242922"],
  businessAccountId: "102290129340398",
  displayNumber: "15550783881",
  authentication: { header: "authorization", value: "Bearer EAAG-fake-token" },
  prefix: "/v26.0",
  phoneNumberInPath: true,
  templates: [],
  port: 0,
};

/**
 * The WhatsApp Cloud API as documented, on a local port. It validates every field, responds and reports as the platform
 * does, and fails on request.
 */
export async function openFakeWhatsapp(given: Partial<FakeOptions> = {}): Promise<FakeWhatsapp> {
  const options: FakeOptions = { ...FAKE_DEFAULTS, deliver: () => Promise.resolve(200), ...given };
  const taken: AcceptedMessage[] = [];
  const marks: object[] = [];
  const submitted: { id: string; body: AcceptedMessage["body"] }[] = [];
  const faults: string[] = [];
  const scriptedFaults: Fault[] = [];
  const media = new FakeWhatsappMedia(options);
  let owed: object[] = [];
  let requests = 0;
  let ids = 0;

  const server = createServer((request, response) => {
    requests += 1;
    const fault = request.method === "POST" ? scriptedFaults.shift() : undefined;
    if (fault?.kind === "cut" && fault.when === "before") {
      request.socket.destroy();
      return;
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const bytes = Buffer.concat(chunks);
      if (isAuthorized(request) && media.answer(request, response, bytes, fault)) return;
      answer(request, response, bytes.toString("utf8"), fault);
    });
  });
  const isAuthorized = ({ headers }: IncomingMessage): boolean =>
    headers[options.authentication.header] === options.authentication.value;

  function answer(request: IncomingMessage, response: ServerResponse, text: string, fault: Fault | undefined): void {
    if (!isAuthorized(request)) return sendError(response, { kind: "error", code: 190, status: 401 });
    if (request.method === "GET") return list(request.url ?? "", response);
    if (fault?.kind === "error") return sendError(response, fault);
    if (fault?.kind === "status")
      return void response.writeHead(fault.status, fault.headers ?? {}).end(fault.text ?? "<html>Bad gateway</html>");
    const path = request.url ?? "";
    if (path.endsWith("/message_templates") || submitted.some(({ id }) => path === `${options.prefix}/${id}`))
      return takeTemplate(path, response, text);
    const wrong = [...wrongPath(path), ...wrongType(request), ...faultsIn(text), ...media.unknownIdsIn(text)];
    if (wrong.length > 0) {
      faults.push(...wrong);
      return sendError(response, { kind: "error", code: 131009, details: wrong.join("; ") });
    }
    const body = JSON.parse(text) as AcceptedMessage["body"];
    if (isReadMark(body)) {
      marks.push(body);
      return sayJson(response, 200, { success: true });
    }
    const to = String(body["to"]);
    if (to.endsWith(REFUSED)) return sendError(response, { kind: "error", code: 131026, details: "not reachable" });
    const id = take(to, path, body);
    if (fault?.kind === "cut") return void request.socket.destroy();
    if (fault?.kind === "silent") return;
    const word = fault?.kind === "taken as" ? fault.word : "accepted";
    sayJson(response, 200, {
      messaging_product: "whatsapp",
      contacts: [{ input: to, wa_id: to }],
      messages: [{ id, message_status: word }],
    });
  }

  /** Creates a template, or edits the one whose id is the path. */
  function takeTemplate(path: string, response: ServerResponse, text: string): void {
    const isNew = path === `${options.prefix}/${options.businessAccountId}/message_templates`;
    const wrong = templateFaultsIn(text, isNew);
    if (wrong.length > 0)
      return sayJson(response, 400, {
        error: {
          code: 100,
          message: "Invalid parameter",
          error_user_title: "Refused",
          error_user_msg: wrong.join("; "),
        },
      });
    const body = JSON.parse(text) as AcceptedMessage["body"];
    if (!isNew) {
      submitted.push({ id: path.split("/").at(-1) ?? "", body });
      return sayJson(response, 200, { success: true });
    }
    const id = String(594_425_479_261_596 + submitted.length);
    submitted.push({ id, body });
    sayJson(response, 200, { id, status: "PENDING", category: body["category"] });
  }

  function wrongPath(path: string): string[] {
    const { prefix, phoneNumberIds, phoneNumberInPath } = options;
    const right = phoneNumberInPath ? phoneNumberIds.map((id) => `${prefix}/${id}/messages`) : [`${prefix}/messages`];
    return right.includes(path) ? [] : [`there is nothing at ${path}`];
  }

  function take(to: string, path: string, body: AcceptedMessage["body"]): string {
    ids += 1;
    const id = `wamid.${Buffer.from(`${to}/${ids}`).toString("base64")}`;
    taken.push({ id, to, path, body });
    const about = { id, recipient_id: to, biz_opaque_callback_data: body["biz_opaque_callback_data"] };
    const fates = to.endsWith(FAILED)
      ? ["sent", "failed"]
      : to.endsWith(READ_AT_ONCE)
        ? ["read"]
        : ["sent", "delivered"];
    for (const status of fates) owed.push(statusOf(status, about));
    return id;
  }

  function statusOf(status: string, about: object): object {
    const timestamp = String(Math.floor(Date.now() / 1000));
    const failure = { code: 131026, title: "Message undeliverable", error_data: { details: "not reachable" } };
    const errors = status === "failed" ? { errors: [failure] } : {};
    const pricing = { billable: true, pricing_model: "PMP", type: "regular", category: "utility" };
    return { ...about, status, timestamp, pricing, ...errors };
  }

  function list(path: string, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(path, "http://fake");
    const { prefix, businessAccountId, phoneNumberIds, templates } = options;
    const known = [...phoneNumberIds, businessAccountId].find((id) => pathname === `${prefix}/${id}`);
    if (known !== undefined) return sayJson(response, 200, { id: known, verified_name: "Fake Shop" });
    const isList = pathname === `${prefix}/${businessAccountId}/message_templates`;
    if (!isList) return sendError(response, { kind: "error", code: 100, status: 404 });
    const start = Number(searchParams.get("after") ?? 0);
    const end = start + Number(searchParams.get("limit") ?? 25);
    const cursors = { before: String(start), after: String(end) };
    // SSRF check: the client must not follow this link to another host, because the token is not meant for it.
    const next = end < templates.length ? { next: "http://127.0.0.1:9/elsewhere" } : {};
    sayJson(response, 200, { data: templates.slice(start, end), paging: { cursors, ...next } });
  }

  const sign = (value: unknown): SignedCall => signedCall(options.appSecret, value);

  await new Promise<void>((resolve) => server.listen(options.port, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    taken,
    marks,
    submitted,
    media,
    faults,
    get requests() {
      return requests;
    },
    next: (...more) => void scriptedFaults.push(...more),
    async report() {
      const due = owed;
      owed = [];
      for (const status of due) {
        const call = sign(callOf({ statuses: [status] }, options));
        if ((await options.deliver(call)) !== 200) owed.push(status);
      }
    },
    sign,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const wrongType = ({ headers }: IncomingMessage): string[] =>
  headers["content-type"] === "application/json" ? [] : [`content-type is ${headers["content-type"]}`];

function sendError(response: ServerResponse, error: Extract<Fault, { kind: "error" }>): void {
  const { code, status = 400, details = "", headers = {} } = error;
  sayJson(
    response,
    status,
    {
      error: {
        message: `(#${code}) an error`,
        type: "OAuthException",
        code,
        error_data: { messaging_product: "whatsapp", details },
        fbtrace_id: "AbCdEf",
      },
    },
    headers,
  );
}

function sayJson(response: ServerResponse, status: number, value: object, headers: Record<string, string> = {}): void {
  const text = JSON.stringify(value);
  response
    .writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text), ...headers })
    .end(text);
}

/** A webhook call about the messages of a number. */
export const callOf = (
  value: object,
  {
    displayNumber,
    businessAccountId,
    phoneNumberIds,
  }: Pick<FakeOptions, "displayNumber" | "businessAccountId" | "phoneNumberIds"> = FAKE_DEFAULTS,
): object => ({
  object: "whatsapp_business_account",
  entry: [
    {
      id: businessAccountId,
      changes: [
        {
          field: "messages",
          value: {
            messaging_product: "whatsapp",
            metadata: { display_phone_number: displayNumber, phone_number_id: phoneNumberIds[0] },
            ...value,
          },
        },
      ],
    },
  ],
});

/**
 * The platform escapes non-ASCII characters and signs those bytes, so re-serialising the payload would break the
 * signature.
 */
export function signedCall(appSecret: string, value: unknown): SignedCall {
  const escaped = JSON.stringify(value)
    .replaceAll("/", String.raw`\/`)
    .replaceAll(/[\u0080-\uffff]/g, (unit) => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const body = Buffer.from(escaped, "latin1");
  return { body, headers: { "x-hub-signature-256": signatureOf(appSecret, body) } };
}

export const signatureOf = (appSecret: string, body: Buffer): string =>
  `sha256=${createHmac("sha256", appSecret).update(body).digest("hex")}`;
