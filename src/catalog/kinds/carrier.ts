import { nullable } from "../../lib/nullable.ts";
import { Type } from "../../lib/schema.ts";
import {
  lineIn,
  SIMULATOR,
  type CarrierContent,
  type RealAdapter,
  type RealCarrierContent,
} from "../../model/catalog.ts";
import { CALM, type Chaos } from "../../model/phone.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import type { AccountCatalog } from "../catalog.ts";
import type { GivenRecord, RecordKind } from "../record-kind.ts";
import { chaosFields, pickChaos } from "./chaos.ts";
import { ADAPTERS, lineKind } from "./lines.ts";
import { oneOf } from "./words.ts";

type CarrierFields = {
  adapter: CarrierContent["adapter"];
  messagesPerSecond: number | null;
  chaos: Partial<Chaos> | null;
} & { [A in RealAdapter]: object | null };

const NAME_MAX = 50;
const NAME = /^[A-Za-z0-9._-]*$/;

const byAdapter = <T>(make: (adapter: RealAdapter) => T): Record<RealAdapter, T> =>
  Object.fromEntries(ADAPTERS.map((adapter) => [adapter, make(adapter)])) as Record<RealAdapter, T>;

const NO_LINES = byAdapter(() => null);

/** Lines to networks, which routes lead to. */
export const carrier: RecordKind<"carrier", CarrierFields> = {
  kind: "carrier",
  name: {
    meaning:
      "Letters, digits, dashes, dots and underscores. It cannot be changed, because messages and receipts carry it.",
    max: NAME_MAX,
  },
  fields: {
    adapter: oneOf(
      ["simulator", ...ADAPTERS],
      "What it speaks: simulator, which it does unless given; smpp or http for text messages; whatsapp for the chat app; rbm for RCS.",
    ),
    messagesPerSecond: nullable(
      Type.Integer({ minimum: 1, maximum: 100_000 }),
      "Contracted speed, over all nodes together; null means as fast as it goes.",
    ),
    chaos: nullable(
      Type.Partial(Type.Object(chaosFields)),
      "How a simulated line misbehaves; null is as the account's simulator does. Fields that are not given keep their value.",
    ),
    ...byAdapter((adapter) =>
      nullable(
        lineKind(adapter).given,
        `How a line over ${lineKind(adapter).title} is set up; null for every other. Fields that are not given keep their value, or have a usual one.`,
      ),
    ),
  },
  defaults: { adapter: "simulator", messagesPerSecond: null, chaos: null, ...NO_LINES },
  read: (given) => {
    checkName(given.name, given.known?.name ?? null, given.faults);
    checkOtherLines(given);
    const { adapter } = given.fields;
    return adapter === "simulator" ? readSimulated(given) : readReal(given, adapter);
  },
  complete: (content, before, mint) => {
    const line = lineIn(content);
    if (content.adapter === "simulator" || line === null) return content;
    const known = before?.adapter === content.adapter ? lineIn(before) : null;
    return withLine(content, lineKind(content.adapter).complete(line, known, mint));
  },
  show: (content) => {
    const { adapter, messagesPerSecond, chaos } = content;
    const line = lineIn(content);
    const shown = adapter === "simulator" || line === null ? {} : { [adapter]: lineKind(adapter).show(line) };
    return { adapter, messagesPerSecond, chaos, ...NO_LINES, ...shown };
  },
  hidden: (content) => lineIn(content)?.secrets,
  keep: {
    problems: ["RECORD_IN_USE"],
    refuse: ({ name }, catalog) => {
      const route = [...catalog.named("route").values()].find(({ content }) => content.carrier === name);
      const config = [...catalog.named("dlrConfig").values()].find(({ content }) => content.provider === name);
      const [what, user] = route ? ["route", route] : ["dlr-config", config];
      if (!user) return;
      const message = `The ${what} ${JSON.stringify(user.name)} needs the carrier ${JSON.stringify(name)}: change or remove it first.`;
      throw new Problem("RECORD_IN_USE", { message });
    },
  },
  builtIn: [{ name: SIMULATOR, content: { adapter: "simulator", messagesPerSecond: null, chaos: null } }],
};

type Given = GivenRecord<"carrier", CarrierFields>;

/** A line of another kind than the carrier speaks would be taken without a word, and do nothing. */
function checkOtherLines({ fields, named, faults }: Given): void {
  for (const adapter of ADAPTERS)
    if (adapter !== fields.adapter && fields[adapter] && named.has(adapter))
      faults.push({
        parameter: adapter,
        message: `Only a carrier with the adapter "${adapter}" has this: give adapter too.`,
      });
}

function readSimulated({ fields, known }: Given): CarrierContent {
  const { messagesPerSecond, chaos } = fields;
  const before = known?.content.chaos;
  return { adapter: "simulator", messagesPerSecond, chaos: chaos && { ...CALM, ...before, ...pickChaos(chaos) } };
}

function readReal({ name, fields, named, known, catalog, faults }: Given, adapter: RealAdapter): CarrierContent {
  const { messagesPerSecond, chaos } = fields;
  if (chaos && named.has("chaos"))
    faults.push({ parameter: "chaos", message: "Only a simulated line misbehaves at a word: leave it out." });
  checkRoutes(name, adapter, catalog, faults);
  const given = named.has(adapter) ? (fields[adapter] ?? {}) : {};
  const before = known?.content.adapter === adapter ? lineIn(known.content) : null;
  const line = lineKind(adapter).read(given, before, faults);
  return withLine({ adapter, messagesPerSecond, chaos: null }, line);
}

/** A line is of its adapter's kind, which made it; the compiler cannot follow that through a name. */
const withLine = (content: Pick<RealCarrierContent, "adapter" | "messagesPerSecond" | "chaos">, line: object) =>
  ({ ...content, [content.adapter]: line }) as RealCarrierContent;

/** A route of another channel would bring it what it cannot carry. */
function checkRoutes(name: string, adapter: RealAdapter, catalog: AccountCatalog, faults: Fault[]): void {
  const { title, channels } = lineKind(adapter);
  const wrong = [...catalog.named("route").values()].find(
    ({ content }) => content.carrier === name && (content.channel === null || !channels.includes(content.channel)),
  );
  if (!wrong) return;
  const message = `${title} carries ${channels.join(" and ")} only, and the route ${JSON.stringify(wrong.name)} leads others here: give it the channel "${channels[0] ?? ""}" first.`;
  faults.push({ parameter: "adapter", message });
}

function checkName(name: string, known: string | null, faults: Fault[]): void {
  const fault = (message: string): void => void faults.push({ parameter: "name", message });
  if (known !== null && name !== known)
    fault("A carrier keeps its name, because messages and receipts carry it: make another carrier instead.");
  else if (!NAME.test(name)) fault("A carrier's name has letters of A to Z, digits, dashes, dots and underscores.");
  else if (name.toLowerCase() === SIMULATOR) fault("The simulator is always there under this name: use another.");
}
