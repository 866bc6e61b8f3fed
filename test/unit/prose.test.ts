import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const files = globSync("{src,test,bench}/**/*.ts", { cwd: ROOT }).toSorted();

/** Openings that hide the subject of a sentence. The sentence names the component or the concept instead. */
const DENIED_OPENING = /^(?:whoever|nobody|somebody|what is|of what)\b/i;
/** A comment that begins like this is a riddle until its last word. */
const DENIED_IN_COMMENTS = /^(?:what|whether|who|where|how|that|of)\b/i;

const COMMENT = /\/\*\*?([\s\S]*?)\*\/|((?:(?<=^|\s)\/\/ .*\n?[ \t]*)+)/gm;
const LOG_TEXT = /\blog\.(?:trace|debug|info|warn|error|fatal)\(\s*(?:\{[^}]*\},\s*)?"([^"]+)"/g;
const HELP_TEXT = /\bhelp:\s*(?:"([^"]+)"|`([^`]+)`)/g;
const TITLE = /\b(?:describe|test)(?:\.each\((?:[^()]|\([^()]*\))*\))?\(\s*(?:"([^"]+)"|`([^`]+)`)/g;

const commentsIn = (text: string): string[] =>
  [...text.matchAll(COMMENT)].map(([, block, lines = ""]) =>
    (block?.replaceAll(/^\s*\* ?/gm, "") ?? lines.replaceAll(/^\s*\/\/ /gm, "")).trim(),
  );
const textsIn = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, quoted, template]) => quoted ?? template ?? "");

/** The texts of a kind that begin with a denied word, as `file: first line`. */
const denied = (textsOf: (text: string) => readonly string[], ...openings: readonly RegExp[]): string[] =>
  files.flatMap((file) =>
    textsOf(readFileSync(join(ROOT, file), "utf8"))
      .filter((words) => openings.some((opening) => opening.test(words)))
      .map((words) => `${file}: ${words.split("\n")[0]}`),
  );

describe("the prose rules", () => {
  test("find comments, log texts, metric help texts and test titles to hold", () => {
    const texts = files.map((file) => readFileSync(join(ROOT, file), "utf8"));
    const count = (pattern: RegExp): number => texts.flatMap((text) => textsIn(text, pattern)).length;
    expect(texts.flatMap(commentsIn).length).toBeGreaterThan(1000);
    expect(count(LOG_TEXT)).toBeGreaterThan(30);
    expect(count(HELP_TEXT)).toBeGreaterThan(25);
    expect(count(TITLE)).toBeGreaterThan(3000);
  });

  test("a comment begins with its subject", () => {
    expect(denied(commentsIn, DENIED_OPENING, DENIED_IN_COMMENTS)).toEqual([]);
  });

  test.each([
    ["log text", LOG_TEXT],
    ["metric help text", HELP_TEXT],
    ["test title", TITLE],
  ])("a %s begins with its subject", (_kind, pattern) => {
    expect(denied((text) => textsIn(text, pattern), DENIED_OPENING)).toEqual([]);
  });
});
