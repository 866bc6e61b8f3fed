import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");

/** `npm test` bundles the server once: a process that loads the bundle starts with half the CPU time. */
const bundle = process.env["HELIOGRAPH_TEST_BUNDLE"];

/** Script of the server. */
export const SERVER = bundle === undefined ? join(ROOT, "src/main.ts") : join(bundle, "main.mjs");

/** Script of the command line. */
export const COMMAND_LINE = bundle === undefined ? join(ROOT, "src/cli/heliograph.ts") : join(bundle, "cli.mjs");
