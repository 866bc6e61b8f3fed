import { newId } from "../../lib/ids.ts";
import { TableChecksum, type TableSum } from "./checksum.ts";
import { TransferSource, type SourceTable, type Unsent } from "./source.ts";
import { TransferTarget, type TargetOptions } from "./target.ts";

export interface TransferRequest extends TargetOptions {
  /** Path of the SQLite file of a stopped server. */
  file: string;
  /** URL of an empty PostgreSQL database. */
  url: string;
  now: number;
}

export interface TransferProgress {
  step: "copying" | "comparing";
  table: string;
  done: number;
  rows: number;
}

export interface CopiedTable extends TableSum {
  name: string;
}

export interface Transferred {
  /** False if an earlier run has copied these rows, and was interrupted before it could say so. */
  isNew: boolean;
  tables: CopiedTable[];
  unsent: Unsent;
}

/** A table of the copy differs from the original. */
export class CopyDiffers extends Error {
  override name = "CopyDiffers";
}

/**
 * Copies all rows of a stopped server's SQLite database into an empty PostgreSQL database, all or nothing, and compares every
 * row. The source is held before the target is committed: at no moment can servers on both send the same messages.
 */
export async function transfer(
  { file, url, now, ...options }: TransferRequest,
  onProgress: (progress: TransferProgress) => void = () => {},
): Promise<Transferred> {
  const target = await TransferTarget.open(url, options);
  try {
    const source = new TransferSource(file);
    try {
      if (source.movedTo !== null && (await target.findCopy()) === source.movedTo)
        return { isNew: false, tables: [], unsent: source.countUnsent() };
      await target.refuseUnlessEmpty();
      source.migrate();
      source.lock();
      const tables = source.listTables();
      const unsent = source.countUnsent();
      const copied: CopiedTable[] = [];
      for (const table of tables)
        copied.push({ name: table.name, ...(await copyTable(source, target, table, onProgress)) });
      for (const table of tables) {
        const expected = copied.find(({ name }) => name === table.name);
        onProgress({ step: "comparing", table: table.name, done: 0, rows: table.rows });
        const stored = await target.sumRows(table.name, table.columns);
        if (stored.rows !== expected?.rows || stored.checksum !== expected.checksum)
          throw new CopyDiffers(
            `the copy of ${table.name} differs: ${expected?.rows} rows with checksum ${expected?.checksum}, ${stored.rows} with ${stored.checksum}`,
          );
        onProgress({ step: "comparing", table: table.name, done: table.rows, rows: table.rows });
      }
      for (const { table, last } of source.listCounters()) await target.continueCounter(table, last);
      const copyId = newId(now);
      await target.noteCopy(copyId);
      source.markMoved(copyId, now);
      await target.commit();
      return { isNew: true, tables: copied, unsent };
    } finally {
      source.close();
    }
  } finally {
    await target.close();
  }
}

async function copyTable(
  source: TransferSource,
  target: TransferTarget,
  table: SourceTable,
  onProgress: (progress: TransferProgress) => void,
): Promise<TableSum> {
  const sum = new TableChecksum();
  const { name, columns, rows } = table;
  for (const batch of source.readRows(table)) {
    for (const row of batch) sum.add(row);
    await target.insert(name, columns, batch);
    onProgress({ step: "copying", table: name, done: sum.result.rows, rows });
  }
  if (sum.result.rows !== rows) throw new CopyDiffers(`${sum.result.rows} rows of ${name} were read; it has ${rows}`);
  return sum.result;
}
