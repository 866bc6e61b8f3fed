import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { CatalogRecord } from "../model/catalog.ts";
import type { IdFormatStore } from "../store/submissions.ts";
import type { SmppCarrierDeps } from "./smpp/deps.ts";

interface RememberIdFormsDeps {
  store: IdFormatStore;
  clock: Clock;
  log: Log;
}

/** State of a connection that survives its replacement. */
export type IdFormMemory = Pick<SmppCarrierDeps, "learnedIdForm" | "onLearned">;

/** Stores learned message-id formats for later connections and restarts. */
export async function rememberIdForms({
  store,
  clock,
  log,
}: RememberIdFormsDeps): Promise<(record: Pick<CatalogRecord, "accountId" | "id">) => IdFormMemory> {
  const forms = new Map((await store.listIdForms()).map(({ carrierId, form }) => [carrierId, form]));
  return ({ accountId, id }) => ({
    learnedIdForm: forms.get(id) ?? null,
    onLearned(form) {
      forms.set(id, form);
      void store.saveIdForm({ accountId, carrierId: id, form }, clock.now()).catch((error: unknown) => {
        // The next receipts teach it again.
        log.warn({ err: error, carrier: id }, "SMPP message-id format not stored");
      });
    },
  });
}
