import type { WayOut } from "../egress/http-client.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { OnInbound } from "./carrier.ts";

/** What a platform calls back with, before anybody has looked whether it is the platform. */
export interface PlatformCall {
  method: "GET" | "POST";
  /** What stands behind the question mark, as it came. */
  query: string;
  /** By names in small letters. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Byte by byte as it came: signatures are over these. */
  body: Buffer;
}

export interface PlatformAnswer {
  status: 200 | 400 | 401 | 403 | 503;
  text: string;
}

/** What a carrier behind an HTTP API is made of. It is made anew when its settings change; only its speed changes under it. */
export interface PlatformNeeds<Settings, Secrets> {
  /** Its name in the whole service: that of receipts. */
  name: string;
  accountId: number;
  settings: Settings;
  /** Opened; they go nowhere but to the platform. */
  secrets: Secrets;
  /** Contracted speed over all nodes together, at the moment; null means as fast as it goes. */
  messagesPerSecond(): number | null;
  /** The guarded way out: an address is whatever somebody configured. */
  wayOut: WayOut;
  /** Where the platform reaches this line from outside. */
  callbackUrl(): string;
  onInbound: OnInbound;
  clock: Clock;
  log: Log;
  meters: PlatformMeters;
}

/** What is counted of lines. */
export interface PlatformMeters {
  /** Answers of a carrier that were not yes, by code. */
  carrierErrors(carrier: string, code: string): { inc(): void };
}
