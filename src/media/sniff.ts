/** Bytes at the beginning and at the end that tell the type of a file. */
export const SNIFFED_BYTES = 65_536;

const OFFICE = "application/vnd.openxmlformats-officedocument.";
/** A folder in the directory of a zipped document, which is at its end. */
const ZIPPED: Readonly<Record<string, string>> = {
  "word/": `${OFFICE}wordprocessingml.document`,
  "xl/": `${OFFICE}spreadsheetml.sheet`,
  "ppt/": `${OFFICE}presentationml.presentation`,
};
/** Older office documents share one container. */
const COMPOUND = ["application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint"] as const;
/** Brands of ISO media that are MP4. Others are pictures (HEIC, AVIF) or QuickTime. */
const MP4_BRAND = /^(?:isom|iso[2-9]|mp4[12v]|avc1|dash|MSNV|M4V |mmp4|f4v )$/;

/**
 * The types that the content can have, the likeliest first; none if it is no type that a message can show. Names and headers are
 * written by the sender, and a page with scripts could call itself a picture (MIME sniffing).
 */
export function typesOf(head: Buffer, tail: Buffer): readonly string[] {
  const text = head.toString("latin1", 0, 16);
  if (text.startsWith("\u00FF\u00D8\u00FF")) return ["image/jpeg"];
  if (text.startsWith("\u0089PNG\r\n\u001A\n")) return ["image/png"];
  if (/^GIF8[79]a/.test(text)) return ["image/gif"];
  if (/^RIFF[^]{4}WEBP/.test(text)) return ["image/webp"];
  if (text.startsWith("%PDF-")) return ["application/pdf"];
  if (/^[^]{4}ftyp/.test(text)) return isoMedia(text.slice(8, 12));
  if (text.startsWith("\u001AE\u00DF\u00A3")) return head.includes("webm") ? ["video/webm"] : [];
  if (text.startsWith("OggS")) return ["audio/ogg"];
  if (text.startsWith("#!AMR")) return ["audio/amr"];
  if (text.startsWith("ID3")) return ["audio/mpeg"];
  if (text.startsWith("\u00D0\u00CF\u0011\u00E0\u00A1\u00B1\u001A\u00E1")) return COMPOUND;
  if (text.startsWith("PK\u0003\u0004")) return zipped(tail);
  return framedAudio(head) ?? (isText(head, tail) ? ["text/plain"] : []);
}

function isoMedia(brand: string): readonly string[] {
  if (brand === "M4A " || brand === "M4B ") return ["audio/mp4"];
  if (/^3g[2ep]/.test(brand)) return ["video/3gpp"];
  return MP4_BRAND.test(brand) ? ["video/mp4", "audio/mp4"] : [];
}

function zipped(tail: Buffer): readonly string[] {
  const found = Object.keys(ZIPPED).find((folder) => tail.includes(folder));
  return found === undefined || !tail.includes("[Content_Types].xml") ? [] : [ZIPPED[found] ?? ""];
}

/** AAC in ADTS frames and MP3 begin with the same eleven bits; the layer tells them apart. */
function framedAudio(head: Buffer): readonly string[] | null {
  if (head.length < 4 || head[0] !== 0xff || ((head[1] ?? 0) & 0xe0) !== 0xe0) return null;
  const second = head[1] ?? 0;
  if ((second & 0xf6) === 0xf0) return ["audio/aac"];
  return (second & 0x06) === 0x02 ? ["audio/mpeg"] : null;
}

/** UTF-8 without control characters. The end may begin in the middle of a character. */
function isText(head: Buffer, tail: Buffer): boolean {
  if (head.length === 0 || tail.includes(0)) return false;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return !/(?![\t\n\f\r])\p{Cc}/u.test(text);
  } catch {
    return false;
  }
}
