import { expect, test } from "vitest";
import { createMemoryRelease } from "../../src/cluster/release-memory.ts";
import type { Log } from "../../src/lib/log.ts";

const MIB = 1_048_576;
const log = { info: () => undefined } as unknown as Log;

function startRelease() {
  const node = { residentMiB: 200, busyShare: 0, liveMiB: 210, collections: 0 };
  const look = createMemoryRelease({
    log,
    residentBytes: () => node.residentMiB * MIB,
    busyShare: () => node.busyShare,
    collect: () => {
      node.collections += 1;
      node.residentMiB = node.liveMiB;
    },
  });
  return { node, look };
}

/** After the collection of the start's garbage. */
async function startIdle(): Promise<ReturnType<typeof startRelease>> {
  const started = startRelease();
  await started.look();
  started.node.collections = 0;
  return started;
}

test("the garbage of the start is collected once, as soon as the node is idle", async () => {
  const { node, look } = startRelease();
  Object.assign(node, { busyShare: 0.9, liveMiB: 170 });
  await look();
  expect(node.collections).toBe(0);
  node.busyShare = 0.01;
  await look();
  await look();
  expect(node).toMatchObject({ collections: 1, residentMiB: 170 });
});

test("a node that grew in a burst collects its garbage once, as soon as it is idle", async () => {
  const { node, look } = await startIdle();
  Object.assign(node, { residentMiB: 500, busyShare: 0.9 });
  await look();
  expect(node.collections).toBe(0);
  node.busyShare = 0.01;
  await look();
  await look();
  expect(node).toMatchObject({ collections: 1, residentMiB: 210 });
  node.residentMiB = 500;
  await look();
  expect(node.collections).toBe(2);
});

test("a node in usual traffic, or whose memory is in use, does not pause for a collection", async () => {
  const { node, look } = await startIdle();
  node.residentMiB = 260;
  await look();
  expect(node.collections).toBe(0);
  Object.assign(node, { residentMiB: 600, liveMiB: 590 });
  for (let looks = 0; looks < 5; looks += 1) await look();
  expect(node.collections).toBe(1);
});
