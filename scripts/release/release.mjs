// Makes everything that a release consists of, from a clean tree. Run: npm run release [-- --out FOLDER] [--without-image]
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { install } from "../install.mjs";
import { continueWithPinnedNode, fail, nodeRunsServer, root } from "../pinned-node.mjs";

await install({ dev: true });
if (nodeRunsServer()) await release();
else await continueWithPinnedNode("scripts/release/release.mjs", process.argv.slice(2));

async function release() {
  const { readBuild } = await import("./build-package.mjs");
  const { makeRelease } = await import("./make-release.mjs");
  const { values } = parseArgs({
    options: {
      out: { type: "string", default: join(root, "release") },
      "without-image": { type: "boolean", default: false },
    },
  });
  const out = resolve(values.out);
  const build = readBuild();
  if (build.commit.endsWith("-changed")) fail("The tree has changes: commit them, because a release names its commit.");
  try {
    const sums = await makeRelease(out, build, { withImage: !values["without-image"] });
    process.stdout.write(`Heliograph ${build.version}, commit ${build.commit}, in ${out}\n${sums}`);
  } catch (error) {
    fail(error.message);
  }
}
