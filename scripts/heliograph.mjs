import module from "node:module";
import { compiled, continueWithPinnedNode, nodeRunsServer } from "./pinned-node.mjs";

// Without the compile cache, most of the CPU time of a short command is spent on stripping types and compiling.
if (nodeRunsServer()) {
  // The database threads read the variable.
  process.env["NODE_COMPILE_CACHE"] ??= compiled;
  module.enableCompileCache(compiled);
  await import("../src/cli/heliograph.ts");
} else await continueWithPinnedNode("src/cli/heliograph.ts", process.argv.slice(2));
