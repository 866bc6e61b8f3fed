import type { Caller } from "../accounts/caller.ts";
import { unmapped } from "../lib/network.ts";
import type { Schema } from "../lib/schema.ts";
import type { AuditEntry } from "../model/audit.ts";
import { maskText } from "./hide-numbers.ts";
import { isPersonal, type Call, type PersonalRoute, type ProtectedRoute } from "./route.ts";

const NAME_MAX = 200;
const FIELDS_MAX = 50;

interface Done extends Pick<Call, "body" | "params"> {
  answer: unknown;
  address: string;
}

/**
 * What the log of changes says of a request that has been answered; null where nothing was changed. Names and ids come from
 * the answer, and of what was sent only which fields it had: no value, so no text, number or secret.
 */
export function auditEntryOf(
  route: ProtectedRoute | PersonalRoute,
  caller: Caller,
  { body, params, answer, address }: Done,
): Omit<AuditEntry, "id"> | null {
  if (route.method === "GET" || route.audit === false) return null;
  // What programs send has its own record: the message. What people send is told here as well.
  if (!route.path.startsWith("/api/") && !caller.session) return null;
  const told = objectIn("express" in route ? JSON.parse(String(answer)) : answer);
  // A rehearsal.
  if (told.applied === false) return null;
  return {
    accountId: caller.account.id,
    actor: caller.actor,
    action: route.audit ?? `${route.method} ${route.path.replaceAll(/:(\w+)/g, "{$1}")}`,
    kind: isPersonal(route) ? "session" : (route.path.split("/")[2] ?? ""),
    recordId: short(Object.values(params).join(" ") || told.id),
    recordName: short(told.email ?? told.name),
    fields: fieldsOf(route.body, body),
    address: unmapped(address),
  };
}

const objectIn = (answer: unknown): Record<string, unknown> =>
  typeof answer === "object" && answer !== null ? (answer as Record<string, unknown>) : {};

const short = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? maskText(value).slice(0, NAME_MAX) : null;

/** The fields of a body that its schema knows: what else somebody sent may be anything. */
function fieldsOf(schema: Schema | undefined, body: unknown): string[] {
  if (!schema || typeof body !== "object" || body === null) return [];
  const known = namesIn(schema);
  return Object.keys(body)
    .filter((name) => known.has(name))
    .slice(0, FIELDS_MAX);
}

function namesIn({ properties = {}, anyOf = [], allOf = [] }: Schema): Set<string> {
  return new Set([...Object.keys(properties), ...[...anyOf, ...allOf].flatMap((branch) => [...namesIn(branch)])]);
}
