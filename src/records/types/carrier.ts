import { nullable, Type } from "../../lib/schema.ts";
import { pickFields } from "../../lib/shape.ts";
import {
  connectionIn,
  SIMULATOR,
  type CarrierContent,
  type RealAdapter,
  type RealCarrierContent,
} from "../../model/catalog.ts";
import { CALM } from "../../model/phone.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import type { AccountCatalog } from "../catalog.ts";
import { defineRecord, type GivenRecord } from "../record-type.ts";
import { chaosFields } from "./chaos.ts";
import { ADAPTERS, connectionType } from "./connections.ts";
import { oneOf } from "./shared-fields.ts";

const NAME_MAX = 50;
const NAME = /^[A-Za-z0-9._-]*$/;

const byAdapter = <T>(make: (adapter: RealAdapter) => T): Record<RealAdapter, T> => ({
  smpp: make("smpp"),
  whatsapp: make("whatsapp"),
  rbm: make("rbm"),
  http: make("http"),
  email: make("email"),
});

const NO_LINES = byAdapter(() => null);

const carrierFields = {
  adapter: Type.Default(
    oneOf(
      ["simulator", ...ADAPTERS],
      "Protocol adapter: simulator (default); smpp or http for text messages; whatsapp for the chat app; rbm for RCS; email for e-mail.",
    ),
    "simulator",
  ),
  messagesPerSecond: Type.Default(
    nullable(Type.Integer({ minimum: 1, maximum: 100_000 }), "Contracted rate over all nodes; null means no limit."),
    null,
  ),
  chaos: Type.Default(
    nullable(
      Type.Partial(Type.Object(chaosFields)),
      "Chaos settings of a simulated carrier; null uses the account's. Omitted fields keep their value.",
    ),
    null,
  ),
  ...byAdapter((adapter) =>
    Type.Default(
      nullable(
        connectionType(adapter).requestSchema,
        `Settings of a connection over ${connectionType(adapter).title}; null for other adapters. Omitted fields keep their value, or use the default.`,
      ),
      null,
    ),
  ),
};

export const carrier = defineRecord({
  kind: "carrier",
  name: {
    schema: Type.String({
      minLength: 1,
      maxLength: NAME_MAX,
      description:
        "Letters, digits, dashes, dots and underscores. It cannot be changed, because messages and receipts refer to it.",
      check: (name) =>
        NAME.test(name) ? null : "A carrier name may contain letters A to Z, digits, dashes, dots and underscores.",
    }),
  },
  fields: carrierFields,
  // The carrier's name finds the stored record, whose secrets are kept.
  dependsOn: { chaos: ["adapter"], ...byAdapter(() => ["adapter", "name"] as const) },
  read: (given) => {
    checkName(given.name, given.known?.name ?? null, given.faults);
    checkOtherConnections(given);
    const { adapter } = given.fields;
    return adapter === "simulator" ? readSimulated(given) : readReal(given, adapter);
  },
  complete: (content, before, secrets) => {
    const connection = connectionIn(content);
    if (content.adapter === "simulator" || connection === null) return content;
    const known = before?.adapter === content.adapter ? connectionIn(before) : null;
    return withConnection(content, connectionType(content.adapter).complete(connection, known, secrets));
  },
  show: (content) => {
    const { adapter, messagesPerSecond, chaos } = content;
    const connection = connectionIn(content);
    const shown =
      adapter === "simulator" || connection === null ? {} : { [adapter]: connectionType(adapter).show(connection) };
    return { adapter, messagesPerSecond, chaos, ...NO_LINES, ...shown };
  },
  hidden: (content) => connectionIn(content)?.secrets,
  deletionGuard: {
    problems: ["RECORD_IN_USE"],
    refuse: ({ name }, catalog) => {
      const route = [...catalog.named("route").values()].find(({ content }) => content.carrier === name);
      const config = [...catalog.named("dlrConfig").values()].find(({ content }) => content.provider === name);
      const [what, user] = route ? ["route", route] : ["dlr-config", config];
      if (!user) return;
      const message = `The ${what} ${JSON.stringify(user.name)} uses the carrier ${JSON.stringify(name)}: change or delete it first.`;
      throw new Problem("RECORD_IN_USE", { message });
    },
  },
  builtIns: [{ name: SIMULATOR, content: { adapter: "simulator", messagesPerSecond: null, chaos: null } }],
});

type Given = GivenRecord<"carrier", typeof carrierFields>;

/** Refuses settings of another adapter, which would be ignored silently. */
function checkOtherConnections({ fields, named, faults }: Given): void {
  for (const adapter of ADAPTERS)
    if (adapter !== fields.adapter && fields[adapter] && named.has(adapter))
      faults.push({
        parameter: adapter,
        message: `Only a carrier with the adapter "${adapter}" has this field: set adapter too.`,
      });
}

function readSimulated({ fields, known }: Given): CarrierContent {
  const { messagesPerSecond, chaos } = fields;
  const before = known?.content.chaos;
  return {
    adapter: "simulator",
    messagesPerSecond,
    chaos: chaos && { ...CALM, ...before, ...pickFields(chaosFields, chaos) },
  };
}

function readReal(
  { name, fields, named, known, stored, catalog, faults }: Given,
  adapter: RealAdapter,
): CarrierContent {
  const { messagesPerSecond, chaos } = fields;
  if (chaos && named.has("chaos"))
    faults.push({ parameter: "chaos", message: "Only a simulated carrier has chaos settings: omit this field." });
  checkRoutes(name, adapter, catalog, faults);
  const given = named.has(adapter) ? (fields[adapter] ?? {}) : {};
  const connectionOf = (record: Given["known"]) =>
    record?.content.adapter === adapter ? connectionIn(record.content) : null;
  const connection = connectionType(adapter).read(given, connectionOf(known), faults, connectionOf(stored));
  return withConnection({ adapter, messagesPerSecond, chaos: null }, connection);
}

/** Settings always match their adapter; TypeScript cannot infer this from a computed property. */
const withConnection = (
  content: Pick<RealCarrierContent, "adapter" | "messagesPerSecond" | "chaos">,
  connection: object,
) => ({ ...content, [content.adapter]: connection }) as RealCarrierContent;

/** Refuses routes of a channel that the adapter does not support. */
function checkRoutes(name: string, adapter: RealAdapter, catalog: AccountCatalog, faults: Fault[]): void {
  const { title, channels } = connectionType(adapter);
  const wrong = [...catalog.named("route").values()].find(
    ({ content }) => content.carrier === name && (content.channel === null || !channels.includes(content.channel)),
  );
  if (!wrong) return;
  const message = `${title} supports ${channels.join(" and ")} only, and the route ${JSON.stringify(wrong.name)} uses this carrier for others: set its channel to "${channels[0] ?? ""}" first.`;
  faults.push({ parameter: "adapter", message });
}

function checkName(name: string, known: string | null, faults: Fault[]): void {
  const fault = (message: string): void => void faults.push({ parameter: "name", message });
  if (known !== null && name !== known)
    fault(
      "The name of a carrier cannot be changed, because messages and receipts refer to it: create another carrier instead.",
    );
  else if (name.toLowerCase() === SIMULATOR) fault("This name is reserved for the built-in simulator: use another.");
}
