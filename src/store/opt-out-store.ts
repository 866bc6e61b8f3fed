import type { OptOut } from "../model/opt-out.ts";
import type { Page } from "./store.ts";

/** Who gets no promotions. */
export interface OptOutStore {
  addOptOuts(batch: readonly OptOut[]): Promise<void>;
  /** Where a time is given, only what was put on the list before it. */
  removeOptOut(accountId: number, number: string, before?: number): Promise<boolean>;
  findOptOut(accountId: number, number: string): Promise<OptOut | null>;
  listOptOuts(accountId: number, after: string | null, limit: number): Promise<Page<OptOut, string>>;
  /** For each, whether it is on its account's list. */
  areOptedOut(batch: readonly { accountId: number; number: string }[]): Promise<readonly boolean[]>;
}
