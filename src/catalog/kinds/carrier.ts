import Type from "typebox";
import { nullable } from "../../lib/nullable.ts";
import { SIMULATOR, type CarrierContent } from "../../model/catalog.ts";
import { CALM, type Chaos } from "../../model/phone.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import type { AccountCatalog } from "../catalog.ts";
import type { GivenRecord, RecordKind } from "../record-kind.ts";
import { chaosFields, pickChaos } from "./chaos.ts";
import { completeLine, readLine, showLine, smppGiven, type SmppFields } from "./smpp-line.ts";
import { oneOf } from "./words.ts";

interface CarrierFields {
  adapter: CarrierContent["adapter"];
  messagesPerSecond: number | null;
  chaos: Partial<Chaos> | null;
  smpp: SmppFields | null;
}

const NAME_MAX = 50;
const NAME = /^[A-Za-z0-9._-]*$/;

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
      ["simulator", "smpp"],
      "What it speaks: simulator, which it does unless given, or smpp, which carries text messages only.",
    ),
    messagesPerSecond: nullable(
      Type.Integer({ minimum: 1, maximum: 100_000 }),
      "Contracted speed, over all nodes together; null means as fast as it goes.",
    ),
    chaos: nullable(
      Type.Partial(Type.Object(chaosFields)),
      "How a simulated line misbehaves; null is as the account's simulator does. Fields that are not given keep their value.",
    ),
    smpp: nullable(
      smppGiven,
      "How a line over SMPP is bound and spoken on; null for a simulated one. Fields that are not given keep their value, or have the one that most carriers take.",
    ),
  },
  defaults: { adapter: "simulator", messagesPerSecond: null, chaos: null, smpp: null },
  read: (given) => {
    checkName(given.name, given.known?.name ?? null, given.faults);
    return given.fields.adapter === "smpp" ? readSmpp(given) : readSimulated(given);
  },
  complete: (content, before, mint) =>
    content.adapter === "smpp" ? { ...content, smpp: completeLine(content.smpp, before?.smpp ?? null, mint) } : content,
  show: ({ adapter, messagesPerSecond, chaos, smpp }) => ({
    adapter,
    messagesPerSecond,
    chaos,
    smpp: smpp ? showLine(smpp) : null,
  }),
  hidden: ({ smpp }) => smpp?.secrets,
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

function readSimulated({ fields, named, known, faults }: Given): CarrierContent {
  const { messagesPerSecond, chaos, smpp } = fields;
  if (smpp && named.has("smpp"))
    faults.push({ parameter: "smpp", message: 'Only a carrier with the adapter "smpp" has this: give adapter too.' });
  const before = known?.content.chaos;
  return { adapter: "simulator", messagesPerSecond, chaos: chaos && { ...CALM, ...before, ...pickChaos(chaos) } };
}

function readSmpp({ name, fields, named, known, catalog, faults }: Given): CarrierContent {
  const { messagesPerSecond, chaos, smpp } = fields;
  if (chaos && named.has("chaos"))
    faults.push({ parameter: "chaos", message: "Only a simulated line misbehaves at a word: leave it out." });
  checkRoutes(name, catalog, faults);
  const given = named.has("smpp") ? (smpp ?? {}) : {};
  const line = readLine(given, known?.content.smpp ?? null, faults);
  return { adapter: "smpp", messagesPerSecond, chaos: null, smpp: line };
}

/** A route of another channel would bring it what it cannot carry. */
function checkRoutes(name: string, catalog: AccountCatalog, faults: Fault[]): void {
  const wrong = [...catalog.named("route").values()].find(
    ({ content }) => content.carrier === name && content.channel !== "sms",
  );
  if (!wrong) return;
  const message = `SMPP carries text messages only, and the route ${JSON.stringify(wrong.name)} leads others here: give it the channel "sms" first.`;
  faults.push({ parameter: "adapter", message });
}

function checkName(name: string, known: string | null, faults: Fault[]): void {
  const fault = (message: string): void => void faults.push({ parameter: "name", message });
  if (known !== null && name !== known)
    fault("A carrier keeps its name, because messages and receipts carry it: make another carrier instead.");
  else if (!NAME.test(name)) fault("A carrier's name has letters of A to Z, digits, dashes, dots and underscores.");
  else if (name.toLowerCase() === SIMULATOR) fault("The simulator is always there under this name: use another.");
}
