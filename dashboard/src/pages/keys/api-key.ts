import type { Field, Values } from "../../parts/record/field.ts";
import { MomentInput } from "../../parts/record/moment-input.tsx";

export const KEYS = "/api/keys";

export interface ApiKey {
  id: string;
  name: string;
  mode: string;
  hint: string;
  scopes: readonly string[];
  allowedIps: readonly string[];
  requestsPerSecond: number | null;
  createdAt: number;
  expiresAt: number | null;
  revokedAt: number | null;
  lastUsedAt: number | null;
}

/** Whether a key opens anything, in a word. */
export function stateOf({ revokedAt, expiresAt }: ApiKey): { status: string; word: string } {
  if (revokedAt !== null) return { status: "revoked", word: "Revoked" };
  if (expiresAt !== null && expiresAt <= Date.now()) return { status: "expired", word: "Expired" };
  return { status: "enabled", word: expiresAt === null ? "Good" : "Good for now" };
}

export const STARTS: Values = {
  name: "",
  mode: "live",
  scopes: ["sms", "rcs", "chatapp", "verify", "read"],
  allowedIps: [],
  requestsPerSecond: null,
  expiresAt: null,
};

export const FIELDS: readonly Field[] = [
  {
    name: "name",
    label: "Name",
    hint: "To tell keys apart.",
    input: { kind: "text", placeholder: "shop" },
    required: true,
  },
  {
    name: "mode",
    label: "Mode",
    hint: "Messages of a test key never leave the simulator.",
    input: {
      kind: "choice",
      options: [
        { value: "live", label: "Live" },
        { value: "test", label: "Test" },
      ],
    },
    fixed: true,
  },
  {
    name: "scopes",
    label: "It may",
    input: {
      kind: "several",
      options: [
        { value: "sms", label: "send SMS" },
        { value: "rcs", label: "send RCS" },
        { value: "chatapp", label: "send to the chat app" },
        { value: "verify", label: "send and check codes" },
        { value: "read", label: "read messages" },
        { value: "manage", label: "change the set-up" },
      ],
    },
    required: true,
  },
  {
    name: "allowedIps",
    label: "Only from",
    hint: "Addresses or networks, like 203.0.113.0/24; none means anywhere.",
    input: { kind: "list", placeholder: "Anywhere" },
    more: true,
  },
  {
    name: "requestsPerSecond",
    label: "Requests in a second at most",
    input: { kind: "number", min: 1, placeholder: "No limit" },
    more: true,
  },
  {
    name: "expiresAt",
    label: "Good until",
    hint: "For ever unless given.",
    input: { kind: "own", component: MomentInput },
    more: true,
  },
];
