import type { HttpSender } from "../http-client/client.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { OnInbound } from "./carrier.ts";

/** An incoming webhook request before its signature is verified. */
export interface PlatformWebhook {
  method: "GET" | "POST";
  /** Raw query string without the question mark. */
  query: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Raw bytes, because signatures cover them. */
  body: Buffer;
}

export interface PlatformAnswer {
  status: 200 | 400 | 401 | 403 | 503;
  text: string;
}

/**
 * Dependencies of a carrier behind an HTTP API. A change of settings creates a new carrier; only the rate can change in
 * place.
 */
export interface PlatformDeps<Settings, Secrets> {
  /** Unique in the whole service; receipts carry it. */
  name: string;
  accountId: number;
  settings: Settings;
  /** Decrypted. They are sent only to the platform. */
  secrets: Secrets;
  /** Current contracted rate of all nodes together; null for no limit. */
  messagesPerSecond(): number | null;
  /** Guarded against SSRF, because the URL comes from configuration. */
  egress: HttpSender;
  /** Public URL for the platform's webhooks. */
  callbackUrl(): string;
  onInbound: OnInbound;
  clock: Clock;
  log: Log;
  metrics: PlatformMetrics;
}

export interface PlatformMetrics {
  /** Error responses of a carrier by code. */
  carrierErrors(carrier: string, code: string): { inc(): void };
}
