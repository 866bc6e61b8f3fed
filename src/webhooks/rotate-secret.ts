import type { EndpointRecord } from "../catalog/catalog.ts";

/** Each signs every request, and receivers read only so much of a header. */
const SECRETS_MAX = 5;

/** An endpoint with a new secret; the one before it signs too for a while, so that its receiver can change over. */
export function rotateSecret(
  endpoint: EndpointRecord,
  sealed: string,
  { now, overlapMs }: { now: number; overlapMs: number },
): EndpointRecord {
  const old = endpoint.content.secrets
    .map(({ sealed: before, until }) => ({ sealed: before, until: until ?? now + overlapMs }))
    .filter(({ until }) => until > now);
  const secrets = [{ sealed, until: null }, ...old].slice(0, SECRETS_MAX);
  return { ...endpoint, content: { ...endpoint.content, secrets }, updatedAt: now } as EndpointRecord;
}
