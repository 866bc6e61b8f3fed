import { BadSetting, type Config } from "../config.ts";
import type { CreateSmppCarrier } from "../carriers/smpp/deps.ts";
import type { ReadDiskSpace } from "../cluster/watch-disk.ts";
import { systemClock, type Clock } from "../lib/clock.ts";
import { createLog, type Log } from "../lib/log.ts";
import { createMetrics, type Metrics } from "../metrics.ts";
import type { RouteClass } from "../model/message.ts";
import type { Backpressure } from "../pipeline/accept/backpressure.ts";
import type { WebhookTransport } from "../webhooks/transport/transport.ts";

/** Replaces parts of the application: by tests, and by `main.ts` where the machine decides. */
export interface Overrides {
  clock?: Clock;
  log?: Log;
  createSmpp?: CreateSmppCarrier;
  webhookTransport?: WebhookTransport;
  backpressure?: (routeClass: RouteClass) => Backpressure;
  /** Holds client connections in a thread of their own, which pays off on two or more cores. */
  connectionThread?: boolean;
  /** Replaces the thread of reporting queries on SQLite. */
  reportingThread?: URL;
  /** Replaces the operating system's answer about free space. */
  readDiskSpace?: ReadDiskSpace;
  /** Called once when the service is held while this node runs, or resumed: the node must be started again. */
  onHoldChange?: () => void;
  /** Called when a thread has failed in a way that only a new process repairs. */
  onBroken?: (error: Error) => void;
}

/** Needed by every component. */
export interface AppBase {
  config: Config;
  overrides: Overrides;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  urls: PublicUrls;
}

const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** Lifetimes of dashboard sessions. */
export const sessionLimitsOf = (config: Config): { idleMs: number; lifeMs: number } => ({
  idleMs: config.sessionIdleHours * HOUR_MS,
  lifeMs: config.sessionDays * DAY_MS,
});

export const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(["127.0.0.1", "::1", "[::1]", "localhost"]);

/**
 * Public URLs of this server. Unless the settings name a base URL, it is the address that the server listens on. Components that
 * need it exist before the server listens, so `setAddress` passes it on.
 */
class PublicUrls {
  readonly #config: Pick<Config, "baseUrl" | "shortLinkBase">;
  #address = "";

  constructor(config: Pick<Config, "baseUrl" | "shortLinkBase">) {
    this.#config = config;
  }

  setAddress(address: string): void {
    this.#address = address;
  }

  readonly base = (): string => this.#config.baseUrl ?? this.#address;

  /** Prefix of short links; a slash and the code follow. */
  readonly shortLinks = (): string => this.#config.shortLinkBase ?? `${this.base()}/s`;
}

export function createBase(config: Config, overrides: Overrides): AppBase {
  const { clock = systemClock, log = createLog(config.logLevel) } = overrides;
  if (!config.databaseUrl && !config.roles.includes("dispatch"))
    log.warn("this node does not send, and on SQLite no other can: messages wait until a start with the role dispatch");
  if (!config.roles.includes("callbacks") && (config.smppPort !== null || config.smppTlsPort !== null))
    throw new BadSetting("HELIOGRAPH_SMPP_PORT needs the role callbacks in HELIOGRAPH_ROLES: receipts are callbacks");
  return { config, overrides, clock, log, metrics: createMetrics(), urls: new PublicUrls(config) };
}
