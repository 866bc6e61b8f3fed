import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import type { AuditEntry } from "../model/audit.ts";
import type { AuditStore } from "../store/audit-store.ts";

export interface AuditNeeds {
  store: AuditStore;
  clock: Clock;
  log: Log;
}

/**
 * Writes down what has been done. If the store is gone just now, the deed stands and cannot be taken back by saying that it
 * failed: the log has it then.
 */
export async function writeDown({ store, clock, log }: AuditNeeds, entry: Omit<AuditEntry, "id">): Promise<void> {
  const id = newId(clock.now());
  try {
    await store.writeAudit({ ...entry, id });
  } catch (error) {
    const { action, kind, recordId, actor } = entry;
    log.error(
      { err: error, auditId: id, action, kind, recordId, actorId: actor.id },
      "audit entry could not be written",
    );
  }
}
