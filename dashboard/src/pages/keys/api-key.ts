import { t } from "../../i18n/t.ts";
import type { Field, Values } from "../../parts/record/field.ts";
import { AgentInput } from "./agent-input.tsx";
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
  agent: object | null;
  createdAt: number;
  expiresAt: number | null;
  revokedAt: number | null;
  lastUsedAt: number | null;
}

/** The state of a key, for a `StatusBadge`. */
export function stateOf({ revokedAt, expiresAt }: Pick<ApiKey, "revokedAt" | "expiresAt">): {
  status: string;
  word: string;
} {
  if (revokedAt !== null) return { status: "revoked", word: t("Revoked") };
  if (expiresAt !== null && expiresAt <= Date.now()) return { status: "expired", word: t("Expired") };
  return { status: "enabled", word: t("Active") };
}

export const STARTS: Values = {
  name: "",
  mode: "live",
  scopes: ["sms", "rcs", "chatapp", "verify", "read"],
  allowedIps: [],
  requestsPerSecond: null,
  expiresAt: null,
  agent: null,
};

/** Scopes that a test key may have. Test keys cannot change the configuration, which is live. */
const TEST_SCOPES = [
  { value: "sms", label: t("send SMS") },
  { value: "rcs", label: t("send RCS") },
  { value: "chatapp", label: t("send to the chat app") },
  { value: "verify", label: t("send and check codes") },
  { value: "verify:custom", label: t("send codes of your own") },
  { value: "read", label: t("read messages") },
] as const;

/** Limits that API keys and credentials share. */
export const LIMIT_FIELDS: readonly Field[] = [
  {
    name: "allowedIps",
    label: t("Only from"),
    hint: t("IP addresses or networks, such as 203.0.113.0/24. Leave empty for any."),
    input: { kind: "list", placeholder: t("Anywhere") },
    more: true,
  },
  {
    name: "requestsPerSecond",
    label: t("Requests per second"),
    input: { kind: "number", min: 1, placeholder: t("No limit") },
    more: true,
  },
  {
    name: "expiresAt",
    label: t("Expires"),
    hint: t("Never expires if empty."),
    input: { kind: "own", component: MomentInput },
    more: true,
  },
];

export const FIELDS: readonly Field[] = [
  {
    name: "name",
    label: t("Name"),
    hint: t("A name to recognize the key by."),
    input: { kind: "text", placeholder: "shop" },
    required: true,
  },
  {
    name: "mode",
    label: t("Mode"),
    hint: t("A test key only sends through the simulator, and cannot read or change live data."),
    input: {
      kind: "choice",
      options: [
        { value: "live", label: t("Live") },
        { value: "test", label: t("Test") },
      ],
    },
    fixed: true,
  },
  {
    name: "scopes",
    label: t("Permissions"),
    input: { kind: "several", options: [...TEST_SCOPES, { value: "manage", label: t("change the set-up") }] },
    required: true,
    when: ({ mode }) => mode !== "test",
  },
  {
    name: "scopes",
    label: t("Permissions"),
    input: { kind: "several", options: TEST_SCOPES },
    required: true,
    when: ({ mode }) => mode === "test",
  },
  {
    name: "agent",
    label: t("For an AI assistant"),
    hint: t("The key works only at /mcp, within the limits below."),
    input: { kind: "own", component: AgentInput },
    secretFree: true,
  },
  ...LIMIT_FIELDS,
];
