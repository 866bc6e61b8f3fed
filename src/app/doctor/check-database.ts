import { closeSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../config.ts";
import { readDatabaseUrl } from "../../lib/database-url.ts";
import { countOf } from "../../lib/text.ts";
import { pendingMigrations, type AppliedMigration } from "../../store/migrations/all.ts";
import { connectionsPerNode } from "../../store/postgres/postgres-store.ts";
import { examinePostgres, type PostgresFacts } from "../../store/postgres/examine.ts";
import { VERSION_MIN } from "../../store/postgres/session.ts";
import { appliedMigrations } from "../../store/sqlite/examine.ts";
import { databaseFileOf } from "../storage.ts";
import { ok, problem, reasonOf, warning, type Finding } from "./finding.ts";

const COMMIT_SLOW_MS = 50;
const SKEW_MAX_MS = 1000;
const ROUNDS = 5;

export interface DatabaseChecked {
  findings: Finding[];
  /** The schema is that of this release, so records can be read. */
  isCurrent: boolean;
}

/** Checks the database without migrating it. */
export const checkDatabase = (config: Config): Promise<DatabaseChecked> | DatabaseChecked =>
  config.databaseUrl === null ? checkSqlite(config) : checkPostgres(config, config.databaseUrl);

function checkSqlite(config: Config): DatabaseChecked {
  const file = databaseFileOf(config);
  try {
    const schema = checkSchema(appliedMigrations(file), file);
    return { findings: [schema.finding, ...checkSync(config.dataDir)], isCurrent: schema.isCurrent };
  } catch (error) {
    const fix = "Restore the file from a backup, or give the user of the server access to it.";
    return { findings: [problem("database", `${file}: ${reasonOf(error)}`, fix)], isCurrent: false };
  }
}

/** Several servers are checked as one: the findings are those of the server that accepts writes. */
async function checkPostgres(config: Config, url: string): Promise<DatabaseChecked> {
  const checked: DatabaseChecked[] = [];
  for (const server of readDatabaseUrl(url)) {
    const one = await checkPostgresServer(config, server);
    if (one.findings[0]?.status !== "problem") return one;
    checked.push(one);
  }
  return { findings: checked.flatMap(({ findings }) => findings), isCurrent: checked.some((one) => one.isCurrent) };
}

async function checkPostgresServer(config: Config, url: string): Promise<DatabaseChecked> {
  const where = placeOf(url);
  try {
    const facts = await examinePostgres(url, config.databasePooler);
    const schema = checkSchema(facts.migrations, where);
    const findings = [
      checkServer(facts, where),
      schema.finding,
      ...checkCommits(facts),
      checkClock(facts),
      checkConnections(facts, connectionsPerNode(config.reportingConcurrency)),
    ];
    return { findings, isCurrent: schema.isCurrent };
  } catch (error) {
    const fix = `Start PostgreSQL, or correct HELIOGRAPH_DATABASE_URL; psql with the same URL shows more.`;
    return { findings: [problem("database", `${where}: ${reasonOf(error)}`, fix)], isCurrent: false };
  }
}

/** Host, port and database of a URL, without its user and password. */
function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `PostgreSQL ${host}${pathname}`;
}

function checkServer(
  { release, versionNumber, isReadOnly, syncs, poolerFault }: PostgresFacts,
  where: string,
): Finding {
  const check = "database";
  const detail = `${where}, version ${release}`;
  if (versionNumber < VERSION_MIN) return problem(check, detail, "Upgrade PostgreSQL to version 15 or later.");
  if (poolerFault !== null) return problem(check, poolerFault, "Change the setting that the message names.");
  if (isReadOnly)
    return problem(
      check,
      `${detail}, refuses writes`,
      "Give HELIOGRAPH_DATABASE_URL the address of the primary server.",
    );
  if (!syncs)
    return warning(
      check,
      `${detail}, has fsync=off`,
      "Set fsync=on: after a power failure accepted messages are lost.",
    );
  return ok(check, detail);
}

/** Compares the applied migrations with those of this release. */
function checkSchema(
  done: readonly AppliedMigration[] | null,
  where: string,
): { finding: Finding; isCurrent: boolean } {
  const check = "schema";
  if (done === null) return { finding: ok(check, `${where} has none; the first start creates it`), isCurrent: false };
  try {
    const { length } = pendingMigrations(done);
    if (length === 0) return { finding: ok(check, "up to date"), isCurrent: true };
    const fix = "The next start applies them. Make a backup before.";
    return { finding: warning(check, `${countOf(length, "migration")} pending`, fix), isCurrent: false };
  } catch (error) {
    const fix = "Install the release that has migrated it, or restore a backup.";
    return { finding: problem(check, reasonOf(error), fix), isCurrent: false };
  }
}

function checkCommits({ commitMs, commitFault }: PostgresFacts): Finding[] {
  const check = "commit";
  if (commitFault !== null)
    return [problem(check, commitFault, "Look at the database's log, its disk and its synchronous standbys.")];
  return commitMs === null ? [] : [commitFinding(commitMs, "a small commit")];
}

function commitFinding(ms: number, what: string): Finding {
  const detail = `${what} takes ${ms.toFixed(1)} ms`;
  if (ms <= COMMIT_SLOW_MS) return ok("commit", detail);
  const fix = "Every request waits for a commit: use a disk with fast fsync, and keep the database near.";
  return warning("commit", detail, fix);
}

/** Syncs a file beside the database, which needs no lock on it. */
function checkSync(dataDir: string): Finding[] {
  const file = join(dataDir, `.doctor-${process.pid}`);
  let descriptor: number;
  try {
    descriptor = openSync(file, "wx", 0o600);
  } catch {
    // The directory is missing or not writable, which is a finding of its own.
    return [];
  }
  try {
    const times = Array.from({ length: ROUNDS }, () => {
      const from = performance.now();
      writeSync(descriptor, Buffer.alloc(4096));
      fsyncSync(descriptor);
      return performance.now() - from;
    });
    return [commitFinding(times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0, "an fsync")];
  } catch (error) {
    return [problem("commit", reasonOf(error), "Check the disk of the data directory.")];
  } finally {
    closeSync(descriptor);
    rmSync(file, { force: true });
  }
}

function checkClock({ clockAheadMs }: PostgresFacts): Finding {
  const differenceMs = Math.abs(clockAheadMs);
  const detail = `${(differenceMs / 1000).toFixed(1)} s ${clockAheadMs > 0 ? "behind" : "ahead of"} the database's clock`;
  if (differenceMs <= SKEW_MAX_MS) return ok("clock", detail);
  return warning("clock", detail, "Synchronize the clocks of all machines by NTP (chrony or systemd-timesyncd).");
}

function checkConnections({ connectionsMax, connectionsUsed, nodes }: PostgresFacts, perNode: number): Finding {
  const check = "database connections";
  const needed = Math.max(nodes, 1) * perNode;
  const detail = `${Math.max(nodes, 1)} × ${perNode} needed by nodes, ${connectionsUsed} open, ${connectionsMax} allowed`;
  if (needed <= connectionsMax) return ok(check, detail);
  const fix = `Raise max_connections of PostgreSQL, lower HELIOGRAPH_REPORTING_CONCURRENCY, or use PgBouncer with HELIOGRAPH_DATABASE_POOLER=transaction.`;
  return warning(check, detail, fix);
}
