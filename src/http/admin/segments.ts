import { segment } from "../../records/types/segment.ts";
import { segments } from "../../records/record-types.ts";
import type { RecordDocs } from "./record-shapes.ts";
import { recordRoutes } from "./records.ts";

export const segmentDocs: RecordDocs = {
  testKeysRead: true,
  type: segments,
  about:
    "Saved filters of contacts. A contact belongs to a segment while it fulfils every condition. `GET /v1/contacts?segment=` lists the contacts, and `POST /v1/audiences` makes an audience of them.",
  definitions: [
    {
      definition: segment,
      title: "Segment",
      example: {
        name: "VIP in Pune",
        content: { tags: ["vip"], attributes: { city: "Pune" }, consents: ["sms:PROMO"] },
      },
    },
  ],
  createExamples: {
    "a tag and an attribute": { name: "VIP in Delhi", tags: ["vip"], attributes: { city: "Delhi" } },
    "a consent": { name: "Newsletter", consents: ["sms:PROMO"] },
  },
  updateExamples: { "another tag": { tags: ["gold"] } },
};

export const segmentRoutes = recordRoutes(segmentDocs);
