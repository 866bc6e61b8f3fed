import { readMasterKey } from "../accounts/master-key.ts";
import { readDestination } from "../backup/read-destination.ts";
import { BackupSchedule } from "../backup/schedule.ts";
import { BadSetting } from "../config.ts";
import type { AppBase } from "./base.ts";
import { databaseFileOf } from "./storage.ts";

/** Prepares scheduled backups; null where the settings ask for none. */
export function createBackupSchedule({ config, clock, log, metrics }: AppBase): BackupSchedule | null {
  const { backupDir, backupEveryMs: everyMs, backupKeep: keep, backupPassphrase: passphrase } = config;
  if (backupDir === null) return null;
  if (config.databaseUrl)
    throw new BadSetting("HELIOGRAPH_BACKUP_DIR is for SQLite; back PostgreSQL up with pg_dump or pgBackRest");
  const destination = readDestination(config, backupDir, "HELIOGRAPH_BACKUP_DIR");
  const masterKey = readMasterKey(config.masterKey, config.dataDir);
  const key = passphrase !== null && masterKey !== null ? { masterKey, passphrase } : null;
  if (!key)
    log.warn("scheduled backups lack the master key: set HELIOGRAPH_BACKUP_PASSPHRASE, or keep the key elsewhere");
  return new BackupSchedule(
    { clock, log, metrics },
    { destination, everyMs, keep, databaseFile: databaseFileOf(config), key },
  );
}
