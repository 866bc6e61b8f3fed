import Type from "typebox";
import { nullable } from "../../lib/nullable.ts";
import { SIMULATOR, type CarrierContent } from "../../model/catalog.ts";
import { CALM, type Chaos } from "../../model/phone.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import type { RecordKind } from "../record-kind.ts";
import { chaosFields, pickChaos } from "./chaos.ts";

type CarrierFields = Omit<CarrierContent, "chaos"> & { chaos: Partial<Chaos> | null };

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
    adapter: Type.Literal("simulator", { description: "What it speaks: simulator, which it does unless given." }),
    messagesPerSecond: nullable(
      Type.Integer({ minimum: 1, maximum: 100_000 }),
      "Contracted speed, over all nodes together; null means as fast as it goes.",
    ),
    chaos: nullable(
      Type.Partial(Type.Object(chaosFields)),
      "How a simulated line misbehaves; null is as the account's simulator does. Fields that are not given keep their value.",
    ),
  },
  defaults: { adapter: "simulator", messagesPerSecond: null, chaos: null },
  read: ({ name, fields, known, faults }) => {
    checkName(name, known?.name ?? null, faults);
    const { adapter, messagesPerSecond, chaos } = fields;
    return {
      adapter,
      messagesPerSecond,
      chaos: chaos && { ...CALM, ...known?.content.chaos, ...pickChaos(chaos) },
    };
  },
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

function checkName(name: string, known: string | null, faults: Fault[]): void {
  const fault = (message: string): void => void faults.push({ parameter: "name", message });
  if (known !== null && name !== known)
    fault("A carrier keeps its name, because messages and receipts carry it: make another carrier instead.");
  else if (!NAME.test(name)) fault("A carrier's name has letters of A to Z, digits, dashes, dots and underscores.");
  else if (name.toLowerCase() === SIMULATOR) fault("The simulator is always there under this name: use another.");
}
