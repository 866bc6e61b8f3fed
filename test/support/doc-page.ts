import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";

/** A shell block of a page with the response that the page shows below it. */
export interface ShellBlock {
  line: number;
  script: string;
  /** Reason in `<!-- not run: … -->` above the block. */
  notRun: string | null;
  /** The JSON block below it that is marked with `<!-- answer -->`. */
  answer: unknown;
}

const FENCE = /^(\s*)```(\w*)\s*$/;
const NOT_RUN = /^\s*<!-- not run: (.+) -->$/;
const ANSWER = /^\s*<!-- answer -->$/;

/** The code of a page in one language, as one program. */
export async function readProgram(path: string, language: string): Promise<string> {
  const page = await readFile(path, "utf8");
  const blocks = page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"));
  return [...blocks].map(([, code]) => code).join("\n");
}

/** The shell blocks of a Markdown page in order. */
export async function readShellBlocks(path: string): Promise<ShellBlock[]> {
  const blocks: ShellBlock[] = [];
  let above = "";
  let open: { line: number; indent: string; language: string; above: string; lines: string[] } | null = null;
  for (const [index, line] of (await readFile(path, "utf8")).split("\n").entries()) {
    const [, indent = "", language = ""] = FENCE.exec(line) ?? [];
    const isFence = FENCE.test(line);
    if (!open && isFence) open = { line: index + 1, indent, language, above, lines: [] };
    else if (open && isFence) {
      const content = open.lines.join("\n");
      const previous = blocks.at(-1);
      if (open.language === "sh") {
        const notRun = NOT_RUN.exec(open.above)?.[1] ?? null;
        blocks.push({ line: open.line, script: content, notRun, answer: undefined });
      } else if (ANSWER.test(open.above) && previous) previous.answer = JSON.parse(content);
      open = null;
    } else if (open) open.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line);
    if (!open && line.trim() !== "") above = line;
  }
  return blocks;
}

export interface PageRun {
  /** Output of each block. */
  printed: string[];
  code: number | null;
  errors: string;
}

/** Separator after the output of a block; no output contains it. */
const END_OF_BLOCK = "\u001E";

/** A failed command ends the page. curl fails on 4xx and 5xx, which is not its default. */
const PRELUDE = `
set -euo pipefail
curl() { command curl --fail-with-body --show-error --max-time 60 --write-out "\\n" "$@"; }
`;

/** Runs the blocks of a page in one shell, as if a reader had pasted them. */
export async function runBlocks(
  blocks: readonly ShellBlock[],
  {
    cwd,
    env,
    placeholders,
  }: { cwd: string; env: NodeJS.ProcessEnv; placeholders: readonly (readonly [string, string])[] },
): Promise<PageRun> {
  const filled = (script: string): string =>
    placeholders.reduce((text, [written, value]) => text.replaceAll(written, value), script);
  const script = blocks.map((block) => `${filled(block.script)}\nprintf '${END_OF_BLOCK}'\n`).join("");
  const shell = spawn("bash", ["-c", PRELUDE + script], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  let errors = "";
  shell.stdout.setEncoding("utf8").on("data", (chunk: string) => (output += chunk));
  shell.stderr.setEncoding("utf8").on("data", (chunk: string) => (errors += chunk));
  const closed = once(shell, "close");
  const [code] = (await once(shell, "exit")) as [number | null];
  endGroup(shell.pid);
  await closed;
  return { printed: output.split(END_OF_BLOCK), code, errors };
}

/** Ends background processes of the page, such as a simulated SMSC. */
function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch (error) {
    // The shell was the last process of its group.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/**
 * Differences between a response and the one that the page shows. Ids, times, numbers and texts with "…" vary between
 * runs, so only their types are compared. The page may omit fields.
 */
export function differences(shown: unknown, answered: unknown, path = "answer"): string[] {
  if (Array.isArray(shown)) {
    if (!Array.isArray(answered)) return [`${path} is no array`];
    return shown.flatMap((item, index) => differences(item, answered[index], `${path}[${index}]`));
  }
  if (typeof shown === "object" && shown !== null) {
    if (typeof answered !== "object" || answered === null) return [`${path} is ${JSON.stringify(answered)}`];
    return Object.entries(shown).flatMap(([key, value]) =>
      differences(value, (answered as Record<string, unknown>)[key], `${path}.${key}`),
    );
  }
  const varies = typeof shown === "number" || (typeof shown === "string" && /[\d…]/.test(shown));
  const isAlike = varies ? typeof answered === typeof shown : answered === shown;
  return isAlike ? [] : [`${path} is ${JSON.stringify(answered)}, the page shows ${JSON.stringify(shown)}`];
}
