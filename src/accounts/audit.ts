import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import type { AuditEntry } from "../model/audit.ts";
import type { AuditStore } from "../store/audit.ts";

export interface AuditDeps {
  store: AuditStore;
  clock: Clock;
  log: Log;
}

/**
 * Writes an audit entry for a completed change. If the store is unavailable, the change cannot be undone, so the entry goes to
 * the log instead of failing the request.
 */
export async function writeAuditEntry({ store, clock, log }: AuditDeps, entry: Omit<AuditEntry, "id">): Promise<void> {
  const id = newId(clock.now());
  try {
    await store.writeAudit({ ...entry, id });
  } catch (error) {
    const { action, kind, recordId, actor } = entry;
    log.error({ err: error, auditId: id, action, kind, recordId, actorId: actor.id }, "audit entry not written");
  }
}
