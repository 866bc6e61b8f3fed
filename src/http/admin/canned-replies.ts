import { cannedReply } from "../../records/types/canned-reply.ts";
import { cannedReplies } from "../../records/record-types.ts";
import type { RecordDocs } from "./record-shapes.ts";
import { recordRoutes } from "./records.ts";

export const cannedReplyDocs: RecordDocs = {
  type: cannedReplies,
  group: "Conversations",
  about: "Prepared texts, which the inbox inserts into a reply.",
  definitions: [
    {
      definition: cannedReply,
      title: "CannedReply",
      example: { name: "opening hours", content: { text: "We are here from 9 to 17." } },
    },
  ],
  createExamples: { "a text": { name: "thanks", text: "Thank you for your message." } },
  updateExamples: { "another text": { text: "Thank you. We will answer today." } },
};

export const cannedReplyRoutes = recordRoutes(cannedReplyDocs);
