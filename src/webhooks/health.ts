import type { Catalog, EndpointRecord } from "../records/catalog.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { EndpointHealth } from "../model/callback.ts";
import type { CallbackStore } from "../store/callbacks.ts";
import type { CatalogStore } from "../store/catalog.ts";
import type { DeliveryResult } from "./transport/transport.ts";

export interface WebhookHealthDeps {
  store: Pick<CallbackStore, "findHealth" | "noteHealth"> & Pick<CatalogStore, "changeCatalogRecord">;
  catalog: Catalog;
  clock: Clock;
  log: Log;
}

/** An endpoint without a delivery for this long is disabled. */
const DISABLE_AFTER_MS = 5 * 86_400_000;
/** Interval at which an unchanged outcome is stored again. */
const NOTE_AGAIN_MS = 60_000;
const FLICKER_MS = 1000;

interface Known {
  notedAt: number;
  wasFailing: boolean;
}

/** Stores the health of endpoints, and disables those that have failed for days or answered 410 Gone. */
export class WebhookHealth {
  readonly #deps: WebhookHealthDeps;
  readonly #known = new Map<string, Known>();
  readonly #waiting = new Map<string, { endpoint: EndpointRecord; result: DeliveryResult; at: number }>();
  #writing: Promise<void> | null = null;

  constructor(deps: WebhookHealthDeps) {
    this.#deps = deps;
  }

  /** Records one attempt. Unchanged outcomes cost nothing; a flapping endpoint is written once a second. */
  note(endpoint: EndpointRecord, result: DeliveryResult): void {
    const now = this.#deps.clock.now();
    const known = this.#known.get(endpoint.id);
    const isFailing = result.kind === "failed";
    const isGone = isFailing && result.gone;
    const restMs = known?.wasFailing === isFailing ? NOTE_AGAIN_MS : FLICKER_MS;
    if (known && !isGone && now - known.notedAt < restMs) return;
    this.#known.set(endpoint.id, { notedAt: now, wasFailing: isFailing });
    this.#waiting.set(endpoint.id, { endpoint, result, at: now });
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = null;
    });
  }

  async idle(): Promise<void> {
    await this.#writing;
  }

  /** Writes one endpoint at a time, only its latest outcome. */
  async #writeAll(): Promise<void> {
    for (const [id, { endpoint, result, at }] of this.#waiting) {
      this.#waiting.delete(id);
      try {
        await this.#write(endpoint, result, at);
      } catch (error) {
        this.#deps.log.warn({ err: error }, "endpoint health write failed");
      }
    }
  }

  async #write(endpoint: EndpointRecord, result: DeliveryResult, at: number): Promise<void> {
    const { store, log } = this.#deps;
    const { accountId, id } = endpoint;
    const before = (await store.findHealth(accountId, id)) ?? NEW;
    if (result.kind === "delivered") {
      await store.noteHealth(accountId, id, { ...before, failingSince: null, lastSuccessAt: at });
      return;
    }
    const failingSince = before.failingSince ?? at;
    await store.noteHealth(accountId, id, { ...before, failingSince, lastFailureAt: at, lastFailure: result.reason });
    // A changed or re-enabled endpoint starts with a new period.
    const countedSince = Math.max(failingSince, endpoint.updatedAt);
    const reason = result.gone
      ? "It answered 410: it is gone for good"
      : at - countedSince >= DISABLE_AFTER_MS
        ? `Nothing has come through since ${new Date(failingSince).toISOString()}`
        : null;
    if (reason === null) return;
    await this.#switchOff(endpoint, reason);
    log.warn({ accountId, endpoint: id, reason }, "endpoint disabled");
  }

  async #switchOff(endpoint: EndpointRecord, disabledReason: string): Promise<void> {
    const { store, catalog, clock } = this.#deps;
    await catalog.change(async (revision) => {
      const current = catalog.find(endpoint.accountId, endpoint.kind, endpoint.id);
      if (!current?.content.enabled) return "missing";
      const content = { ...current.content, enabled: false, disabledReason };
      return store.changeCatalogRecord({ ...current, content, updatedAt: clock.now() }, revision);
    });
  }
}

const NEW: EndpointHealth = { failingSince: null, lastSuccessAt: null, lastFailureAt: null, lastFailure: null };
