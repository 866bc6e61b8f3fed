import { createHmac } from "node:crypto";

/**
 * `X-Twilio-Signature`: HMAC-SHA1 over the address and the form's fields, sorted by name, without separators. The address of a
 * GET has its query already.
 */
export function signatureOf(authToken: string, url: string, fields: Readonly<Record<string, string>>): string {
  const signed = Object.keys(fields)
    .toSorted()
    .reduce((text, name) => text + name + (fields[name] ?? ""), url);
  return createHmac("sha1", authToken).update(signed).digest("base64");
}
