import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SECRET_FIELDS } from "../../src/lib/log.ts";

const ROOT = join(import.meta.dirname, "../..");
const CALL = /\blog\??\.(?:debug|info|warn|error|fatal)\(\s*/g;
const ALWAYS = ["level", "time", "msg"];

/** Fields behind a name, which the text of the call does not show. */
const BEHIND: Readonly<Record<string, readonly string[]>> = {
  skipped: ["accountId", "verifyId", "channel"],
  facts: ["folder", "freeBytes", "limitBytes"],
  "...skipped": ["accountId", "verifyId", "channel"],
  "...alert": ["country", "sent", "verified", "conversion", "usual", "since"],
};

/** The first argument of a call: an object literal up to its bracket, or a word. */
function firstArgument(text: string, from: number): string {
  if (text[from] !== "{") return /^[\w.]*/.exec(text.slice(from, from + 100))?.[0] ?? "";
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const letter = text[at] ?? "";
    if ("{([".includes(letter)) depth += 1;
    if ("})]".includes(letter)) depth -= 1;
    if (depth === 0) return text.slice(from, at + 1);
  }
  return "";
}

/** The names of an object literal, without those of objects in it. */
function namesIn(argument: string): string[] {
  if (!argument.startsWith("{")) return argument === "" ? [] : [argument];
  let [depth, flat] = [0, ""];
  for (const letter of argument.slice(1, -1)) {
    if ("})]".includes(letter)) depth -= 1;
    if (depth === 0) flat += letter;
    if ("{([".includes(letter)) depth += 1;
  }
  return flat
    .split(",")
    .map((part) => part.split(":")[0]?.trim() ?? "")
    .filter((name) => name !== "");
}

/** Every field of a log call in `src`, with the first file that uses it. */
function usedFields(): Map<string, string> {
  const used = new Map<string, string>();
  for (const file of globSync("src/**/*.ts", { cwd: ROOT })) {
    const text = readFileSync(join(ROOT, file), "utf8");
    for (const call of text.matchAll(CALL)) {
      const names = namesIn(firstArgument(text, call.index + call[0].length));
      for (const name of names.flatMap((each) => BEHIND[each] ?? [each])) if (!used.has(name)) used.set(name, file);
    }
  }
  return used;
}

function documentedFields(): string[] {
  const page = readFileSync(join(ROOT, "docs/monitoring.md"), "utf8");
  const table = /<!-- log-fields:begin -->([\s\S]*?)<!-- log-fields:end -->/.exec(page)?.[1] ?? "";
  return [...table.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm)].flatMap(([, names = ""]) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name),
  );
}

test("docs/monitoring.md lists every field of the log, and no other", () => {
  const used = usedFields();
  expect(used.size).toBeGreaterThan(50);
  expect([...new Set(documentedFields())].toSorted()).toEqual([...ALWAYS, ...used.keys()].toSorted());
});

test("no log call uses a field whose value is redacted", () => {
  const redacted = [...usedFields()].filter(([name]) => SECRET_FIELDS.includes(name));
  expect(redacted).toEqual([]);
});
