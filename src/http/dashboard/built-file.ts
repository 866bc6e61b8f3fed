import { readFile } from "node:fs/promises";

/** What `scripts/build-dashboard.mjs` makes of `dashboard/`. */
const BUILT = new URL("../../../dashboard/dist/", import.meta.url);

/** Names as the build gives them: no folder and no dot in front, so nothing else on the disk can be meant. */
const FILE_NAME = /^[A-Za-z0-9_-][A-Za-z0-9_.-]*$/;

/** A file of the build; null where there is none, or nothing has been built. */
export async function readBuilt(folder: "" | "assets/", name: string): Promise<Buffer | null> {
  if (!FILE_NAME.test(name)) return null;
  try {
    return await readFile(new URL(folder + name, BUILT));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

const ENCODINGS = [
  { name: "br", suffix: ".br" },
  { name: "gzip", suffix: ".gz" },
] as const;

interface Encoded {
  content: Buffer;
  encoding: string | null;
}

/** The smallest form of an asset that the client takes; the build has compressed it already. */
export async function readEncoded(name: string, accepted: string): Promise<Encoded | null> {
  const wanted = new Set(accepted.split(",").map((each) => each.trim().split(";")[0]));
  for (const { name: encoding, suffix } of ENCODINGS) {
    const content = wanted.has(encoding) ? await readBuilt("assets/", name + suffix) : null;
    if (content) return { content, encoding };
  }
  const content = await readBuilt("assets/", name);
  return content && { content, encoding: null };
}
