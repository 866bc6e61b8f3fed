import { execFile, execFileSync } from "node:child_process";
import { mkdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const ROOT = join(import.meta.dirname, "../..");
const run = promisify(execFile);

/**
 * The release before this one. There is none yet, so its place has the last commit before migration 0042; after a release, its
 * tag.
 */
export const OLDER = "1f06cda0269fc4c2a4ae1f3a823ca8615217c2bf";

/** True if this copy of the repository has a commit. */
export function hasCommit(commit: string): boolean {
  try {
    execFileSync("git", ["cat-file", "-e", `${commit}^{commit}`], { cwd: ROOT, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Bundles the server of a commit with the scripts of that commit, as its release did; returns the script that starts it. */
export async function bundleCommit(commit: string, folder: string): Promise<string> {
  const source = join(folder, "source");
  await extractCommit(commit, source, ["src", "scripts", "package.json"]);
  const { stdout: date } = await run("git", ["log", "-1", "--format=%cI", commit], { cwd: ROOT });
  const build = { version: await versionOf(source), commit, builtAt: new Date(date.trim()).toISOString() };
  const lib = join(folder, "lib");
  const script = `import { bundle } from ${JSON.stringify(join(source, "scripts/release/bundle.mjs"))};
    await bundle(${JSON.stringify(lib)}, ${JSON.stringify(build)});`;
  await run(process.execPath, ["--input-type=module", "--eval", script]);
  return join(lib, "cli.mjs");
}

/** Writes the given paths of a commit into a folder, where they run with the packages of this checkout. */
export async function extractCommit(commit: string, folder: string, paths: readonly string[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  const options = { cwd: ROOT, maxBuffer: 1e8, encoding: "buffer" } as const;
  const { stdout: archive } = await run("git", ["archive", commit, ...paths], options);
  execFileSync("tar", ["-x", "-C", folder], { input: archive });
  await requireSameLibraries(folder);
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
}

interface Manifest {
  version: string;
  dependencies: Record<string, string>;
}

const manifestOf = async (folder: string): Promise<Manifest> =>
  JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as Manifest;

const versionOf = async (folder: string): Promise<string> => (await manifestOf(folder)).version;

/** The bundle takes its libraries from this checkout, so they must be those of the older commit. */
async function requireSameLibraries(source: string): Promise<void> {
  const [older, here] = await Promise.all(
    [source, ROOT].map(async (folder) => (await manifestOf(folder)).dependencies),
  );
  const changed = Object.entries(older ?? {}).filter(([name, version]) => here?.[name] !== version);
  if (changed.length === 0) return;
  const names = changed.map(([name, version]) => `${name} ${version}`).join(", ");
  throw new Error(`the older commit needs ${names}: pin a later commit, or install its packages into its own folder`);
}
