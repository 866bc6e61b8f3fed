import type { Dlt } from "../model/message.ts";
import { DLT_CONTENT_TAG, DLT_ENTITY_TAG, isPassedTag, messageTlvs, type MessageTlv } from "../model/message-tlv.ts";
import type { Tlv } from "../smpp/tlv.ts";

/** Optional parameters of SMPP that a request has: the registration of the text in India, and the others. */
export interface ClientTlvs {
  dlt: Dlt | null;
  tlvs: readonly MessageTlv[];
}

const DLT_ID = /^[\x21-\x7e]{1,64}$/;

/** True for a tag that a request may have. */
export const isClientTag = (tag: number): boolean =>
  tag === DLT_ENTITY_TAG || tag === DLT_CONTENT_TAG || isPassedTag(tag);

/** Reads the TLVs of a request; a text if they are too many, too long, or no registration. */
export function readClientTlvs(given: readonly Tlv[]): ClientTlvs | { fault: string } {
  const ids = [DLT_ENTITY_TAG, DLT_CONTENT_TAG].map((tag) => {
    const value = given.findLast((each) => each.tag === tag)?.value;
    // Some clients always add the TLV, empty or padded.
    const text = value?.toString("latin1").replace(/[\0 ]+$/, "") ?? "";
    return text === "" ? null : text;
  });
  if (ids.some((id) => id !== null && !DLT_ID.test(id)))
    return { fault: "An id in the Indian DLT registers has 1 to 64 characters without spaces." };
  const passed = messageTlvs(given);
  if ("fault" in passed) return passed;
  const [entityId = null, contentId = null] = ids;
  return { dlt: entityId === null && contentId === null ? null : { entityId, contentId }, tlvs: passed.tlvs };
}
