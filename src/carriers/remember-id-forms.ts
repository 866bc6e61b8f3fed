import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { CatalogRecord } from "../model/catalog.ts";
import type { IdFormStore } from "../store/id-form-store.ts";
import type { SmppCarrierNeeds } from "./smpp/needs.ts";

interface Needs {
  store: IdFormStore;
  clock: Clock;
  log: Log;
}

/** What of a line outlives it. */
export type Learning = Pick<SmppCarrierNeeds, "learnedIdForm" | "onLearned">;

/** Keeps what lines learn of their carriers for the next line and the next start. */
export async function rememberIdForms({
  store,
  clock,
  log,
}: Needs): Promise<(record: Pick<CatalogRecord, "accountId" | "id">) => Learning> {
  const forms = new Map((await store.listIdForms()).map(({ carrierId, form }) => [carrierId, form]));
  return ({ accountId, id }) => ({
    learnedIdForm: forms.get(id) ?? null,
    onLearned(form) {
      forms.set(id, form);
      void store.saveIdForm({ accountId, carrierId: id, form }, clock.now()).catch((error: unknown) => {
        // The next receipts teach it again.
        log.warn({ err: error, carrier: id }, "what was learned of a carrier could not be kept");
      });
    },
  });
}
