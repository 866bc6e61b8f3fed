import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const SOURCES = [
  "{src,test,bench}/**/*.ts",
  "dashboard/{*.ts,public/*.js}",
  "dashboard/src/**/*.{ts,tsx,css}",
  "sdk/typescript/src/**/*.ts",
  "sdk/python/heliograph/**/*.py",
];
const files = globSync(SOURCES, { cwd: ROOT }).toSorted();

/** Openings that hide the subject of a sentence. The sentence names the component or the concept instead. */
const DENIED_OPENING = /^(?:whoever|nobody|somebody|what is|of what)\b/i;
/** A comment that begins like this is a riddle until its last word. */
const DENIED_IN_COMMENTS = /^(?:what|whether|who|where|how|that|of)\b/i;

/** Pronouns that hide the role of a person, anywhere in a comment. */
const DENIED_PRONOUN = /\b(?:whoever|nobody|somebody)\b/i;

const COMMENT = /(?<=^|[\s({])\/\*\*?([\s\S]*?)\*\/|((?:(?<=^|\s)\/\/ .*\n?[ \t]*)+)/gm;
const PYTHON_COMMENT = /"""([\s\S]*?)"""|((?:(?<=^|\s)#:? .*\n?[ \t]*)+)/gm;
const LOG_TEXT = /\blog\.(?:trace|debug|info|warn|error|fatal)\(\s*(?:\{[^}]*\},\s*)?"([^"]+)"/g;
const HELP_TEXT = /\bhelp:\s*(?:"([^"]+)"|`([^`]+)`)/g;
const TITLE = /\b(?:describe|test)(?:\.each\((?:[^()]|\([^()]*\))*\))?\(\s*(?:"([^"]+)"|`([^`]+)`)/g;

const commentsIn = (text: string, file: string): string[] =>
  [...text.matchAll(file.endsWith(".py") ? PYTHON_COMMENT : COMMENT)].map(([, block, lines = ""]) =>
    (block?.replaceAll(/^\s*\* ?/gm, "") ?? lines.replaceAll(/^\s*(?:\/\/|#:?) /gm, "")).trim(),
  );
const textsIn = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, quoted, template]) => quoted ?? template ?? "");

type TextsOf = (text: string, file: string) => readonly string[];

/** The texts of a kind that match a denied pattern, as `file: first line`. */
const denied = (textsOf: TextsOf, ...patterns: readonly RegExp[]): string[] =>
  files.flatMap((file) =>
    textsOf(readFileSync(join(ROOT, file), "utf8"), file)
      .filter((words) => patterns.some((pattern) => pattern.test(words)))
      .map((words) => `${file}: ${words.split("\n")[0]}`),
  );

describe("the prose rules", () => {
  test("find comments, log texts, metric help texts and test titles to hold", () => {
    const texts = files.map((file) => readFileSync(join(ROOT, file), "utf8"));
    const count = (pattern: RegExp): number => texts.flatMap((text) => textsIn(text, pattern)).length;
    const comments = (folder: string): number =>
      files.flatMap((file, at) => (file.startsWith(folder) ? commentsIn(texts[at] ?? "", file) : [])).length;
    expect(comments("src")).toBeGreaterThan(1000);
    expect(comments("dashboard")).toBeGreaterThan(600);
    expect(comments("sdk/typescript")).toBeGreaterThan(400);
    expect(comments("sdk/python")).toBeGreaterThan(40);
    expect(count(LOG_TEXT)).toBeGreaterThan(30);
    expect(count(HELP_TEXT)).toBeGreaterThan(25);
    expect(count(TITLE)).toBeGreaterThan(3000);
  });

  test("a comment begins with its subject", () => {
    expect(denied(commentsIn, DENIED_OPENING, DENIED_IN_COMMENTS)).toEqual([]);
  });

  test("a comment names the role of a person", () => {
    expect(denied(commentsIn, DENIED_PRONOUN)).toEqual([]);
  });

  test.each([
    ["log text", LOG_TEXT],
    ["metric help text", HELP_TEXT],
    ["test title", TITLE],
  ])("a %s begins with its subject", (_kind, pattern) => {
    expect(denied((text) => textsIn(text, pattern), DENIED_OPENING)).toEqual([]);
  });
});
