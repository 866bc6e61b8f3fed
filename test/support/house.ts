import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { inject } from "vitest";
import { startApp, type App } from "../../src/app.ts";
import { readConfig, type Config } from "../../src/config.ts";
import { newKeySecret } from "../../src/model/api-key.ts";
import type { Clock } from "../../src/lib/clock.ts";
import type { RouteClass } from "../../src/model/message.ts";
import type { Strain } from "../../src/work/strain.ts";
import { migratedDatabase } from "./databases.ts";
import type { EngineName } from "./engines.ts";
import { eventually } from "./eventually.ts";
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
  /** Only of a message that is read alone. */
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

/** The whole service in this process, used over HTTP as a customer does. */
export interface House {
  app: App;
  /** The settings it was started with. */
  env: Record<string, string>;
  url: string;
  key: string;
  testKey: string;
  ask<T>(method: string, path: string, body?: unknown, headers?: Headers_): Promise<Answer<T>>;
  /** Sends an SMS; fields that are not given are those of an ordinary message. */
  send(fields?: Record<string, unknown>, headers?: Headers_): Promise<Answer<Envelope>>;
  message(messageId: string): Promise<MessageBody>;
  /** The message once it has come to an end. */
  settled(messageId: string): Promise<MessageBody>;
  onPhone(number: string): Promise<PhoneMessageBody[]>;
  close(): Promise<void>;
}

const ORDINARY = { sender: "HELIOG", to: "15550100100", text: "Hello", type: "TRANS" };

export async function openHouse(
  engine: EngineName,
  given: {
    clock?: Clock;
    env?: Record<string, string>;
    beyond?: Partial<Config>;
    porter?: boolean;
    strain?: (routeClass: RouteClass) => Strain;
  } = {},
): Promise<House> {
  const dataDir = await mkdtemp(join(inject("scratchFolder"), "house-"));
  const bringsDatabase = given.env?.["HELIOGRAPH_DATABASE_URL"] !== undefined;
  const database = engine === "postgres" && !bringsDatabase ? await migratedDatabase(inject("postgresUrl")) : null;
  if (engine === "sqlite") await writeSqliteSchema(join(dataDir, "heliograph.db"));
  const key = newKeySecret("live");
  const testKey = newKeySecret("test");
  const env: Record<string, string> = {
    HELIOGRAPH_PORT: "0",
    HELIOGRAPH_DATA_DIR: dataDir,
    HELIOGRAPH_LOG_LEVEL: "silent",
    HELIOGRAPH_API_KEY: key,
    HELIOGRAPH_TEST_API_KEY: testKey,
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
    ...(database ? { HELIOGRAPH_DATABASE_URL: database.url } : {}),
    ...given.env,
  };
  const app = await startApp(
    { ...readConfig(env), ...given.beyond },
    {
      ...(given.clock && { clock: given.clock }),
      ...(given.strain && { strain: given.strain }),
      porter: given.porter ?? false,
    },
  );

  const house: House = {
    app,
    env,
    url: app.url,
    key,
    testKey,
    async ask(method, path, body, headers = {}) {
      const response = await fetch(app.url + path, {
        method,
        headers: { apikey: key, ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: text === "" ? null : JSON.parse(text) };
    },
    send: (fields, headers) => house.ask("POST", "/v1/sms", { ...ORDINARY, ...fields }, headers),
    async message(messageId) {
      const { body } = await house.ask<MessageBody>("GET", `/v1/messages/${messageId}`);
      return body;
    },
    settled: (messageId) =>
      eventually(
        () => house.message(messageId),
        (message) => message.status !== "Pending",
      ),
    async onPhone(number) {
      const { body } = await house.ask<{ data: PhoneMessageBody[] }>("GET", `/api/simulator/phones/${number}/messages`);
      return body.data;
    },
    async close() {
      await app.stop();
      await database?.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  return house;
}
