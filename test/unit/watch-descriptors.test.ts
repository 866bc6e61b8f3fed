import { expect, test } from "vitest";
import type { Log } from "../../src/lib/log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { createDescriptorWatch } from "../../src/cluster/watch-descriptors.ts";

test("a lack of file descriptors is logged once and counted at every check, and its end is logged once", async () => {
  const metrics = createMetrics();
  const lines: unknown[] = [];
  const note = (level: string) => (first: unknown, message?: string) => lines.push([level, message ?? first]);
  const log = { error: note("error"), warn: note("warn") } as unknown as Log;
  let code: string | null = null;
  const look = createDescriptorWatch({
    log,
    metrics,
    probe: async () => {
      if (code !== null) throw Object.assign(new Error(code), { code });
    },
  });
  await look();
  code = "EMFILE";
  await look();
  await look();
  code = null;
  await look();
  await look();
  expect(lines).toEqual([
    ["error", "file descriptors exhausted, connections are refused"],
    ["warn", "file descriptors available again"],
  ]);
  expect(await metrics.registry.metrics()).toContain('heliograph_descriptors_exhausted_total{code="EMFILE"} 2');
  code = "EACCES";
  await expect(look()).rejects.toThrow("EACCES");
});

test("a descriptor is taken and given back where there are some", async () => {
  const metrics = createMetrics();
  await createDescriptorWatch({ log: {} as Log, metrics })();
  expect(await metrics.registry.metrics()).not.toMatch(/heliograph_descriptors_exhausted_total\{/);
});
