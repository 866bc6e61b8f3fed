import { createHmac, generateKeyPairSync, randomUUID, verify, type KeyObject } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { PlatformAnswer, PlatformWebhook } from "../../src/carriers/http-platform.ts";
import { systemClock, type Clock } from "../../src/lib/clock.ts";
import { faultOf } from "./rbm-rules.ts";

/** A message that the platform accepted. */
export interface AcceptedMessage {
  number: string;
  agentId: string;
  messageId: string;
  body: { contentMessage: object; ttl: string; messageTrafficType?: string };
}

export interface RbmRequest {
  what: "token" | "send" | "revoke" | "capabilities" | "reach" | "upload" | "event";
  number: string;
  /** Number of requests of this kind so far, including this one. */
  times: number;
}

/** Scripted faults: a status, a connection closed before or after the work, or no response. */
type Fault =
  | { status: number; error?: string; message?: string; raw?: string; headers?: Record<string, string> }
  | "cut before"
  | "cut after"
  | "silence";

/** Receives the platform's webhook calls. */
type Callback = (call: PlatformWebhook) => Promise<PlatformAnswer>;

interface Options {
  clock?: Clock;
  agents?: readonly string[];
  tokenSeconds?: number;
  /** If set, receives the events of each message at once. */
  callback?: Callback;
}

export const RBM_CLIENT_TOKEN = "a-client-token-of-the-webhook";
/** Outcomes by the last digits, as in the simulator. */
const NOT_ON_RCS = /9009$/;
const NEVER_DELIVERED = /9001$/;
const ALL_FEATURES = [
  "REVOCATION",
  "RICHCARD_STANDALONE",
  "RICHCARD_CAROUSEL",
  "ACTION_CREATE_CALENDAR_EVENT",
  "ACTION_DIAL",
  "ACTION_OPEN_URL",
  "ACTION_OPEN_URL_IN_WEBVIEW",
  "ACTION_SHARE_LOCATION",
  "ACTION_VIEW_LOCATION",
];
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const SCOPE = "https://www.googleapis.com/auth/rcsbusinessmessaging";

let pair: { publicKey: KeyObject; pem: string } | null = null;

