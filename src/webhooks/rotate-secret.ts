import type { EndpointRecord } from "../records/catalog.ts";

/** Each secret adds a signature to the header, whose length receivers limit. */
const SECRETS_MAX = 5;

/** Adds a new secret. The previous one keeps signing for a while, so that the receiver can switch. */
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
