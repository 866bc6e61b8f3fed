import { isDeepStrictEqual } from "node:util";
import { refuseWiderKey } from "../../accounts/key-limits.ts";
import { applyConfigFile } from "../../records/apply-config.ts";
import { PART_MAX } from "../../records/plan-config.ts";
import type { SystemIdChange } from "../../records/plan-system-ids.ts";
import { SYSTEM_IDS, systemIdShape, toFileSystemId } from "../../records/types/system-id.ts";
import { toFileRecord } from "../../records/record-type.ts";
import { readCurrentConfig, configFileOf } from "../../records/config-file.ts";
import { pickSettings, settingsShape } from "../../records/settings.ts";
import { Type, type Schema } from "../../lib/schema.ts";
import { DEFAULT_SETTINGS } from "../../model/account.ts";
import { Problem } from "../../model/problem.ts";
import { createSecretFactory } from "../../webhooks/secrets.ts";
import { refuseCreditSetting } from "../credit-setting.ts";
import type { AuthenticCall, KeyedRoute } from "../route.ts";
import { alertRuleDocs } from "./alert-rules.ts";
import { botDocs } from "./bots.ts";
import { cannedReplyDocs } from "./canned-replies.ts";
import { carrierDocs } from "./carriers.ts";
import { dlrConfigDocs } from "./dlr-configs.ts";
import { refuseBeyond } from "./key-choices.ts";
import { numberDocs } from "./numbers.ts";
import { priceDocs } from "./prices.ts";
import { newRecordSchema, type RecordDocs } from "./record-shapes.ts";
import { routeDocs } from "./routes.ts";
import { segmentDocs } from "./segments.ts";
import { senderDocs } from "./senders.ts";
import { templateDocs } from "./templates.ts";
import { verifyConfigDocs } from "./verify-configs.ts";
import { verifyRuleDocs } from "./verify-rules.ts";
import { webhookDocs } from "./webhooks.ts";

const TELLINGS: readonly RecordDocs[] = [
  templateDocs,
  botDocs,
  numberDocs,
  senderDocs,
  carrierDocs,
  routeDocs,
  priceDocs,
  verifyConfigDocs,
  verifyRuleDocs,
  webhookDocs,
  dlrConfigDocs,
  alertRuleDocs,
  segmentDocs,
  cannedReplyDocs,
];

const mapParts = <T>(map: (docs: RecordDocs) => T): Record<string, T> =>
  Object.fromEntries(TELLINGS.map((docs) => [docs.type.plural, map(docs)]));

const SetUp = Type.Object(
  {
    settings: Type.Optional({
      ...settingsShape,
      description: "Account settings as in `PATCH /api/account`. Omitted settings stay unchanged.",
    }),
    ...mapParts((docs) =>
      Type.Optional(
        Type.Array(newRecordSchema(docs), {
          maxItems: PART_MAX,
          description: `All authored ${docs.type.plural}. Those missing from the list are deleted. Omit the list to leave all unchanged.`,
        }),
      ),
    ),
    [SYSTEM_IDS]: Type.Optional(
      Type.Array(systemIdShape, {
        maxItems: PART_MAX,
        description:
          "All system ids of the SMPP server. Those missing from the list are revoked, and their binds end. Omit the list to leave all unchanged.",
      }),
    ),
  },
  { title: "SetUp" },
);

const FieldChanges = (description: string): Schema =>
  Type.Array(
    Type.Object({
      field: Type.String({ description: "Setting name." }),
      from: Type.Unknown({ description: "Current value." }),
      to: Type.Unknown({ description: "New value." }),
    }),
    { description },
  );

const record = {
  part: Type.String({ description: "List that the record belongs to, such as templates." }),
  channel: Type.Optional(Type.String({ description: "Channel of a template." })),
  name: Type.String({ description: "Record name." }),
};

const SetUpPlan = Type.Object(
  {
    applied: Type.Boolean({ description: "True if the changes were applied; false for a dry run." }),
    settings: FieldChanges("Changed settings."),
    made: Type.Array(Type.Object(record), {
      description: "Records that are created, or that were only learned so far.",
    }),
    changed: Type.Array(Type.Object({ ...record, fields: FieldChanges("Changed fields.") }), {
      description: "Records that are updated.",
    }),
    removed: Type.Array(Type.Object(record), { description: "Records that are deleted." }),
    same: Type.Array(Type.Object(record), { description: "Number of unchanged records." }),
  },
  { title: "SetUpPlan" },
);

const example = {
  settings: pickSettings(DEFAULT_SETTINGS),
  ...mapParts(({ definitions }) =>
    definitions.map(({ definition, example: { name, content } }) => toFileRecord(definition, { name, content })),
  ),
  [SYSTEM_IDS]: [
    toFileSystemId({
      username: "reseller1",
      name: "Reseller",
      mode: "live",
      scopes: ["sms", "read"],
      allowedIps: ["203.0.113.0/24"],
      expiresAt: null,
      settings: { maxBinds: 2 },
    }),
  ],
};

