import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import type { Dlt } from "../../model/message.ts";
import type { Tlv } from "../../smpp/tlv.ts";

type TlvType = "octets" | "cstring" | "uint8" | "uint16" | "uint32";

/** A parameter that goes with every submit to a carrier; tags of vendors' own collide, so every carrier has its map. */
export interface TlvRule {
  tag: number;
  type: TlvType;
  source: "template.dltEntityId" | "template.dltContentId" | "chainHash" | { literal: string };
}

/** What the rules may draw on. */
export interface TlvSources {
  dlt?: Dlt;
  /** Ids of the telemarketers that the message goes through, the one that delivers it last; without the entity's. */
  chain: readonly string[];
}

const SIZES: Readonly<Partial<Record<TlvType, number>>> = { uint8: 1, uint16: 2, uint32: 4 };

/**
 * The parameters of one submit, in the order of the rules. A rule for which the message has nothing, or a value that its
 * type cannot hold, gives none: the carrier says that it misses it, and which.
 */
export function submitTlvs(rules: readonly TlvRule[], sources: TlvSources): Tlv[] {
  const tlvs: Tlv[] = [];
  for (const { tag, type, source } of rules) {
    const text = textOf(source, sources);
    const value = text === null ? null : encode(type, text);
    if (value !== null) tlvs.push({ tag, value });
  }
  return tlvs;
}

function textOf(source: TlvRule["source"], { dlt, chain }: TlvSources): string | null {
  if (typeof source === "object") return source.literal;
  const entityId = dlt?.entityId ?? null;
  if (source === "template.dltEntityId") return entityId;
  if (source === "template.dltContentId") return dlt?.contentId ?? null;
  return entityId === null || chain.length === 0 ? null : chainHash(entityId, chain);
}

/** By what India's operators recognise the chain that a message has come through. */
export const chainHash = (entityId: string, chain: readonly string[]): string =>
  createHash("sha256")
    .update([entityId, ...chain].join(","))
    .digest("hex");

function encode(type: TlvType, text: string): Buffer | null {
  const size = SIZES[type];
  if (size === undefined) return Buffer.from(type === "cstring" ? `${text}\0` : text, "latin1");
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isInteger(value) || value < 0 || value >= 2 ** (8 * size)) return null;
  const octets = Buffer.alloc(size);
  octets.writeUIntBE(value, 0, size);
  return octets;
}

/** What a carrier may tell about the phone in a receipt. */
export type IncomingField = "operator" | "circle";

export interface IncomingTlvRule {
  tag: number;
  type: TlvType;
  field: IncomingField;
}

/** The fields that a carrier's map finds in what came; the first of a kind counts. */
export function readTlvs(
  rules: readonly IncomingTlvRule[],
  tlvs: readonly Tlv[],
): Partial<Record<IncomingField, string>> {
  const fields: Partial<Record<IncomingField, string>> = {};
  for (const { tag, type, field } of rules) {
    const value = tlvs.find((each) => each.tag === tag)?.value;
    const text = value === undefined ? "" : decode(type, value);
    if (text !== "") fields[field] ??= text;
  }
  return fields;
}

/** No operator's name is longer; the rest would only lie with every message. */
const FIELD_MAX = 100;

/** Lengths are taken as they come: a number may have any up to six octets, and a string may lack its NUL. */
function decode(type: TlvType, value: Buffer): string {
  if (SIZES[type] === undefined) return plainWords(value);
  return value.length >= 1 && value.length <= 6 ? String(value.readUIntBE(0, value.length)) : "";
}

/** As UTF-8 where that is what it is, else as Latin-1; it goes into headers of callbacks, so nothing but plain text stays. */
function plainWords(value: Buffer): string {
  const text = isUtf8(value) ? value.toString("utf8") : value.toString("latin1");
  return Array.from(text.replaceAll(/\p{C}+/gu, " ").trim())
    .slice(0, FIELD_MAX)
    .join("");
}
