/** An optional parameter that a client gave for carriers that speak SMPP, as it is stored with the message. */
export interface MessageTlv {
  tag: number;
  /** The octets in hexadecimal. */
  value: string;
}

/** Registration ids of India (DLT). They are stored as such, because each carrier has tags of its own for them. */
export const DLT_ENTITY_TAG = 0x1400;
export const DLT_CONTENT_TAG = 0x1401;

/** Tags that SMPP leaves to vendors. */
const VENDOR_FIRST = 0x1400;
const VENDOR_LAST = 0x3fff;

/** Tags of SMPP that describe a message without changing its text, its parts, its route or its reports. */
const DESCRIPTIVE: ReadonlySet<number> = new Set([
  0x0201, // privacy_indicator
  0x0202, // source_subaddress
  0x0203, // dest_subaddress
  0x0204, // user_message_reference
  0x0205, // user_response_code
  0x020d, // language_indicator
  0x0302, // callback_num_pres_ind
  0x0303, // callback_num_atag
  0x0381, // callback_num
  0x1201, // display_time
  0x1203, // sms_signal
  0x1204, // ms_validity
  0x130c, // alert_on_message_delivery
]);

/** True for a tag that is passed on to carriers as the client gave it. */
export const isPassedTag = (tag: number): boolean =>
  DESCRIPTIVE.has(tag) ||
  (Number.isInteger(tag) &&
    tag >= VENDOR_FIRST &&
    tag <= VENDOR_LAST &&
    tag !== DLT_ENTITY_TAG &&
    tag !== DLT_CONTENT_TAG);

/** They are stored with every message of a request. */
const TLVS_MAX = 16;
const OCTETS_MAX = 512;

/**
 * TLVs as they are stored; a text for TLVs that are too many or too long. Tags that are not passed on are left out, and the last
 * of equal tags counts.
 */
export function messageTlvs(
  given: readonly { tag: number; value: Buffer }[],
): { tlvs: readonly MessageTlv[] } | { fault: string } {
  const values = new Map(given.filter(({ tag }) => isPassedTag(tag)).map(({ tag, value }) => [tag, value]));
  const octets = [...values.values()].reduce((sum, value) => sum + value.length, 0);
  if (values.size > TLVS_MAX || octets > OCTETS_MAX)
    return { fault: `A message has at most ${TLVS_MAX} TLVs with ${OCTETS_MAX} octets in all.` };
  return { tlvs: [...values].map(([tag, value]) => ({ tag, value: value.toString("hex") })) };
}
