import type { BotContent } from "../../model/catalog.ts";
import type { RecordKind } from "../record-kind.ts";
import { readTitle, title } from "./title.ts";

/** Who sends on RCS. */
export const bot: RecordKind<"bot", BotContent> = {
  kind: "bot",
  name: { meaning: "The `botId` of requests." },
  fields: { title },
  defaults: { title: null },
  read: ({ fields, faults }) => ({ title: readTitle(fields.title, faults) }),
};
