import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "../../src/store/sqlite/migrate.ts";
import { openDatabase } from "../../src/store/sqlite/open.ts";

let schema: Promise<Buffer> | null = null;

/** Lays down a database with nothing in it but its schema: the migrations run once for a process, not for every store. */
export async function writeSqliteSchema(path: string): Promise<void> {
  schema ??= migratedFile();
  await writeFile(path, await schema);
}

async function migratedFile(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "heliograph-schema-"));
  const path = join(folder, "schema.db");
  const db = openDatabase(path);
  migrate(db);
  // The last connection to close folds the log into the file.
  db.close();
  const bytes = await readFile(path);
  await rm(folder, { recursive: true });
  return bytes;
}
