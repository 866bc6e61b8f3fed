import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Folders of tests, slowest kind first: a long file that begins last would run alone at the end.
 * `unit` needs no server, database, browser or child process.
 */
const KINDS = ["browser", "system", "api", "store", "unit"] as const;

/** `npm run test:api` runs suites on SQLite alone. */
const postgresIsTested = (process.env["HELIOGRAPH_TEST_ENGINES"] ?? "postgres").split(",").includes("postgres");

const usesPostgres = (kind: string): boolean => postgresIsTested && kind !== "unit" && kind !== "browser";

class SlowKindsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ project }: TestSpecification): number => KINDS.findIndex((kind) => kind === project.name);
    // oxlint-disable-next-line unicorn/no-array-sort -- vitest's method, not an array's
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

export default defineConfig({
  test: {
    // Generous: a machine that is four times slower, or busy, must pass as well.
    testTimeout: process.env["HELIOGRAPH_TEST_LONG"] === undefined ? 240_000 : 3_600_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 120_000 } },
    // More than the cores of a small machine: many tests mostly wait for a process, a page or a pause.
    maxWorkers: 5,
    // Importing does nothing, so files may share a process: alone, each of them would load the whole application again.
    isolate: false,
    // Node loads the tests itself, as it loads the server, without vite in between: modules cannot be mocked this way.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    sequence: { sequencer: SlowKindsFirst },
    projects: KINDS.map((kind) => ({
      extends: true as const,
      test: {
        name: kind,
        include: [`test/${kind}/**/*.test.ts`],
        setupFiles: ["test/support/property-seed.ts"],
        globalSetup: [
          ...(usesPostgres(kind) ? ["test/support/postgres-cluster.ts"] : []),
          "test/support/scratch-folder.ts",
        ],
      },
    })),
  },
});
