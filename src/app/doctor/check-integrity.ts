import { existsSync } from "node:fs";
import type { Config } from "../../config.ts";
import { INTEGRITY_CHECK, readLastCheck, RESTORE_ADVICE } from "../../model/integrity.ts";
import { serviceValue } from "../../store/sqlite/examine.ts";
import { databaseFileOf } from "../storage.ts";
import { ok, problem, reasonOf, warning, type Finding } from "./finding.ts";

const HOUR_MS = 3_600_000;

/** Shows the result of the last check of the SQLite file. It makes none, which would take minutes. */
export function checkIntegrity(config: Config, now: number = Date.now()): Finding[] {
  const file = databaseFileOf(config);
  const { databaseUrl, integrityCheckHours } = config;
  if (databaseUrl !== null || integrityCheckHours === 0 || !existsSync(file)) return [];
  const check = "integrity";
  try {
    const last = readLastCheck(serviceValue(file, INTEGRITY_CHECK));
    if (last === null) return [ok(check, "not checked yet; the server checks the file a minute after its start")];
    const hours = Math.floor((now - last.at) / HOUR_MS);
    const detail = `the check ${hours} hours ago found`;
    if (last.faults.length > 0) return [problem(check, `${detail} damage: ${last.faults[0]}`, RESTORE_ADVICE)];
    const fix = "The server checks the file when it runs; its log has the reason of each failure.";
    const isOld = hours > 2 * integrityCheckHours;
    return [isOld ? warning(check, `${detail} no damage`, fix) : ok(check, `${detail} no damage`)];
  } catch (error) {
    return [problem(check, reasonOf(error), RESTORE_ADVICE)];
  }
}
