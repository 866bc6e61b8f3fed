import { listAt, nameOfDestination } from "../../backup/destination.ts";
import { timeOf } from "../../backup/manifest.ts";
import { readDestination } from "../../backup/read-destination.ts";
import type { Config } from "../../config.ts";
import { ok, problem, reasonOf, warning, type Finding } from "./finding.ts";

const HOUR_MS = 3_600_000;

/** Checks that scheduled backups can be listed where they go, and that the newest is not too old. */
export async function checkBackups(config: Config, now: number = Date.now()): Promise<Finding[]> {
  const { backupDir, backupEveryMs } = config;
  if (backupDir === null) return [];
  const check = "backups";
  try {
    const destination = readDestination(config, backupDir, "HELIOGRAPH_BACKUP_DIR");
    const place = nameOfDestination(destination);
    const names = await listAt(destination);
    const newest = names.at(-1);
    const fix = "The server writes one when it runs; its log has the reason of each failure.";
    if (newest === undefined) return [warning(check, `none in ${place}`, fix)];
    const hours = Math.floor((now - timeOf(newest)) / HOUR_MS);
    const detail = `${names.length} in ${place}, the newest ${hours} hours old`;
    return [hours * HOUR_MS > 2 * backupEveryMs ? warning(check, detail, fix) : ok(check, detail)];
  } catch (error) {
    const fix = "Correct HELIOGRAPH_BACKUP_DIR and the HELIOGRAPH_S3_ settings; docs/backup.md has an example.";
    return [problem(check, reasonOf(error), fix)];
  }
}
