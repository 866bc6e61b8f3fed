import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { endProcess } from "../../src/lib/end-process.ts";
import { openDatabase } from "../../src/store/sqlite/open.ts";
import { ReportingThreads } from "../../src/store/sqlite/reporting-threads.ts";
import { DatabaseThread } from "../../src/store/sqlite/thread.ts";

/** A process that ends with the given code while a reporting statement runs that never ends. */

const [folder = "", code = "0"] = process.argv.slice(2);
const path = join(folder, "heliograph.db");
const reader = new URL("../../src/store/sqlite/reader.ts", import.meta.url);
openDatabase(path).close();
const open = (): DatabaseThread => new DatabaseThread(reader, path, { isBackground: true });
const threads = new ReportingThreads(open, { concurrency: 1, timeoutMs: 600_000 });

// The thread has started, so that it begins the next statement at once.
await threads.query("select 1", [], null).result;
const endless = threads.query(
  "with recursive n (i) as (select 1 union all select i + 1 from n) select max(i) from n",
  [],
  null,
);
endless.result.catch(() => null);
await sleep(500);
await threads.close();
endProcess(Number(code));
