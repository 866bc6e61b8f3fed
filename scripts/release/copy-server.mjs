// The part that the Debian package and the container image have in common.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../pinned-node.mjs";

/** Debian's names of the architectures. */
export const ARCHITECTURES = { x64: "amd64", arm64: "arm64" };

export const nodeFolderOf = (arch) => join(root, `node_modules/node-linux-${arch}`);

/** Copies the built server, its dashboard and a Node of its own into a folder; returns that Node. */
export function copyServer(built, folder, arch) {
  mkdirSync(join(folder, "bin"), { recursive: true });
  const node = join(folder, "bin/node");
  cpSync(join(nodeFolderOf(arch), "bin/node"), node);
  // The debug symbols are 20 % of the file.
  execFileSync("strip", ["--strip-unneeded", node]);
  for (const part of ["lib", "dashboard", "package.json"])
    cpSync(join(built, part), join(folder, part), { recursive: true });
  const { version } = JSON.parse(readFileSync(join(nodeFolderOf(arch), "package.json"), "utf8"));
  return { version, binary: node };
}
