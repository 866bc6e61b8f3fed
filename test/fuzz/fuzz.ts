import { parseArgs } from "node:util";
import { campaign, type Report } from "./campaign.ts";
import { openTarget } from "./target.ts";

/**
 * Long fuzz run: `node test/fuzz/fuzz.ts --requests 1000000 --seed 7`. Without `--url` it starts its own server on
 * SQLite, or on PostgreSQL with `--database-url`. `--from N --requests 1` replays request N of a seed.
 */

const RAW_SHARE = 0.1;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "100000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000_007) },
    from: { type: "string", default: "0" },
    url: { type: "string" },
    key: { type: "string" },
    "database-url": { type: "string" },
  },
});

const total = Number(values.requests);
const rawRequests = Math.floor(total * RAW_SHARE);
const seed = Number(values.seed);
const startedAt = performance.now();
say(`seed ${seed}, ${total} requests, of which ${rawRequests} on bare connections`);

const given = values.url !== undefined && values.key !== undefined ? { url: values.url, key: values.key } : null;
const target = given ? null : await openTarget(values["database-url"]);
const before = target?.rssMb() ?? null;
const report = await campaign(given ?? (target as NonNullable<typeof target>), {
  seed,
  requests: total - rawRequests,
  rawRequests,
  from: Number(values.from),
  onProgress: progress(),
});
const rss = target ? `, memory ${before} MB before and ${target.rssMb()} MB after` : "";
say(`${summary(report)} in ${((performance.now() - startedAt) / 1000).toFixed(0)} s${rss}`);
for (const violation of report.violations) say(`VIOLATION ${violation}`);
if (target && report.violations.length > 0)
  say(`${target.output().slice(-20_000)}\n${target.death() ?? "the server still runs"}`);
await target?.close();
process.exit(report.violations.length === 0 ? 0 : 1);

function progress(): (report: Report) => void {
  let saidAt = 0;
  return (soFar) => {
    if (performance.now() - saidAt < 5000) return;
    saidAt = performance.now();
    say(`${summary(soFar)}, ${((saidAt - startedAt) / 1000).toFixed(0)} s, ${target?.rssMb() ?? "?"} MB`);
  };
}

function summary({ requests, rawRequests: raw, readBack, statuses, violations }: Report): string {
  const counts = Object.entries(statuses).map(([status, count]) => `${status}: ${count}`);
  return `${requests + raw} requests (${raw} raw), ${readBack} read back, ${violations.length} violations; ${counts.join(", ")}`;
}
