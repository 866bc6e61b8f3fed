import type { AuditEntry } from "../model/audit.ts";

interface AuditFilter {
  /** The id or the name of whoever did it. */
  who?: string;
  /** A kind of record, or an action. */
  what?: string;
  /** Epoch ms, inclusive. */
  from?: number;
  /** Epoch ms, exclusive. */
  to?: number;
}

/** Who changed what. Nothing here is ever changed, only forgotten. */
export interface AuditStore {
  writeAudit(entry: AuditEntry): Promise<void>;
  /** Newest first. A page may be short, even empty, before the end: each call looks at a bounded number of rows. */
  listAudit(
    accountId: number,
    filter: AuditFilter,
    after: string | null,
    limit: number,
  ): Promise<{ rows: AuditEntry[]; next: string | null }>;
  /** Removes what was done before a time, oldest first; says how many entries went. */
  forgetAudit(accountId: number, before: number, limit: number): Promise<number>;
}
