import { septetsOf } from "../../lib/gsm7.ts";
import type { Address } from "../../smpp/pdu.ts";

/** Type of number and numbering plan. */
interface AddressType {
  ton: number;
  npi: number;
}

export interface AddressSettings {
  /** For alphanumeric senders. */
  alphanumeric: AddressType;
  /** For short codes. */
  shortCode: AddressType;
  /** For international numbers. */
  international: AddressType;
  recipient: AddressType;
  /** Maximum number of digits of a short code. */
  shortCodeDigits: number;
  /** True if international numbers start with a plus, which few carriers want. */
  plus: boolean;
}

/** Accepted by most carriers. */
export const DEFAULT_ADDRESSES: AddressSettings = {
  alphanumeric: { ton: 5, npi: 0 },
  shortCode: { ton: 3, npi: 0 },
  international: { ton: 1, npi: 1 },
  recipient: { ton: 1, npi: 1 },
  shortCodeDigits: 6,
  plus: false,
};

const ALPHANUMERIC_SEPTETS_MAX = 11;
const NUMBER_DIGITS_MAX = 15;

/** Null if no network can display the sender; the message is then at fault. */
export function senderAddress(sender: string, settings: AddressSettings): Address | null {
  const [, plus, digits] = /^(\+?)([0-9]+)$/.exec(sender) ?? [];
  if (digits === undefined) return isAlphanumeric(sender) ? { ...settings.alphanumeric, address: sender } : null;
  if (digits.length > NUMBER_DIGITS_MAX) return null;
  const isShort = plus === "" && digits.length <= settings.shortCodeDigits;
  return isShort ? { ...settings.shortCode, address: digits } : number(digits, settings.international, settings);
}

/** `recipient` has the digits of the international number. */
export const recipientAddress = (recipient: string, settings: AddressSettings): Address =>
  number(recipient.replace(/^\+/, ""), settings.recipient, settings);

const number = (digits: string, type: AddressType, { plus }: AddressSettings): Address => ({
  ...type,
  address: plus ? `+${digits}` : digits,
});

/** SMPP uses Latin-1 and the air interface GSM-7, so a sender may use only characters of both. */
function isAlphanumeric(sender: string): boolean {
  let septets = 0;
  for (let i = 0; i < sender.length; i++) {
    const unit = sender.charCodeAt(i);
    const cost = septetsOf(unit);
    if (cost === 0 || unit < 0x20 || unit > 0xff) return false;
    septets += cost;
  }
  return septets >= 1 && septets <= ALPHANUMERIC_SEPTETS_MAX;
}
