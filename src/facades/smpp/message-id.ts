import type { SmppAccess } from "../../model/smpp-access.ts";

const MAX = 1n << 128n;

/** Writes the 128 bits of an id in the form of the client. */
export function writeMessageId(id: string, form: SmppAccess["messageIdForm"]): string {
  if (form === "uuid") return id;
  const digits = id.replaceAll("-", "");
  return form === "hex" ? digits : BigInt(`0x${digits}`).toString();
}

/** Reads an id of a client in any of the forms, because its form may have changed since; null for anything else. */
export function readMessageId(written: string): string | null {
  const text = written.trim().toLowerCase();
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)) return text;
  if (/^[0-9a-f]{32}$/.test(text)) return uuidOf(text);
  if (!/^[0-9]{33,39}$/.test(text)) return null;
  const value = BigInt(text);
  return value < MAX ? uuidOf(value.toString(16).padStart(32, "0")) : null;
}

const uuidOf = (digits: string): string => digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
