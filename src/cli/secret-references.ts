import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { isObject } from "../lib/json.ts";
import { Problem, type Fault } from "../model/problem.ts";

const ENVIRONMENT = "$env";
const FILE = "$file";

interface ReferenceDeps {
  env: NodeJS.ProcessEnv;
  /** Paths are relative to it. */
  folder: string;
}

/**
 * Replaces references in a configuration file by the values that they name: `{"$env": "NAME"}` by an environment variable,
 * `{"$file": "PATH"}` by the content of a file. Only the operator's command line does this: the server would give its own
 * variables and files to every account.
 */
export async function resolveReferences(file: unknown, deps: ReferenceDeps): Promise<unknown> {
  const faults: Fault[] = [];
  const resolved = await resolveIn(file, "", deps, faults);
  if (faults.length > 0) throw new Problem("INVALID_REQUEST", { faults });
  return resolved;
}

async function resolveIn(value: unknown, path: string, deps: ReferenceDeps, faults: Fault[]): Promise<unknown> {
  if (Array.isArray(value))
    return Promise.all(value.map(async (each, index) => resolveIn(each, `${path}[${index}]`, deps, faults)));
  if (!isObject(value)) return value;
  const [first, ...others] = Object.entries(value);
  if (first && others.length === 0 && (first[0] === ENVIRONMENT || first[0] === FILE)) {
    const found = await resolveReference(first[0], first[1], deps);
    if ("text" in found) return found.text;
    faults.push({ parameter: path, message: found.message });
    return value;
  }
  const fields = Object.entries(value).map(async ([name, each]): Promise<[string, unknown]> => [
    name,
    await resolveIn(each, path === "" ? name : `${path}.${name}`, deps, faults),
  ]);
  return Object.fromEntries(await Promise.all(fields));
}

async function resolveReference(
  kind: string,
  named: unknown,
  { env, folder }: ReferenceDeps,
): Promise<{ text: string } | { message: string }> {
  if (typeof named !== "string" || named === "") return { message: `${kind} must be a name.` };
  if (kind === ENVIRONMENT) {
    const text = env[named];
    return text === undefined ? { message: `The environment variable ${named} is not set.` } : { text };
  }
  try {
    // Editors and `echo` end a file with a line break.
    return { text: (await readFile(resolve(folder, named), "utf8")).replace(/\r?\n$/, "") };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { message: `The file ${named} cannot be read: ${code ?? message}.` };
  }
}
