import type { SenderContent } from "../../model/catalog.ts";
import type { RecordKind } from "../record-kind.ts";
import { registerId } from "./register-id.ts";

/** As long as requests may have it. */
export const SENDER_MAX = 20;

/** Who SMS may be from. */
export const sender: RecordKind<"sender", SenderContent> = {
  kind: "sender",
  name: { meaning: "The `sender` of requests, as phones show it.", max: SENDER_MAX },
  fields: { dltEntityId: registerId("The id under which the operators of India know who it belongs to.") },
  defaults: { dltEntityId: null },
  read: ({ fields: { dltEntityId } }) => ({ dltEntityId }),
};
