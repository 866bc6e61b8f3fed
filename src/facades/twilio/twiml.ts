/** A message that a TwiML response asks to be sent. */
export interface TwimlMessage {
  text: string;
  /** Overrides the sender of the inbound message. */
  to: string | null;
  from: string | null;
}

const TOKEN =
  /<!--[\s\S]*?-->|<!\[CDATA\[([\s\S]*?)\]\]>|<\?[\s\S]*?\?>|<(\/?)([A-Za-z][\w.-]*)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|([^<]+)/gy;
const ATTRIBUTE = /([\w:.-]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/g;

/**
 * Reads `<Response><Message>…</Message></Response>`; null for a text that is no TwiML. Other verbs are left out. XML declarations
 * of types and entities are refused with the rest that is not TwiML (entity expansion).
 */
export function readTwiml(written: string): readonly TwimlMessage[] | null {
  const messages: TwimlMessage[] = [];
  const open: string[] = [];
  let current: TwimlMessage | null = null;
  const text = written.trim();
  TOKEN.lastIndex = 0;
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    const token = TOKEN.exec(text);
    if (!token) return null;
    const [, cdata, closing, name, attributes = "", isEmpty, plain] = token;
    const characters = cdata ?? (plain === undefined ? undefined : decodeEntities(plain));
    if (characters !== undefined) {
      const [, , inner] = open;
      if (current && (open.length === 2 || inner === "Body")) current.text += characters;
      else if (open.length === 0 && characters.trim() !== "") return null;
      continue;
    }
    if (name === undefined) continue;
    if (closing) {
      if (open.pop() !== name) return null;
      if (open.length === 1 && current) {
        messages.push({ ...current, text: current.text.trim() });
        current = null;
      }
      continue;
    }
    if (open.length === 0 && name !== "Response") return null;
    if (open.length === 1 && name === "Message" && !isEmpty) current = { text: "", ...endsIn(attributes) };
    if (!isEmpty) open.push(name);
  }
  return open.length === 0 ? messages.filter(({ text: body }) => body !== "") : null;
}

function endsIn(attributes: string): Pick<TwimlMessage, "to" | "from"> {
  const found = new Map(
    [...attributes.matchAll(ATTRIBUTE)].map(([, name = "", double, single]) => [
      name,
      decodeEntities(double ?? single ?? ""),
    ]),
  );
  return { to: found.get("to") ?? null, from: found.get("from") ?? null };
}

const NAMED: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
const ENTITY = /&(?:#([0-9]{1,7})|#x([0-9a-fA-F]{1,6})|([a-z]{2,4}));/g;

const decodeEntities = (written: string): string =>
  written.replaceAll(ENTITY, (whole: string, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return NAMED[name] ?? whole;
    const point = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
    return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : "";
  });
