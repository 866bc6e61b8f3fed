import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const ON_A_MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";

/** The browser that looks at pages. The shell does without what a window would need, and takes an eighth less of the processor. */
export function chromium(): string | undefined {
  const named = process.env["HELIOGRAPH_CHROMIUM"];
  if (named) return executable(named);
  const names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
  return names.map(inPath).find((path) => path !== undefined) ?? executable(ON_A_MAC);
}

export function inPath(programme: string): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/bin", "/usr/sbin"];
  return folders.map((folder) => executable(join(folder, programme))).find((path) => path !== undefined);
}

function executable(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK);
    return path;
  } catch {
    // Not there or not to be run: the same to the caller.
    return undefined;
  }
}
