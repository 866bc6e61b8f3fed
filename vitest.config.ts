import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes longest, longest first: a long file that begins last would run alone at the end. */
const LONG = [
  "dashboard-config",
  "kill",
  "shutdown",
  "store-away",
  "day",
  "dashboard-pages",
  "dashboard-story",
  "config-file",
  "docs-page",
  "fuzz",
  "people",
  "start",
  "dashboard-platforms",
  "smpp-storm",
  "two-nodes",
  "roles",
  "chatapp",
  "callbacks",
  "express-door",
  "smpp-walk",
  "isolation",
  "policy",
  "store-told",
  "smpp-fuzz",
  "docs",
  "dashboard-overview",
  "verify-race",
  "store",
  "links",
  "carriers",
  "porter",
  "smpp-carrier",
  "webhooks",
  "listen",
  "fsync",
  "verify-timing",
  "rcs",
  "records",
  "sms",
  "verify-channels",
  "verify-limits",
  "simulator",
  "rbm-webhook",
  "accounts",
  "verify-pumping",
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
