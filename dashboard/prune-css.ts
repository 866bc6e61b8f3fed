import type { Plugin } from "vite";

/** Class names of Mantine: hashes of component names. */
const CLASS = /m_[0-9a-f]{7,8}/g;

/**
 * Removes the styles of Mantine components that no page uses. A rule cannot apply if no script contains its class. This
 * halves the style sheet.
 */
export function pruneCss(): Plugin {
  return {
    name: "prune-css",
    apply: "build",
    // After Vite has emitted the style sheet.
    enforce: "post",
    generateBundle(_options, bundle) {
      const outputs = Object.values(bundle);
      const scripts = outputs.flatMap((output) => (output.type === "chunk" ? output.code : []));
      const used = new Set(scripts.flatMap((code) => code.match(CLASS) ?? []));
      for (const output of outputs) {
        if (output.type === "asset" && output.fileName.endsWith(".css"))
          output.source = prune(String(output.source), used);
      }
    },
  };
}

/** The rules of a style sheet, or of a nested block, without unused ones. */
function prune(css: string, used: ReadonlySet<string>): string {
  let kept = "";
  let start = 0;
  for (let at = 0; at < css.length; at += 1) {
    const character = css[at];
    if (character === '"' || character === "'") at = endOfString(css, at);
    else if (character === ";") {
      kept += css.slice(start, at + 1);
      start = at + 1;
    } else if (character === "{") {
      const end = endOfBlock(css, at);
      kept += rule(css.slice(start, at), css.slice(at + 1, end), used);
      start = end + 1;
      at = end;
    }
  }
  return kept + css.slice(start);
}

function rule(head: string, body: string, used: ReadonlySet<string>): string {
  if (/^\s*@(media|supports|layer|container)\b/.test(head)) {
    const inner = prune(body, used);
    return inner.trim() === "" ? "" : `${head}{${inner}}`;
  }
  if (head.trimStart().startsWith("@")) return `${head}{${body}}`;
  const selectors = topLevelParts(head).filter((selector) => couldApply(selector, used));
  return selectors.length === 0 ? "" : `${selectors.join(",")}{${body}}`;
}

/** Ignores the arguments of functions such as `:is()`, because any one of several selectors may apply. */
function couldApply(selector: string, used: ReadonlySet<string>): boolean {
  let outside = selector;
  while (/\([^()]*\)/.test(outside)) outside = outside.replaceAll(/\([^()]*\)/g, "");
  return (outside.match(CLASS) ?? []).every((name) => used.has(name));
}

function topLevelParts(selectors: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < selectors.length; at += 1) {
    const character = selectors[at];
    if (character === "(" || character === "[") depth += 1;
    if (character === ")" || character === "]") depth -= 1;
    if (character !== "," || depth > 0) continue;
    parts.push(selectors.slice(start, at));
    start = at + 1;
  }
  return [...parts, selectors.slice(start)];
}

function endOfString(css: string, begin: number): number {
  let at = begin + 1;
  while (at < css.length && css[at] !== css[begin]) at += css[at] === "\\" ? 2 : 1;
  return at;
}

function endOfBlock(css: string, begin: number): number {
  let depth = 0;
  for (let at = begin; at < css.length; at += 1) {
    if (css[at] === '"' || css[at] === "'") at = endOfString(css, at);
    else if (css[at] === "{") depth += 1;
    else if (css[at] === "}") depth -= 1;
    if (depth === 0) return at;
  }
  throw new Error("a style sheet has a block without an end");
}
