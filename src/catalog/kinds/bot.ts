import { nullable } from "../../lib/nullable.ts";
import { Type } from "../../lib/schema.ts";
import type { BotContent } from "../../model/catalog.ts";
import type { Fault } from "../../model/problem.ts";
import type { RecordKind } from "../record-kind.ts";
import { readTitle, title } from "./title.ts";

const AGENT_ID = /^[A-Za-z0-9._-]{1,100}$/;

/** Who sends on RCS. */
export const bot: RecordKind<"bot", BotContent> = {
  kind: "bot",
  name: { meaning: "The `botId` of requests." },
  fields: {
    title,
    agentId: nullable(
      Type.String({ minLength: 1, maxLength: 100 }),
      "What RCS for Business calls it, without the part from the @ on; null, which it is unless given, is its name.",
    ),
  },
  defaults: { title: null, agentId: null },
  read: ({ fields, faults }) => ({
    title: readTitle(fields.title, faults),
    agentId: readAgentId(fields.agentId ?? null, faults),
  }),
};

function readAgentId(given: string | null, faults: Fault[]): string | null {
  if (given === null || AGENT_ID.test(given)) return given;
  const message =
    "agentId has 1 to 100 letters, digits, dots, dashes and underscores, without the part from the @ on; or null.";
  faults.push({ parameter: "agentId", message });
  return given;
}
