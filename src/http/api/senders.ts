import type { SenderContent } from "../../model/catalog.ts";
import { recordRoutes } from "./records.ts";
import { registerId } from "./templates.ts";

/** As long as requests may have it. */
export const SENDER_MAX = 20;

/** Who messages may be from. */
export const senderRoutes = recordRoutes<"sender", SenderContent>({
  kind: "sender",
  about:
    "Who messages may be from. On real carriers a request must name one of these; on the simulator any is learned.",
  name: { meaning: "The `sender` of requests, as phones show it.", max: SENDER_MAX, example: "HELIOG" },
  fields: { dltEntityId: registerId("The id under which the operators of India know who it belongs to.") },
  defaults: { dltEntityId: null },
  contentExample: { dltEntityId: null },
  createExamples: { shop: { name: "MYSHOP" } },
  changeExamples: { "registered in India": { dltEntityId: "1101987654321098765" } },
  read: ({ fields: { dltEntityId } }) => ({ dltEntityId }),
});
