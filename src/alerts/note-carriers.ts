import type { Carrier } from "../carriers/carrier.ts";
import type { Clock } from "../lib/clock.ts";
import { SIMULATOR } from "../model/catalog.ts";
import type { AlertStore } from "../store/alerts.ts";

interface NoteCarriersDeps {
  store: Pick<AlertStore, "noteCarriers">;
  carriers: { list(): readonly Carrier[] };
  clock: Clock;
}

/** Notes which carriers this node sees up or down. A carrier that only other nodes are connected to is left to them. */
export async function noteCarriers({ store, carriers, clock }: NoteCarriersDeps): Promise<void> {
  const seen = carriers.list().filter((carrier) => carrier.name !== SIMULATOR && !carrier.isElsewhere?.());
  if (seen.length === 0) return;
  await store.noteCarriers(
    seen.map((carrier) => ({ carrier: carrier.name, isUp: carrier.isUp() })),
    clock.now(),
  );
}
