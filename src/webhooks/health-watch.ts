import type { Catalog, EndpointRecord } from "../catalog/catalog.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { EndpointHealth } from "../model/callback.ts";
import type { CallbackStore } from "../store/callback-store.ts";
import type { CatalogStore } from "../store/catalog-store.ts";
import type { PushResult } from "./push.ts";

export interface HealthNeeds {
  store: Pick<CallbackStore, "findHealth" | "noteHealth"> & Pick<CatalogStore, "changeCatalogRecord">;
  catalog: Catalog;
  clock: Clock;
  log: Log;
}

/** An endpoint to which nothing has come through for so long is switched off. */
const DISABLE_AFTER_MS = 5 * 86_400_000;
/** How often the same news of an endpoint is written down. */
const NOTE_AGAIN_MS = 60_000;
const FLICKER_MS = 1000;

interface Known {
  notedAt: number;
  wasFailing: boolean;
}

/** Remembers how endpoints do, and switches off those that have failed for days or say that they are gone for good. */
export class HealthWatch {
  readonly #needs: HealthNeeds;
  readonly #known = new Map<string, Known>();
  readonly #waiting = new Map<string, { endpoint: EndpointRecord; result: PushResult; at: number }>();
  #writing: Promise<void> | null = null;

  constructor(needs: HealthNeeds) {
    this.#needs = needs;
  }

  /** Takes the news of one attempt. Most say what the last one said, and cost nothing; what flickers is written once a second. */
  note(endpoint: EndpointRecord, result: PushResult): void {
    const now = this.#needs.clock.now();
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

  /** One after another; of an endpoint only the latest news. */
  async #writeAll(): Promise<void> {
    for (const [id, { endpoint, result, at }] of this.#waiting) {
      this.#waiting.delete(id);
      try {
        await this.#write(endpoint, result, at);
      } catch (error) {
        this.#needs.log.warn({ err: error }, "the health of an endpoint was not written down");
      }
    }
  }

  async #write(endpoint: EndpointRecord, result: PushResult, at: number): Promise<void> {
    const { store, log } = this.#needs;
    const { accountId, id } = endpoint;
    const before = (await store.findHealth(accountId, id)) ?? NEW;
    if (result.kind === "delivered") {
      await store.noteHealth(accountId, id, { ...before, failingSince: null, lastSuccessAt: at });
      return;
    }
    const failingSince = before.failingSince ?? at;
    await store.noteHealth(accountId, id, { ...before, failingSince, lastFailureAt: at, lastFailure: result.reason });
    // Whoever changes it or switches it on again has the days anew.
    const countedSince = Math.max(failingSince, endpoint.updatedAt);
    const reason = result.gone
      ? "It answered 410: it is gone for good"
      : at - countedSince >= DISABLE_AFTER_MS
        ? `Nothing has come through since ${new Date(failingSince).toISOString()}`
        : null;
    if (reason === null) return;
    await this.#switchOff(endpoint, reason);
    log.warn({ accountId, endpoint: id, reason }, "endpoint was switched off");
  }

  async #switchOff(endpoint: EndpointRecord, disabledReason: string): Promise<void> {
    const { store, catalog, clock } = this.#needs;
    await catalog.change(async (revision) => {
      const current = catalog.find(endpoint.accountId, endpoint.kind, endpoint.id);
      if (!current?.content.enabled) return "missing";
      const content = { ...current.content, enabled: false, disabledReason };
      return store.changeCatalogRecord({ ...current, content, updatedAt: clock.now() }, revision);
    });
  }
}

const NEW: EndpointHealth = { failingSince: null, lastSuccessAt: null, lastFailureAt: null, lastFailure: null };
