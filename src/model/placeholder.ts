import type { HeaderPair } from "./callback.ts";
import type { Fault } from "./problem.ts";

/** Values of a delivery report. Each name in double braces is its placeholder. */
export const PLACEHOLDERS = [
  "messageId", "mobileNumber", "messageCredit", "gatewayName", "senderName", "errCode", "deliveredDate", "status",
  "operatorCircle", "createdAt", "statusDescription",
] as const; // prettier-ignore
export type Placeholder = (typeof PLACEHOLDERS)[number];

const PLACEHOLDER = /^\{\{([A-Za-z]+)\}\}$/;

/** The name in a placeholder; null when the value is not exactly one placeholder. */
export function readPlaceholder(value: string): Placeholder | null {
  const name = PLACEHOLDER.exec(value)?.[1];
  return PLACEHOLDERS.find((known) => known === name) ?? null;
}

/** More than there are placeholders. Servers refuse requests with too many headers. */
export const PAIRS_MAX = 20;
const KEY_MAX = 256;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Headers that control the connection, describe the body, sign the request, or are trusted by proxies and clouds. */
const RESERVED = new Set([
  "host", "connection", "keep-alive", "te", "trailer", "trailers", "transfer-encoding", "upgrade", "http2-settings",
  "expect", "user-agent", "cookie", "cookie2", "set-cookie", "forwarded", "metadata", "metadata-flavor",
]); // prettier-ignore
const RESERVED_PREFIXES = [
  "proxy-", "content-", "x-forwarded-", "webhook-", "x-amz-", "x-amzn-", "x-aws-", "x-goog-", "x-google-", "x-gfe-",
  "x-appengine-", "x-cloud-", "x-ms-", "x-azure-", "x-fd-", "cf-",
]; // prettier-ignore

/** All faults of the header pairs of a delivery-report configuration. */
export function checkHeaderPairs(pairs: readonly HeaderPair[], faults: Fault[], path: string): void {
  if (pairs.length > PAIRS_MAX)
    faults.push({ parameter: path, message: `${path} has at most ${PAIRS_MAX} pairs, and these are ${pairs.length}.` });
  const seen = new Set<string>();
  for (const [index, pair] of pairs.entries()) {
    const place = `${path}[${index}]`;
    checkHeaderPair(pair, faults, place);
    const name = pair.key.toLowerCase();
    if (seen.has(name))
      faults.push({
        parameter: `${place}.key`,
        message: "Another pair has this key already; capitals make no difference: give each pair a key of its own.",
      });
    seen.add(name);
  }
}

/** All faults of one header pair. */
export function checkHeaderPair({ key, value }: HeaderPair, faults: Fault[], path: string): void {
  const keyFault = headerNameFault(key);
  if (keyFault !== null) faults.push({ parameter: `${path}.key`, message: keyFault });
  if (readPlaceholder(value) !== null) return;
  const known = PLACEHOLDERS.map((name) => `{{${name}}}`).join(", ");
  faults.push({ parameter: `${path}.value`, message: `value is exactly one of ${known}.` });
}

/** The fault of the name of a header that a customer chose; null if it may be sent. */
export function headerNameFault(key: string): string | null {
  if (!TOKEN.test(key) || key.length > KEY_MAX)
    return `key is the name of an HTTP header: 1 to ${KEY_MAX} letters, digits and dashes, like X-Message-Id.`;
  const name = key.toLowerCase();
  if (!RESERVED.has(name) && !RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix))) return null;
  return "This header is not yours to set, because connections, signatures or proxies rely on it: use another name, like X-Message-Id.";
}
