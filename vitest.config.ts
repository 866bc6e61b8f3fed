import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes longest, longest first: a long file that begins last would run alone at the end. */
const LONG = [
  "dashboard-config",
  "kill",
  "shutdown",
  "store-away",
  "config-file",
  "day",
  "fuzz",
  "dashboard-pages",
  "dashboard-story",
  "start",
  "people",
  "store",
  "dashboard-platforms",
  "docs-page",
  "store-told",
  "two-nodes",
  "store-people",
  "smpp-walk",
  "isolation",
  "chatapp",
  "callbacks",
  "docs",
  "roles",
  "links",
  "smpp-storm",
  "sms",
  "verify-timing",
  "policy",
  "dashboard-overview",
  "webhooks",
  "carriers",
  "simulator",
  "accounts",
  "smpp-carrier",
  "express-door",
  "records",
  "listen",
  "verify-channels",
  "rcs",
  "fsync",
  "verify-race",
  "smpp-fuzz",
  "flood",
  "inbound",
  "verify-limits",
].map((name) => `/test/${name}.test.ts`);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification): number => {
      const place = LONG.findIndex((name) => moduleId.endsWith(name));
      return place === -1 ? LONG.length : place;
    };
    // oxlint-disable-next-line unicorn/no-array-sort -- vitest's, and of no array
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/postgres-cluster.ts", "test/support/scratch-folder.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // More than the cores of a small machine: many tests mostly wait for a process, a page or a pause.
    maxWorkers: 3,
    // Importing does nothing, so files may share a process: alone, each of them would load the whole house anew.
    isolate: false,
    // Node loads the tests itself, as it loads the server, without vite in between: modules cannot be mocked this way.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    sequence: { sequencer: LongestFirst },
  },
});
