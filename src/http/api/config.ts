import { changeSetUp } from "../../catalog/change-set-up.ts";
import { PART_MAX } from "../../catalog/plan-set-up.ts";
import { writtenRecord } from "../../catalog/record-kind.ts";
import { readStanding, writtenSetUp } from "../../catalog/set-up.ts";
import { pickSettings, settingsShape } from "../../catalog/settings.ts";
import { Type, type Schema } from "../../lib/schema.ts";
import { DEFAULT_SETTINGS } from "../../model/account.ts";
import { Problem } from "../../model/problem.ts";
import { createMint } from "../../webhooks/mint.ts";
import type { AuthenticCall, KeyedRoute } from "../route.ts";
import { botTelling } from "./bots.ts";
import { carrierTelling } from "./carriers.ts";
import { dlrConfigTelling } from "./dlr-configs.ts";
import { numberTelling } from "./numbers.ts";
import { priceTelling } from "./prices.ts";
import { newOfShelf, type Telling } from "./record-shapes.ts";
import { routeTelling } from "./routes.ts";
import { senderTelling } from "./senders.ts";
import { templateTelling } from "./templates.ts";
import { webhookTelling } from "./webhooks.ts";

const TELLINGS: readonly Telling[] = [
  templateTelling,
  botTelling,
  numberTelling,
  senderTelling,
  carrierTelling,
  routeTelling,
  priceTelling,
  webhookTelling,
  dlrConfigTelling,
];

const mapParts = <T>(map: (telling: Telling) => T): Record<string, T> =>
  Object.fromEntries(TELLINGS.map((telling) => [telling.shelf.many, map(telling)]));

const SetUp = Type.Object(
  {
    settings: Type.Optional({
      ...settingsShape,
      description: "The account's settings, as `PATCH /api/account` takes them; those that are not given stay.",
    }),
    ...mapParts((telling) =>
      Type.Optional(
        Type.Array(newOfShelf(telling), {
          maxItems: PART_MAX,
          description: `All authored ${telling.shelf.many}: those that are not in the list are removed. Left out, all of them stay.`,
        }),
      ),
    ),
  },
  { title: "SetUp" },
);

const FieldChanges = (description: string): Schema =>
  Type.Array(
    Type.Object({
      field: Type.String({ description: "Its name." }),
      from: Type.Unknown({ description: "What it is." }),
      to: Type.Unknown({ description: "What it becomes." }),
    }),
    { description },
  );

const record = {
  part: Type.String({ description: "The list it stands in, like templates." }),
  channel: Type.Optional(Type.String({ description: "Of a template, its channel." })),
  name: Type.String({ description: "Its name." }),
};

const SetUpPlan = Type.Object(
  {
    applied: Type.Boolean({ description: "Whether it has been done; false for a dry run." }),
    settings: FieldChanges("Settings that change."),
    made: Type.Array(Type.Object(record), { description: "Records that are new, or only were learned so far." }),
    changed: Type.Array(Type.Object({ ...record, fields: FieldChanges("Fields that change.") }), {
      description: "Records that change.",
    }),
    removed: Type.Array(Type.Object(record), { description: "Records that go." }),
    same: Type.Array(Type.Object(record), { description: "Records that are as the file has them." }),
  },
  { title: "SetUpPlan" },
);

const example = {
  settings: pickSettings(DEFAULT_SETTINGS),
  ...mapParts(({ kinds }) =>
    kinds.map(({ kind, example: { name, content } }) => writtenRecord(kind, { name, content })),
  ),
};

const common = { path: "/api/config", family: "plain", scope: "manage", group: "Set-up" } as const;

export const getConfig: KeyedRoute = {
  ...common,
  method: "GET",
  summary: "Export the set-up",
  description:
    "The account's settings and all its authored records but campaigns, without ids, times and secrets and always in the same order: a file to keep in a repository.",
  response: SetUp,
  responseExample: example,
  handle: async ({ store }, { caller }) => {
    const standing = await readStanding(store, ({ id }) => id === caller.account.id);
    return writtenSetUp(standing ?? gone());
  },
};

export const putConfig: KeyedRoute = {
  ...common,
  method: "PUT",
  role: "owner",
  summary: "Apply a set-up",
  description:
    "Makes the account what the file says, all of it in one transaction or nothing, and answers what that means. Parts that the file does not have are left alone; `[]` removes all authored records of a part; learned ones are never removed. " +
    "Every record is held to the rules of its own door, and so is a carrier that a route needs. Webhooks and delivery reports keep their secrets, and new ones get one that nobody has seen: `rotate-secret` shows another. It takes effect at once here and within five seconds on every other node.",
  query: { dryRun: { meaning: "`true` only answers the plan; `false` unless given.", example: "true" } },
  problems: ["RECORD_IN_USE", "OVERLOADED"],
  body: SetUp,
  checkBody: false,
  requestExamples: {
    "a sender and a template": {
      senders: [{ name: "HELIOG" }],
      templates: [{ channel: "sms", name: "welcome", text: "Welcome, {#var#}!" }],
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
  handle: async ({ store, clock, catalog, keyring, telling }, { body, query, caller }) => {
    const dryRun = readDryRun(query);
    const changed = await changeSetUp(
      { store, clock, mint: createMint(telling.seal) },
      ({ id }) => id === caller.account.id,
      body,
      () => !dryRun,
    );
    const { plan, applied } = changed ?? gone();
    if (applied) await Promise.all([catalog.refresh(), keyring.refresh()]);
    return { applied, ...plan };
  },
};

/** What was meant as a rehearsal must not be the performance, so nothing is guessed. */
function readDryRun({ dryRun = "false" }: AuthenticCall["query"]): boolean {
  if (dryRun === "true" || dryRun === "false") return dryRun === "true";
  throw new Problem("INVALID_REQUEST", { message: "dryRun is true or false, and false unless given." });
}

function gone(): never {
  throw new Error("the account of a key is gone");
}
