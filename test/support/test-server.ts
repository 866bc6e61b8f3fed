import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { inject } from "vitest";
import { OWASP_COST, setNewHashCost } from "../../src/accounts/passwords.ts";
import { startApp, type App } from "../../src/app/start.ts";
import { readConfig, type Config } from "../../src/config.ts";
import { newKeySecret } from "../../src/model/api-key.ts";
import type { ReadDiskSpace } from "../../src/cluster/watch-disk.ts";
import type { Clock } from "../../src/lib/clock.ts";
import type { RouteClass } from "../../src/model/message.ts";
import type { Backpressure } from "../../src/pipeline/accept/backpressure.ts";
import { migratedDatabase } from "./databases.ts";
import type { EngineName } from "./engines.ts";
import { eventually } from "./eventually.ts";
import { logIn, type SessionUser } from "./session-user.ts";
import { writeSqliteSchema } from "./sqlite-schema.ts";

export interface Answer<T> {
  status: number;
  headers: Headers;
  body: T;
}

export interface Envelope {
  id: string | null;
  data: { recipient: string; messageId: string }[];
  totalCount: number;
  message: string;
  error: ErrorBody | null;
  unicode?: number;
  flash?: number;
}

export interface ErrorBody {
  code: string;
  type: string;
  parameter: string | null;
  message: string;
  reference: string;
  details: { parameter: string; message: string }[];
  requestId: string;
}

export interface MessageBody {
  messageId: string;
  recipient: string;
  text: string;
  erased: boolean;
  status: "Pending" | "Delivered" | "Failed";
  state: string;
  errCode: string | null;
  statusDescription: string | null;
  segments: number;
  credits: number;
  test: boolean;
  campaignName: string | null;
  createdAt: number;
  dueAt: number | null;
  submittedAt: number | null;
  doneAt: number | null;
  /** Only in the response for a single message. */
  timeline: { at: number; event: string; detail: string }[];
}

export interface PhoneMessageBody {
  id: string;
  messageId: string;
  to: string;
  sender: string;
  text: string;
  encoding: string;
  flash: boolean;
  parts: string[];
  receivedAt: number;
}

type Headers_ = Record<string, string>;

/** The whole server in this process, used over HTTP. */
export interface TestServer {
  app: App;
  /** The settings it was started with. */
  env: Record<string, string>;
  url: string;
  key: string;
  testKey: string;
  request<T>(method: string, path: string, body?: unknown, headers?: Headers_): Promise<Answer<T>>;
  /** A request of the logged-in owner, for operations that no API key may do. */
  asOwner<T>(method: string, path: string, body?: unknown): Promise<Answer<T>>;
  /** Sends an SMS; default: an ordinary message. */
  send(fields?: Record<string, unknown>, headers?: Headers_): Promise<Answer<Envelope>>;
  message(messageId: string): Promise<MessageBody>;
  /** The message in its final state. */
  settled(messageId: string): Promise<MessageBody>;
  onPhone(number: string): Promise<PhoneMessageBody[]>;
  close(): Promise<void>;
}

setNewHashCost({ ...OWASP_COST, memory: 64, passes: 1 });

const ORDINARY = { sender: "HELIOG", to: "15550100100", text: "Hello", type: "TRANS" };

