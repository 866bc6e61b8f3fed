import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { canTestWith, inPath } from "../support/programmes.ts";
import { startServer, type ServerProcess } from "../support/server-process.ts";

const FOLDER = join(import.meta.dirname, "../../deploy/prometheus");
const DASHBOARD = join(import.meta.dirname, "../../deploy/grafana/heliograph.json");
const promtool = inPath("promtool");
const canCheck = canTestWith(promtool, "promtool (prometheus)");
const run = promisify(execFile);

/** Shown by nodes on PostgreSQL that read from a replica: `read-replica.test.ts` holds them. */
const ONLY_WITH_A_REPLICA = [
  "heliograph_replica_up",
  "heliograph_replica_lag_seconds",
  "heliograph_replica_reads_total",
];

describe("the metrics", () => {
  let server: ServerProcess;
  let metrics: string;
  beforeAll(async () => {
    const HELIOGRAPH_BACKUP_DIR = await mkdtemp(join(inject("scratchFolder"), "backups-"));
    server = await startServer({ env: { HELIOGRAPH_BACKUP_DIR } });
    metrics = await (await fetch(`${server.baseUrl}/metrics`)).text();
  });
  afterAll(() => server.cleanup());

  test("have every name that the alert rules, the dashboard and the page about monitoring use", async () => {
    const names = new Set([...metrics.matchAll(/^# TYPE (\S+)/gm)].map(([, name = ""]) => name));
    for (const name of ONLY_WITH_A_REPLICA) names.add(name);
    const page = join(import.meta.dirname, "../../docs/monitoring.md");
    for (const file of [join(FOLDER, "heliograph.rules.yml"), DASHBOARD, page]) {
      const used = [...(await readFile(file, "utf8")).matchAll(/\b(?:heliograph|process)_[a-z_]+[a-z]\b/g)];
      const unknown = used.map(([name]) => name.replace(/_(?:bucket|count)$/, "")).filter((name) => !names.has(name));
      expect([file, unknown]).toEqual([file, []]);
    }
  });

  test.runIf(process.platform === "linux")("count open file descriptors below their limit", () => {
    const [open, max] = ["open", "max"].map((kind) =>
      Number(new RegExp(`^process_${kind}_fds (\\S+)$`, "m").exec(metrics)?.[1]),
    );
    expect(open).toBeGreaterThan(5);
    expect(max).toBeGreaterThan(open ?? 0);
  });

  test.runIf(canCheck)("have no complaint of promtool", async () => {
    const checked = run(promtool ?? "", ["check", "metrics"]);
    checked.child.stdin?.end(metrics);
    expect(await checked).toEqual({ stdout: "", stderr: "" });
  });
});

test.runIf(canCheck)("the alert rules are valid and raise the alerts that their tests expect", async () => {
  await run(promtool ?? "", ["check", "rules", "heliograph.rules.yml"], { cwd: FOLDER });
  const { stdout } = await run(promtool ?? "", ["test", "rules", "heliograph.rules.test.yml"], { cwd: FOLDER });
  expect(stdout).toContain("SUCCESS");
});

test.runIf(canCheck)("Prometheus can parse every query of the dashboard", async () => {
  interface Panel {
    targets?: { expr: string }[];
  }
  const { panels } = JSON.parse(await readFile(DASHBOARD, "utf8")) as { panels: Panel[] };
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  expect(queries.length).toBeGreaterThan(15);
  const rules = queries.map((query, index) => ({
    record: `query_${index}`,
    expr: query.replaceAll("$__rate_interval", "1m"),
  }));
  const folder = await mkdtemp(join(tmpdir(), "heliograph-rules-"));
  try {
    // JSON is YAML.
    await writeFile(join(folder, "queries.yml"), JSON.stringify({ groups: [{ name: "dashboard", rules }] }));
    const { stdout } = await run(promtool ?? "", ["check", "rules", join(folder, "queries.yml")]);
    expect(stdout).toContain(`SUCCESS: ${queries.length} rules found`);
  } finally {
    await rm(folder, { recursive: true });
  }
});
