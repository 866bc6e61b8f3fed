import { mkdir, readFile, writeFile } from "node:fs/promises";
import { cpus, totalmem, type } from "node:os";
import { join } from "node:path";

/**
 * Folder of the results. A quick run sets another one, so that it does not overwrite the results of the last full run.
 */
export const resultsFolder = (): string => process.env["BENCH_RESULTS"] ?? join(import.meta.dirname, "results");

/** Writes the figures of a run with machine, date and versions. */
export async function record(name: string, figures: object): Promise<void> {
  const folder = resultsFolder();
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, "../package.json"), "utf8")) as {
    version: string;
  };
  const [cpu] = cpus();
  const machine = {
    system: type(),
    cpu: cpu?.model ?? "",
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
  };
  const about = {
    date: new Date().toISOString().slice(0, 10),
    heliograph: version,
    node: process.version,
    sqlite: process.versions.sqlite,
    machine,
  };
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${name}.json`), `${JSON.stringify({ ...about, ...figures }, null, 2)}\n`);
}
