import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    scratchFolder: string;
  }
}

/** Gives a whole vitest run a folder for what is needed until its end: processes of vitest are not told when that is. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "heliograph-scratch-"));
  project.provide("scratchFolder", folder);
  // Some of those processes may still be at their end.
  return () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
}
