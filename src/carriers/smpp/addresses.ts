import { septetsOf } from "../../lib/gsm7.ts";
import type { Address } from "../../smpp/pdu.ts";

/** Type of number and numbering plan. */
interface AddressType {
  ton: number;
  npi: number;
}

export interface AddressSettings {
  /** Of a sender with letters. */
  alphanumeric: AddressType;
  /** Of a sender that is a short number. */
  shortCode: AddressType;
  /** Of a sender that is an international number. */
  international: AddressType;
  recipient: AddressType;
  /** A sender of at most so many digits is a short number. */
  shortCodeDigits: number;
  /** Whether international numbers are written with a plus, which few carriers want. */
  plus: boolean;
}

/** What most carriers take. */
export const USUAL_ADDRESSES: AddressSettings = {
  alphanumeric: { ton: 5, npi: 0 },
  shortCode: { ton: 3, npi: 0 },
  international: { ton: 1, npi: 1 },
  recipient: { ton: 1, npi: 1 },
  shortCodeDigits: 6,
  plus: false,
};

const ALPHANUMERIC_SEPTETS_MAX = 11;
const NUMBER_DIGITS_MAX = 15;

/** A sender as the carrier takes it; null when no network can show it, and then the message is at fault. */
export function senderAddress(sender: string, settings: AddressSettings): Address | null {
  const [, plus, digits] = /^(\+?)([0-9]+)$/.exec(sender) ?? [];
  if (digits === undefined) return isAlphanumeric(sender) ? { ...settings.alphanumeric, address: sender } : null;
  if (digits.length > NUMBER_DIGITS_MAX) return null;
  const isShort = plus === "" && digits.length <= settings.shortCodeDigits;
  return isShort ? { ...settings.shortCode, address: digits } : number(digits, settings.international, settings);
}

/** A recipient as the carrier takes it, from the digits of the international number. */
export const recipientAddress = (recipient: string, settings: AddressSettings): Address =>
  number(recipient.replace(/^\+/, ""), settings.recipient, settings);

const number = (digits: string, type: AddressType, { plus }: AddressSettings): Address => ({
  ...type,
  address: plus ? `+${digits}` : digits,
});

/** The line writes addresses in Latin-1 and the air in GSM-7, so a sender has what both have. */
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
