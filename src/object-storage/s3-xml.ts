const ENTITIES: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

const decoded = (text: string): string =>
  text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(lt|gt|amp|quot|apos));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[String(name).toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
  });

/**
 * Contents of the elements of a name, in their order. The storage's answers are flat lists without attributes that matter, so
 * an XML parser, which would also read entities and documents that they refer to, is not needed.
 */
export function elementsOf(xml: string, name: string): string[] {
  const found: string[] = [];
  const open = new RegExp(`<${name}(?:\\s[^<>]*)?>`, "g");
  const end = `</${name}>`;
  while (open.exec(xml)) {
    const until = xml.indexOf(end, open.lastIndex);
    if (until < 0) break;
    found.push(xml.slice(open.lastIndex, until));
    open.lastIndex = until + end.length;
  }
  return found;
}

/** Text of the first element of a name; null without one. */
export function textOf(xml: string, name: string): string | null {
  const [first] = elementsOf(xml, name);
  return first === undefined ? null : decoded(first);
}

export const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
