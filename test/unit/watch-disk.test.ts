import { expect, test } from "vitest";
import { createDiskWatch, diskLimitOf } from "../../src/cluster/watch-disk.ts";
import type { Log } from "../../src/lib/log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { SendGate } from "../../src/pipeline/accept/send-gate.ts";

const MB = 1_000_000;
const quiet = { error() {}, warn() {} } as unknown as Log;

test("sends are refused below the limit, and accepted again above one and a quarter times the limit", async () => {
  const gate = new SendGate();
  const metrics = createMetrics();
  let freeBytes = 0;
  const readSpace = async () => ({ freeBytes, totalBytes: 100_000 * MB });
  const watch = createDiskWatch({ log: quiet, metrics, gate, readSpace }, { folder: "/", minBytes: 256 * MB });
  const codes: (string | null)[] = [];
  for (const free of [300, 256, 255, 256, 319, 320, 256, 255]) {
    freeBytes = free * MB;
    await watch();
    codes.push(gate.refusal?.code ?? null);
  }
  const full = "STORAGE_FULL";
  expect(codes).toEqual([null, null, full, full, full, null, null, full]);
  const exposed = await metrics.registry.metrics();
  expect(exposed).toContain(`heliograph_disk_free_bytes ${255 * MB}\n`);
  expect(exposed).toContain("heliograph_disk_full 1\n");
});

test("the limit is at most a tenth of the disk", () => {
  expect(diskLimitOf(256 * MB, { totalBytes: 100_000 * MB })).toBe(256 * MB);
  expect(diskLimitOf(256 * MB, { totalBytes: 500 * MB })).toBe(50 * MB);
});

test("a held service stays held, whatever the disk does", () => {
  const gate = new SendGate();
  gate.setDiskFull(1 * MB);
  gate.hold();
  gate.setDiskFull(null);
  expect(gate.refusal?.code).toBe("SERVICE_HELD");
  gate.setDiskFull(1 * MB);
  expect([gate.refusal?.code, gate.isDiskFull]).toEqual(["SERVICE_HELD", true]);
});

test("the space of this machine's disk is read from the operating system", async () => {
  const metrics = createMetrics();
  await createDiskWatch({ log: quiet, metrics, gate: new SendGate() }, { folder: import.meta.dirname, minBytes: 0 })();
  expect(await metrics.registry.metrics()).toMatch(/heliograph_disk_free_bytes [1-9]\d+/);
});
