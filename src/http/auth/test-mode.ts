import type { Caller } from "../../accounts/caller.ts";
import { parseMessageId } from "../../model/message.ts";
import { messageOf, type CustomerEvent } from "../../model/callback.ts";
import type { MessageStore } from "../../store/store.ts";

/** Test keys see only test traffic; live keys and people see all traffic of the account. */
export const seesTestsOnly = ({ key }: Pick<Caller, "key">): boolean => key.mode === "test";

/** Filters rows to those that the caller may see. A row is test traffic if a test key sent its request. */
export async function visibleTo<Row>(
  store: Pick<MessageStore, "testRequestsAmong">,
  caller: Caller,
  rows: readonly Row[],
  requestIdOf: (row: Row) => string | null,
): Promise<readonly Row[]> {
  if (!seesTestsOnly(caller) || rows.length === 0) return rows;
  const ids = rows.flatMap((row) => requestIdOf(row) ?? []);
  const own = await store.testRequestsAmong(caller.account.id, ids);
  return rows.filter((row) => own.has(requestIdOf(row) ?? ""));
}

/** The same for events. An inbound message has its own test flag. */
export async function eventsVisibleTo<Row extends { happening: CustomerEvent }>(
  store: Pick<MessageStore, "testRequestsAmong">,
  caller: Caller,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  if (!seesTestsOnly(caller)) return rows;
  const others = rows.filter(({ happening }) => happening.kind !== "inbound");
  const visible = new Set(await visibleTo(store, caller, others, ({ happening }) => requestIdOf(happening)));
  return rows.filter((row) =>
    row.happening.kind === "inbound" ? row.happening.inbound.test === true : visible.has(row),
  );
}

const requestIdOf = (happening: CustomerEvent): string | null =>
  (happening.kind === "click" ? parseMessageId(happening.message.messageId) : messageOf(happening))?.requestId ?? null;
