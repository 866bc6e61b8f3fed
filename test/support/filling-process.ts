import { once } from "node:events";
import { systemClock } from "../../src/lib/clock.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { StorageUnavailable, type Acceptance } from "../../src/store/store.ts";
import { acceptance } from "./acceptances.ts";

/**
 * Writes into an SQLite store until the file size limit, which stands for a full disk, is reached; continues on
 * request. Argument: the path. Communicates with its parent by IPC.
 */

const MESSAGES_PER_WRITE = 200;
const TRIES_MAX = 1000;

const store = openSqliteStore(process.argv[2] ?? "", systemClock);
const recipients: Acceptance["recipients"] = Array.from({ length: MESSAGES_PER_WRITE }, () => ({
  number: "33600000001",
  failure: null,
  credits: 1,
}));
const write = async () => (await store.accept([{ ...acceptance(), recipients }]))[0];

/** Repeats until the store refuses and returns the number of successes. */
async function exhaust(work: () => Promise<unknown>): Promise<{ done: number; unavailable: boolean }> {
  for (let done = 0; done < TRIES_MAX; done += 1) {
    const refusal: unknown = await work().catch((error: unknown) => error);
    if (refusal instanceof Error) return { done, unavailable: refusal instanceof StorageUnavailable };
  }
  return { done: TRIES_MAX, unavailable: false };
}

process.send?.({ writes: await exhaust(write), pings: await exhaust(() => store.ping()) });

await once(process, "message");
const result = await write();
const { rows } = await store.listMessages(1, {}, null, 20_000);
await store.ping();
process.send?.({ result, rows: rows.length });
await store.close();
process.disconnect();
