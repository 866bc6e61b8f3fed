import { domainToASCII } from "node:url";

/** The sender of an e-mail: an address, with the name that mail programs show. */
export interface Mailbox {
  name: string | null;
  address: string;
}

const ADDRESS_MAX = 254;
const LOCAL_MAX = 64;
const NAME_MAX = 100;
/** A dot-atom of RFC 5322: every SMTP server takes it without extensions and quotes. */
const LOCAL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])$/;
const MAILBOX = /^(?<name>[^<>]*)<(?<address>[^<>]+)>$/;
const CONTROL = /\p{Cc}/u;

/** Reads an address and writes its domain in lower case and ASCII (IDNA); null for anything else. */
export function readAddress(written: string): string | null {
  const at = written.lastIndexOf("@");
  const local = written.slice(0, Math.max(0, at));
  const domain = domainToASCII(written.slice(at + 1)).toLowerCase();
  const address = `${local}@${domain}`;
  const isRight =
    local.length <= LOCAL_MAX && address.length <= ADDRESS_MAX && LOCAL.test(local) && DOMAIN.test(domain);
  return isRight ? address : null;
}

/** Reads `login@example.com` or `Example <login@example.com>`; null for anything else. */
export function readMailbox(written: string): Mailbox | null {
  // A line end in a header would start another one (header injection).
  if (CONTROL.test(written) || !written.isWellFormed()) return null;
  const { name, address: inner } = MAILBOX.exec(written.trim())?.groups ?? {};
  const address = readAddress((inner ?? written).trim());
  const shown = name?.trim().replaceAll('"', "") ?? "";
  if (address === null || shown.length > NAME_MAX) return null;
  return { name: shown === "" ? null : shown, address };
}

/** A masked address: recognisable for its owner, but of no use to others. */
export function maskAddress(address: string): string {
  const at = address.lastIndexOf("@");
  return `${at > 1 ? address.slice(0, 1) : ""}***${address.slice(at)}`;
}

/** Addresses that end in the same mailbox nearly everywhere have the same key: neither case nor a +tag counts. */
export function mailboxKey(address: string): string {
  const at = address.lastIndexOf("@");
  const local = address.slice(0, at).toLowerCase();
  const tag = local.indexOf("+");
  return `${tag > 0 ? local.slice(0, tag) : local}${address.slice(at).toLowerCase()}`;
}