/** Generating a key is slow, so all fakes share one. */
function keyPair(): { publicKey: KeyObject; pem: string } {
  if (pair) return pair;
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  pair = { publicKey, pem: privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
  return pair;
}

/** Key file of a service account that the fake accepts. */
export const keyFile = (tokenUrl: string): string =>
  JSON.stringify({
    type: "service_account",
    project_id: "rbm-test",
    private_key_id: "key-1",
    private_key: keyPair().pem,
    client_email: "sender@rbm-test.iam.gserviceaccount.com",
    token_uri: tokenUrl,
  });

/** A signed webhook call of the platform. */
export function signedCall(event: unknown, clientToken = RBM_CLIENT_TOKEN): PlatformWebhook {
  const bytes = Buffer.from(typeof event === "string" ? event : JSON.stringify(event));
  const body = {
    message: {
      data: bytes.toString("base64"),
      attributes: {},
      messageId: randomUUID(),
      publishTime: "2026-01-01T12:00:00Z",
    },
    subscription: "projects/rbm/subscriptions/webhook",
  };
  return {
    method: "POST",
    query: "",
    headers: {
      "content-type": "application/json",
      "x-goog-signature": createHmac("sha512", clientToken).update(bytes).digest("base64"),
    },
    body: Buffer.from(JSON.stringify(body)),
  };
}

/** Google's RCS for Business as a carrier sees it: an HTTP server that validates every request. */
export class FakeRbm {
  readonly accepted: AcceptedMessage[] = [];
  /** Ids of repeated messages, which the platform ignores. */
  readonly repeated: string[] = [];
  readonly revoked: string[] = [];
  /** URLs of files that the platform was asked to fetch. */
  readonly fetched: string[] = [];
  /** Events of agents, as users see them. */
  readonly events: { number: string; eventType: string; messageId?: string }[] = [];
  readonly requests = { token: 0, send: 0, revoke: 0, capabilities: 0, reach: 0, upload: 0, event: 0 };
  /** Faults of the received requests; most tests expect none. */
  readonly faults: string[] = [];
  /** Chooses the fault of a request; null for none. */
  faultFor: (request: RbmRequest) => Fault | null = () => null;
  features: readonly string[] = ALL_FEATURES;
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly #clock: Clock;
  readonly #agents: ReadonlySet<string>;
  readonly #callback: Callback | null;
  readonly #tokens = new Map<string, number>();
  readonly #known = new Set<string>();
  #tokenSeconds: number;
  #pending: object[] = [];

  private constructor({ clock = systemClock, agents = ["shop"], tokenSeconds = 3599, callback }: Options) {
    this.#clock = clock;
    this.#agents = new Set(agents);
    this.#tokenSeconds = tokenSeconds;
    this.#callback = callback ?? null;
  }

  static async open(options: Options = {}): Promise<FakeRbm> {
    const fake = new FakeRbm(options);
    await new Promise<void>((resolve) => fake.#server.listen(0, "127.0.0.1", resolve));
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get tokenUrl(): string {
    return `${this.url}/token`;
  }

  /** Invalidates all issued tokens. */
  forgetTokens(): void {
    this.#tokens.clear();
  }

  /** Sends each pending event once. Events not answered with 200 stay pending. */
  async sendEvents(callback: Callback): Promise<void> {
    const due = this.#pending;
    this.#pending = [];
    for (const event of due) if ((await callback(signedCall(event))).status !== 200) this.#pending.push(event);
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.url);
    const asking = this.#asking(request, url);
    if (!asking) return this.#refuse(response, 404, null, "no such path");
    const fault = this.faultFor(asking);
    if (fault === "cut before") return void request.socket.destroy();
    const body = await bodyOf(request);
    if (fault === "silence") return;
    if (fault && typeof fault === "object") return this.#fail(response, fault);
    const answer = this.#work(asking, request, url, body);
    if (fault === "cut after") return void request.socket.destroy();
    response.writeHead(answer.status, { "content-type": "application/json" }).end(JSON.stringify(answer.body));
    if (this.#callback) await this.sendEvents(this.#callback);
  }

  #asking({ method }: IncomingMessage, { pathname }: URL): RbmRequest | null {
    const match = /^\/v1\/phones\/(\+\d{7,15})\/(agentMessages|agentEvents|capabilities)(\/[^/]+)?$/.exec(
      decodeURIComponent(pathname),
    );
    const number = match?.[1]?.slice(1) ?? "";
    const what =
      pathname === "/token" && method === "POST"
        ? "token"
        : pathname === "/v1/users:batchGet" && method === "POST"
          ? "reach"
          : pathname === "/v1/files" && method === "POST"
            ? "upload"
            : match?.[2] === "capabilities" && method === "GET" && !match[3]
              ? "capabilities"
              : match?.[2] === "agentEvents" && method === "POST" && !match[3]
                ? "event"
                : match?.[2] === "agentMessages" && method === "POST" && !match[3]
                  ? "send"
                  : match?.[2] === "agentMessages" && method === "DELETE" && match[3]
                    ? "revoke"
                    : null;
    if (!what) return null;
    this.requests[what] += 1;
    return { what, number, times: this.requests[what] };
  }

  #work(asking: RbmRequest, request: IncomingMessage, url: URL, body: string): Answer {
    if (asking.what === "token") return this.#grant(request, body);
    const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
    if ((this.#tokens.get(token) ?? 0) <= this.#clock.now()) return errorAnswer(401, "UNAUTHENTICATED", "no token");
    if (asking.what === "upload") return this.#upload(body);
    if (asking.what === "reach") return this.#reach(request, body);
    const agentId = url.searchParams.get("agentId") ?? "";
    const expected = {
      event: ["eventId", "agentId"],
      send: ["messageId", "agentId"],
      revoke: ["agentId"],
      capabilities: ["requestId", "agentId"],
    };
    if (url.search !== "" && [...url.searchParams.keys()].join() !== expected[asking.what].join())
      return this.#bad(`query of ${asking.what}: ${[...url.searchParams.keys()].join()}`);
    if (!this.#agents.has(agentId)) return errorAnswer(403, "PERMISSION_DENIED", "the agent is not launched");
    if (asking.what === "event") return this.#event(asking.number, url.searchParams.get("eventId") ?? "", body);
    if (asking.what === "revoke") {
      this.revoked.push(url.pathname.split("/").at(-1) ?? "");
      return { status: 200, body: {} };
    }
    if (asking.what === "capabilities") {
      if (!UUID.test(url.searchParams.get("requestId") ?? "")) return this.#bad("requestId");
      return NOT_ON_RCS.test(asking.number) ? NOT_FOUND : { status: 200, body: { features: this.features } };
    }
    return this.#take(asking.number, agentId, url.searchParams.get("messageId") ?? "", request, body);
  }

  /** From the platform's reference "REST Resource: phones.agentEvents". */
  #event(number: string, eventId: string, body: string): Answer {
    const { eventType = "", messageId, ...others } = JSON.parse(body) as Record<string, string>;
    if (!UUID.test(eventId)) return this.#bad("eventId");
    if (!["READ", "IS_TYPING"].includes(eventType) || Object.keys(others).length > 0) return this.#bad("eventType");
    if ((eventType === "READ") !== (messageId !== undefined)) return this.#bad("messageId of an event");
    this.events.push({ number, eventType, ...(messageId !== undefined && { messageId }) });
    return { status: 200, body: { name: `phones/+${number}/agentEvents/${eventId}`, eventType } };
  }

  /** From the platform's reference "Method: files.create". */
  #upload(body: string): Answer {
    const {
      fileUrl,
      thumbnailUrl = "https://x.example",
      agentId,
      ...others
    } = JSON.parse(body) as Record<string, string>;
    if (Object.keys(others).length > 0) return this.#bad("fields of files.create");
    if (!URL.canParse(fileUrl ?? "") || !URL.canParse(thumbnailUrl)) return this.#bad("fileUrl");
    if (!this.#agents.has(agentId ?? "")) return errorAnswer(403, "PERMISSION_DENIED", "the agent is not launched");
    this.fetched.push(fileUrl ?? "");
    return { status: 200, body: { name: `files/${this.requests.upload}` } };
  }

  /** From the platform's reference "Method: users.batchGet". */
  #reach(request: IncomingMessage, body: string): Answer {
    if (request.headers["content-type"] !== "application/json") return this.#bad("content-type");
    const { users, agentId, ...others } = JSON.parse(body) as { users: string[]; agentId: string };
    if (Object.keys(others).length > 0 || !Array.isArray(users)) return this.#bad("fields of users.batchGet");
    if (!this.#agents.has(agentId)) return errorAnswer(403, "PERMISSION_DENIED", "the agent is not launched");
    if (users.length > 10_000 || users.some((user) => !/^\+\d{7,15}$/.test(user))) return this.#bad("users");
    const reachableUsers = users.filter((user) => !NOT_ON_RCS.test(user));
    return { status: 200, body: { reachableUsers, totalRandomSampleUserCount: 0, reachableRandomSampleUserCount: 0 } };
  }

  #take(number: string, agentId: string, messageId: string, request: IncomingMessage, body: string): Answer {
    if (!UUID.test(messageId)) return this.#bad(`messageId ${messageId}`);
    if (request.headers["content-type"] !== "application/json") return this.#bad("content-type");
    const message = JSON.parse(body) as AcceptedMessage["body"];
    const fault = faultOf(message);
    if (fault) return this.#bad(fault);
    if (NOT_ON_RCS.test(number)) return NOT_FOUND;
    const answer = {
      status: 200,
      body: { name: `phones/+${number}/agentMessages/${messageId}`, sendTime: this.#time(), ...message },
    };
    if (this.#known.has(messageId)) {
      this.repeated.push(messageId);
      return answer;
    }
    this.#known.add(messageId);
    this.accepted.push({ number, agentId, messageId, body: message });
    const common = { messageId, agentId, eventId: randomUUID(), sendTime: this.#time() };
    this.#pending.push(
      NEVER_DELIVERED.test(number)
        ? { ...common, phoneNumber: `+${number}`, eventType: "TTL_EXPIRATION_REVOKED" }
        : { ...common, senderPhoneNumber: `+${number}`, eventType: "DELIVERED" },
    );
    return answer;
  }

  #grant(request: IncomingMessage, body: string): Answer {
    const fault = this.#faultOfAssertion(request, new URLSearchParams(body));
    if (fault) {
      this.faults.push(fault);
      return { status: 400, body: { error: "invalid_grant", error_description: fault } };
    }
    const token = `ya29.${randomUUID()}`;
    this.#tokens.set(token, this.#clock.now() + this.#tokenSeconds * 1000);
    return { status: 200, body: { access_token: token, expires_in: this.#tokenSeconds, token_type: "Bearer" } };
  }

  #faultOfAssertion(request: IncomingMessage, form: URLSearchParams): string | null {
    if (request.headers["content-type"] !== "application/x-www-form-urlencoded") return "content-type";
    if (form.get("grant_type") !== "urn:ietf:params:oauth:grant-type:jwt-bearer") return "grant_type";
    const [header = "", claims = "", signature = "", ...more] = (form.get("assertion") ?? "").split(".");
    if (more.length > 0) return "assertion";
    const signed = Buffer.from(`${header}.${claims}`);
    if (!verify("RSA-SHA256", signed, keyPair().publicKey, Buffer.from(signature, "base64url"))) return "signature";
    const opened = (part: string): unknown => JSON.parse(Buffer.from(part, "base64url").toString());
    if (JSON.stringify(opened(header)) !== JSON.stringify({ alg: "RS256", typ: "JWT", kid: "key-1" })) return "header";
    const { iss, scope, aud, iat, exp, ...rest } = opened(claims) as Record<string, unknown>;
    const now = this.#clock.now() / 1000;
    if (iss !== "sender@rbm-test.iam.gserviceaccount.com" || scope !== SCOPE || aud !== this.tokenUrl) return "claims";
    if (Object.keys(rest).length > 0) return "unknown claims";
    if (typeof iat !== "number" || typeof exp !== "number" || exp > iat + 3600) return "times";
    return Math.abs(now - iat) > 60 || exp < now ? "times" : null;
  }

  #bad(fault: string): Answer {
    this.faults.push(fault);
    return errorAnswer(400, "INVALID_ARGUMENT", fault);
  }

  #fail(
    response: ServerResponse,
    { status, error, message = "scripted by the test", raw, headers }: Exclude<Fault, string>,
  ): void {
    const body = raw ?? JSON.stringify(errorAnswer(status, error ?? null, message).body);
    response.writeHead(status, headers ?? {}).end(body);
  }

  #refuse(response: ServerResponse, status: number, error: string | null, message: string): void {
    this.#fail(response, { status, message, ...(error === null ? { raw: message } : { error }) });
  }

  #time(): string {
    return new Date(this.#clock.now()).toISOString();
  }
}

interface Answer {
  status: number;
  body: object;
}

const errorAnswer = (status: number, error: string | null, message: string): Answer => ({
  status,
  body: { error: { code: status, message, ...(error === null ? {} : { status: error }) } },
});

const NOT_FOUND = errorAnswer(404, "NOT_FOUND", "Requested entity was not found.");

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

// Runs in its own process for benches. Prints URL and credentials as one line of JSON.
if (import.meta.main) {
  const fake = await FakeRbm.open({ agents: (process.argv[2] ?? "shop").split(",") });
  const { url, tokenUrl } = fake;
  process.stdout.write(
    `${JSON.stringify({ url, tokenUrl, serviceAccount: keyFile(tokenUrl), clientToken: RBM_CLIENT_TOKEN })}\n`,
  );
}
