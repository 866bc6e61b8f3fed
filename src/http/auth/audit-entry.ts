import type { Caller } from "../../accounts/caller.ts";
import { unmapped } from "../../lib/network.ts";
import type { Schema } from "../../lib/schema.ts";
import type { AuditEntry } from "../../model/audit.ts";
import { maskText } from "../hide-numbers.ts";
import { changesOf } from "./field-changes.ts";
import { isPersonal, type Call, type PersonalRoute, type ProtectedRoute, type Route } from "../route.ts";

const NAME_MAX = 200;
const FIELDS_MAX = 50;

interface HandledRequest extends Pick<Call, "body" | "params"> {
  result: unknown;
  /** The view of the resource before the change. */
  before?: object | undefined;
  address: string;
}

/**
 * Audit log entry of a handled request; null if it changed nothing. Names and ids come from the response. Of the request only
 * field names are logged, and of numbers, switches and fixed choices the values before and after. No text, number or secret is.
 */
export function auditEntryOf(
  route: ProtectedRoute | PersonalRoute,
  caller: Caller,
  { body, params, result, before, address }: HandledRequest,
): Omit<AuditEntry, "id"> | null {
  if (route.method === "GET" || route.audit === false) return null;
  // A message that a program sends is its own record. Messages of people are logged here too.
  if (!route.path.startsWith("/api/") && !caller.session) return null;
  const response = objectIn("fastPath" in route ? JSON.parse(String(result)) : result);
  // A dry run.
  if (response.applied === false) return null;
  return {
    accountId: caller.account.id,
    actor: caller.actor,
    action: route.audit ?? actionOf(route),
    kind: isPersonal(route) ? "session" : (route.path.split("/")[2] ?? ""),
    recordId: short(Object.values(params).join(" ") || response.id),
    recordName: short(response.email ?? response.name),
    fields: fieldsOf(route.body, body),
    ...(before && { changes: changesOf(route.body, { body, before, after: response }) }),
    address: unmapped(address),
  };
}

/** The name of an operation, as the OpenAPI document spells its path. */
export const actionOf = ({ method, path }: Pick<Route, "method" | "path">): string =>
  `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`;

const objectIn = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};

const short = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? maskText(value).slice(0, NAME_MAX) : null;

/** Names of the fields that the schema has; unknown names could contain anything. */
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