export async function startTestServer(
  engine: EngineName,
  given: {
    clock?: Clock;
    env?: Record<string, string>;
    beyond?: Partial<Config>;
    connectionThread?: boolean;
    backpressure?: (routeClass: RouteClass) => Backpressure;
    reportingThread?: URL;
    readDiskSpace?: ReadDiskSpace;
  } = {},
): Promise<TestServer> {
  const dataDir = await mkdtemp(join(inject("scratchFolder"), "server-"));
  const hasOwnDatabase = given.env?.["HELIOGRAPH_DATABASE_URL"] !== undefined;
  const database = engine === "postgres" && !hasOwnDatabase ? await migratedDatabase(inject("postgresUrl")) : null;
  if (engine === "sqlite") await writeSqliteSchema(join(dataDir, "heliograph.db"));
  const key = newKeySecret("live");
  const testKey = newKeySecret("test");
  const env: Record<string, string> = {
    HELIOGRAPH_PORT: "0",
    HELIOGRAPH_DATA_DIR: dataDir,
    HELIOGRAPH_LOG_LEVEL: "silent",
    // The endpoints of tests are on loopback, also for servers with two accounts or a public URL.
    HELIOGRAPH_EGRESS_ALLOW: "127.0.0.0/8,::1/128",
    // A check is a process, and a moved clock would start one.
    HELIOGRAPH_INTEGRITY_CHECK_HOURS: "0",
    HELIOGRAPH_API_KEY: key,
    HELIOGRAPH_TEST_API_KEY: testKey,
    HELIOGRAPH_ADMIN_PASSWORD: "password of the owner",
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
    ...(database ? { HELIOGRAPH_DATABASE_URL: database.url } : {}),
    ...given.env,
  };
  const app = await startApp(
    { ...readConfig(env), ...given.beyond },
    {
      ...(given.clock && { clock: given.clock }),
      ...(given.backpressure && { backpressure: given.backpressure }),
      ...(given.readDiskSpace && { readDiskSpace: given.readDiskSpace }),
      ...(given.reportingThread && { reportingThread: given.reportingThread }),
      connectionThread: given.connectionThread ?? false,
    },
  );

  const ignored = new IgnoredRefusals();
  let owner: SessionUser | null = null;
  const server: TestServer = {
    app,
    env,
    url: app.url,
    key,
    testKey,
    async request(method, path, body, headers = {}) {
      const response = await fetch(app.url + path, {
        method,
        headers: { apikey: key, ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const answer = {
        status: response.status,
        headers: response.headers,
        body: text === "" ? null : JSON.parse(text),
      };
      return answer.status < 400 ? answer : ignored.watch(`${method} ${path}`, answer);
    },
    async asOwner(method, path, body) {
      const { adminEmail: email, adminPassword } = readConfig(env);
      const logInOwner = (): Promise<SessionUser> => logIn(app.url, { email, password: adminPassword ?? "" });
      owner ??= await logInOwner();
      const answer = await owner.request<never>(method, path, body);
      if (answer.status !== 401) return answer;
      // The session has expired, as it does when a test moves the clock.
      owner = await logInOwner();
      return owner.request(method, path, body);
    },
    send: (fields, headers) => server.request("POST", "/v1/sms", { ...ORDINARY, ...fields }, headers),
    async message(messageId) {
      const { body } = await server.request<MessageBody>("GET", `/v1/messages/${messageId}`);
      return body;
    },
    settled: (messageId) =>
      eventually(
        () => server.message(messageId),
        (message) => message.status !== "Pending",
      ),
    async onPhone(number) {
      const { body } = await server.request<{ data: PhoneMessageBody[] }>(
        "GET",
        `/api/simulator/phones/${number}/messages`,
      );
      return body.data;
    },
    async close() {
      await app.stop();
      await database?.drop();
      await rm(dataDir, { recursive: true, force: true });
      ignored.fail();
    },
  };
  return server;
}

/** Detects responses of 400 and above of which the test read neither status nor error: it took them for a success. */
class IgnoredRefusals {
  readonly #unread = new Map<object, string>();

  watch<T>(request: string, answer: Answer<T>): Answer<T> {
    const { status, body, headers } = answer;
    const key = {};
    this.#unread.set(key, `${request} got ${status}`);
    const markRead = <V>(value: V): V => {
      this.#unread.delete(key);
      return value;
    };
    const error: unknown = (body as { error?: unknown } | null)?.error;
    if (error !== undefined)
      Object.defineProperty(body, "error", { enumerable: true, configurable: true, get: () => markRead(error) });
    return Object.defineProperty({ status, headers, body }, "status", {
      enumerable: true,
      get: () => markRead(status),
    });
  }

  fail(): void {
    const answers = [...this.#unread.values()];
    if (answers.length > 0) throw new Error(`the test ignored failed requests: ${answers.join(", ")}`);
  }
}