const common = {
  path: "/api/config",
  family: "plain",
  scope: "manage",
  testKeys: null,
  group: "Configuration",
} as const;

export const getConfig: KeyedRoute = {
  ...common,
  method: "GET",
  summary: "Export the configuration",
  description:
    "Returns the account's settings, all its authored records except campaigns, and its SMPP system ids, without IDs, timestamps and secrets, in a stable order. The result can be kept in a repository and applied with `PUT /api/config`.",
  response: SetUp,
  responseExample: example,
  handle: async ({ store }, { caller }) => {
    const current = await readCurrentConfig(store, ({ id }) => id === caller.account.id);
    return configFileOf(current ?? gone());
  },
};

export const putConfig: KeyedRoute = {
  ...common,
  method: "PUT",
  role: "owner",
  summary: "Apply a configuration",
  description:
    "Applies the file to the account in one transaction and returns the changes. Parts missing from the file stay unchanged; `[]` deletes all authored records of a part; learned records are never deleted. " +
    "Each record is validated as at its own endpoint. Webhooks and dlr-configs keep their secrets; new ones get a generated secret, which `rotate-secret` replaces by one you can see. System ids keep their password; a new one needs one in the file. A key cannot give them scopes, an expiry or addresses that it does not have itself, nor a new password to one that has more. Takes effect at once on this node and within five seconds on all others.",
  query: {
    dryRun: {
      meaning: "`true` returns the changes without applying them. Defaults to `false`.",
      schema: Type.Boolean({ default: false }),
      example: true,
    },
  },
  problems: ["RECORD_IN_USE", "OVERLOADED"],
  body: SetUp,
  checkBody: false,
  requestExamples: {
    "a sender and a template": {
      senders: [{ name: "HELIOG" }],
      templates: [{ channel: "sms", name: "welcome", text: "Welcome, {#var#}!" }],
    },
    "a system id": {
      [SYSTEM_IDS]: [{ systemId: "reseller1", password: "Xk29vQ7m", maxBinds: 2, allowedIps: ["203.0.113.0/24"] }],
    },
    "a setting": { settings: { defaultRegion: "IN" } },
  },
  response: SetUpPlan,
  responseExample: {
    applied: false,
    settings: [],
    made: [{ part: "templates", channel: "sms", name: "goodbye" }],
    changed: [
      {
        part: "templates",
        channel: "sms",
        name: "welcome",
        fields: [{ field: "text", from: "Hello {#var#}!", to: "Welcome, {#var#}!" }],
      },
    ],
    removed: [{ part: "senders", name: "OLDSHOP" }],
    same: [{ part: "senders", name: "HELIOG" }],
  },
  handle: async ({ store, clock, catalog, keyring, deliverDeps }, { body, query, caller }) => {
    const dryRun = readDryRun(query);
    const changed = await applyConfigFile(
      {
        store,
        clock,
        secrets: createSecretFactory(deliverDeps.encryption),
        digestOf: (secret) => keyring.digestOf(secret),
      },
      ({ id }) => id === caller.account.id,
      body,
      ({ settings }, systemIds) => {
        refuseWiderSystemIds(caller, systemIds);
        refuseCreditSetting(caller, settings.find(({ field }) => field === "credits")?.to);
        return !dryRun;
      },
    );
    const { plan, applied } = changed ?? gone();
    if (applied) await Promise.all([catalog.refresh(), keyring.refresh()]);
    return { applied, ...plan };
  },
};

/** The limits of a key hold for a file as at `/api/credentials`. A new password gives its sender all that the system id may do. */
function refuseWiderSystemIds(caller: AuthenticCall["caller"], changes: readonly SystemIdChange[]): void {
  for (const { before, after } of changes) {
    const isChanged = (field: "scopes" | "expiresAt" | "allowedIps"): boolean =>
      before?.digest !== after.digest || !isDeepStrictEqual(before[field], after[field]);
    if (isChanged("scopes")) refuseBeyond(caller, after.scopes);
    if (isChanged("expiresAt") || isChanged("allowedIps")) refuseWiderKey(caller, before, after);
  }
}

/** Accepts only true and false: a mistyped dry run must not apply the file. */
function readDryRun({ dryRun = "false" }: AuthenticCall["query"]): boolean {
  if (dryRun === "true" || dryRun === "false") return dryRun === "true";
  throw new Problem("INVALID_REQUEST", {
    faults: [{ parameter: "dryRun", message: "dryRun must be true or false." }],
  });
}

function gone(): never {
  throw new Error("the account of a key is gone");
}
