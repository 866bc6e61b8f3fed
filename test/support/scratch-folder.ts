import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    scratchFolder: string;
  }
}

/**
 * A folder for a whole vitest run. Vitest's worker processes get no notice of its end, so they cannot remove their own
 * files.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "heliograph-scratch-"));
  project.provide("scratchFolder", folder);
  // Some worker processes may still be ending.
  return () => rm(folder, { recursive: true, force: true, maxRetries: 3 });
}
