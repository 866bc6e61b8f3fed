import { join } from "node:path";
import { install } from "./install.mjs";
import {
  compiled,
  continueWithPinnedNode,
  nodeRunsServer,
  pinnedNodeIsAnother,
  root,
  runToEnd,
} from "./pinned-node.mjs";

const self = "scripts/test-project.mjs";
const [project, ...args] = process.argv.slice(2);

await install({ dev: true });
if (pinnedNodeIsAnother() || !nodeRunsServer()) await continueWithPinnedNode(self, [project, ...args]);
else await runProject();

/** Runs the tests of one folder, without the checks of `npm test` and on SQLite alone. A bare word names a file of it. */
async function runProject() {
  const vitest = join(root, "node_modules", ".bin", "vitest");
  const filters = args.map((arg) => (/^\w[\w-]*$/.test(arg) ? `test/${project}/${arg}.test.ts` : arg));
  const env = { HELIOGRAPH_TEST_ENGINES: "sqlite", ...process.env, NODE_COMPILE_CACHE: compiled };
  const { code } = await runToEnd(process.execPath, [vitest, "run", "--project", project, ...filters], { env });
  process.exit(code === null ? 1 : code);
}
