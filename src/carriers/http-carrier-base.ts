import type { Message } from "../model/message.ts";
import type { Carrier, CarrierState, MaySend, OnReceipt, Outcome, StopTimeouts } from "./carrier.ts";
import type { PlatformAnswer, PlatformDeps, PlatformWebhook } from "./http-platform.ts";
import { ConnectionHealth } from "./connection-health.ts";

type BaseDeps = Pick<PlatformDeps<never, never>, "name" | "messagesPerSecond" | "clock" | "log" | "metrics">;

/** Base of the carriers behind an HTTP API: rate, health, start and stop are the same for all of them. */
export abstract class HttpCarrierBase implements Carrier {
  readonly name: string;
  protected readonly health: ConnectionHealth;
  /** Null before start and after stop: webhooks are then refused with 503, and the platform repeats them. */
  protected onReceipt: OnReceipt | null = null;

  constructor(deps: BaseDeps, requestsMax: number) {
    const { name, clock, log, metrics } = deps;
    this.name = name;
    const messagesPerSecond = (): number | null => deps.messagesPerSecond();
    this.health = new ConnectionHealth({ name, messagesPerSecond, requestsMax, clock, log, metrics });
  }

  abstract submit(message: Message, maySend?: MaySend): Promise<Outcome>;

  abstract handleWebhook(webhook: PlatformWebhook): Promise<PlatformAnswer>;

  get messagesPerSecond(): number | null {
    return this.health.messagesPerSecond;
  }

  get capacity(): number {
    return this.health.capacity;
  }

  isUp(): boolean {
    return this.health.isUp();
  }

  start(onReceipt: OnReceipt): Promise<void> {
    this.onReceipt = onReceipt;
    this.health.start();
    return Promise.resolve();
  }

  async stop(timeouts?: StopTimeouts): Promise<void> {
    this.onReceipt = null;
    await this.health.stop(timeouts);
  }

  state(): CarrierState {
    return this.health.state();
  }
}
