import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import type { Dlt } from "../../model/message.ts";
import { isPassedTag, type MessageTlv } from "../../model/message-tlv.ts";
import { tlvOctets, type Tlv, type TlvForm } from "../../smpp/tlv.ts";

/** A TLV added to every submit. Vendor tags collide, so every carrier has its own list. */
export interface TlvRule {
  tag: number;
  type: TlvForm;
  source: "template.dltEntityId" | "template.dltContentId" | "chainHash" | { literal: string };
}

/** Values available to the rules. */
export interface TlvSources {
  dlt?: Dlt;
  /** Telemarketer ids of the DLT chain, without the entity's; the delivering one comes last. */
  chain: readonly string[];
}

/**
 * TLVs of one submit in the order of the rules. A rule without a value, or with one that its type cannot hold, adds none:
 * the carrier then reports the missing TLV.
 */
export function submitTlvs(rules: readonly TlvRule[], sources: TlvSources): Tlv[] {
  const tlvs: Tlv[] = [];
  for (const { tag, type, source } of rules) {
    const text = textOf(source, sources);
    const value = text === null ? null : tlvOctets(type, text);
    if (value !== null) tlvs.push({ tag, value });
  }
  return tlvs;
}

/**
 * TLVs that the client gave, but for those with a rule: the operator of the carrier decides about their values, also where a rule
 * adds none. Tags are checked again, because a row may have been written by another version.
 */
export const clientTlvs = (given: readonly MessageTlv[], rules: readonly TlvRule[]): Tlv[] =>
  given
    .filter(({ tag }) => isPassedTag(tag) && !rules.some((rule) => rule.tag === tag))
    .map(({ tag, value }) => ({ tag, value: Buffer.from(value, "hex") }));

function textOf(source: TlvRule["source"], { dlt, chain }: TlvSources): string | null {
  if (typeof source === "object") return source.literal;
  const entityId = dlt?.entityId ?? null;
  if (source === "template.dltEntityId") return entityId;
  if (source === "template.dltContentId") return dlt?.contentId ?? null;
  return entityId === null || chain.length === 0 ? null : chainHash(entityId, chain);
}

/** Hash by which Indian operators verify the chain of a message. */
export const chainHash = (entityId: string, chain: readonly string[]): string =>
  createHash("sha256")
    .update([entityId, ...chain].join(","))
    .digest("hex");

/** Network fields that a receipt may contain. */
export type IncomingField = "operator" | "circle";

export interface IncomingTlvRule {
  tag: number;
  type: TlvForm;
  field: IncomingField;
}

/** Fields of a receipt by the carrier's mapping; the first of a kind counts. */
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

/** Longer than any operator name; limits storage per message. */
const FIELD_MAX = 100;

/** Lenient: a number may have up to six octets, a string may lack its NUL. */
function decode(type: TlvForm, value: Buffer): string {
  if (type === "octets" || type === "cstring") return plainWords(value);
  return value.length >= 1 && value.length <= 6 ? String(value.readUIntBE(0, value.length)) : "";
}

/** UTF-8 if valid, otherwise Latin-1. Only printable text is kept, because it goes into callback headers. */
function plainWords(value: Buffer): string {
  const text = isUtf8(value) ? value.toString("utf8") : value.toString("latin1");
  return Array.from(text.replaceAll(/\p{C}+/gu, " ").trim())
    .slice(0, FIELD_MAX)
    .join("");
}
