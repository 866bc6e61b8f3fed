const TAG = /^<(\/?)([A-Za-z][\w-]{0,40})(?![\w-])[^<>]*?(\/?)>$/;
const DOCTYPE = /<!DOCTYPE[^[\]<>]*>/;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };
const DEPTH_MAX = 20;
const TOKENS_MAX = 20_000;

/**
 * The texts of an XML message by the path of their element, such as `message/submit/ud`; null if it is no such document. The time
 * is linear in the length, because the login is in the document: anyone can send one (ReDoS).
 */
export function readXmlTexts(document: string): ReadonlyMap<string, readonly string[]> | null {
  const body = document.replace(DOCTYPE, "").replace(/^\s*<\?[^<>]*\?>/, "");
  // Entities of a document type could grow without limit, so none is read.
  if (/<!(?!--)/.test(body)) return null;
  const texts = new Map<string, string[]>();
  const open: string[] = [];
  let text = "";
  let tokens = 0;
  for (let at = 0, next = 0; at < body.length; at = next) {
    tokens += 1;
    if (tokens > TOKENS_MAX) return null;
    next = endOfToken(body, at);
    if (next === 0) return null;
    const token = body.slice(at, next);
    if (token.startsWith("<!--")) continue;
    if (!token.startsWith("<")) {
      text += token;
      continue;
    }
    const [, closing, name, empty] = TAG.exec(token) ?? [];
    if (name === undefined) return null;
    if (closing) {
      if (open.at(-1) !== name) return null;
      const path = open.join("/");
      const found = texts.get(path) ?? [];
      found.push(decodeEntities(text).trim());
      texts.set(path, found);
      open.pop();
      text = "";
    } else {
      if (open.length >= DEPTH_MAX) return null;
      text = "";
      if (!empty) open.push(name);
    }
  }
  return open.length === 0 ? texts : null;
}

/** The place behind a tag, a comment or a text that begins at `from`; 0 if it has no end. */
function endOfToken(body: string, from: number): number {
  if (body.startsWith("<!--", from)) {
    const end = body.indexOf("-->", from + 4);
    return end < 0 ? 0 : end + 3;
  }
  if (body[from] === "<") return body.indexOf(">", from) + 1;
  const tag = body.indexOf("<", from);
  return tag < 0 ? body.length : tag;
}

const decodeEntities = (text: string): string =>
  text.replaceAll(
    /&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(\w{1,8}));/g,
    (whole, decimal, hex, name: string | undefined) => {
      if (name !== undefined) return ENTITIES[name] ?? whole;
      const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
