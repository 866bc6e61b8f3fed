import { formEncode } from "../parameters.ts";

/** The values of Kannel's escape codes, such as `%p`. Those in `raw` are inserted as they are. */
export interface EscapeValues {
  encoded: Readonly<Record<string, string>>;
  raw: Readonly<Record<string, string>>;
  /** The words of `%k`, `%s`, `%S` and `%r`. */
  words: readonly string[];
  /** TLVs and others of `%#group#name#`. */
  meta: string;
}

const WORD_MARK = /%(#[^#]*#[^#]*#|.)/gs;

/** Fills in the escape codes of a URL as Kannel does. Unknown codes stay as they are. */
export function fillEscapes(template: string, { encoded, raw, words, meta }: EscapeValues): string {
  let next = 1;
  return template.replaceAll(WORD_MARK, (whole, code: string) => {
    if (code.startsWith("#") && code.length > 1) return formEncode(metaValue(meta, code));
    if (Object.hasOwn(encoded, code)) return formEncode(encoded[code] ?? "");
    if (Object.hasOwn(raw, code)) return raw[code] ?? "";
    switch (code) {
      case "%":
        return "%";
      case "k":
        return formEncode(words[0] ?? "");
      case "s":
        return formEncode(words[next++] ?? "");
      case "S":
        // Encoded, unlike in Kannel: a phone could add parameters to the URL (parameter injection).
        return formEncode((words[next++] ?? "").replaceAll("*", "~"));
      case "r":
        return words.slice(next).map(formEncode).join("+");
      default:
        return whole;
    }
  });
}

/** `#smpp#name#` finds `value` in `?smpp?name=value&`. */
function metaValue(meta: string, code: string): string {
  const [, group = "", name = ""] = code.split("#");
  const at = `?${meta}`.indexOf(`?${group}?`);
  if (group === "" || at < 0) return "";
  const fields = `?${meta}`.slice(at + group.length + 2).split("?", 1)[0] ?? "";
  return new URLSearchParams(fields).get(name) ?? "";
}

/** Kannel's form of a time, in UTC: `2026-01-31+18:00:00`. */
export const kannelTime = (epochMs: number): string => new Date(epochMs).toISOString().slice(0, 19).replace("T", "+");
