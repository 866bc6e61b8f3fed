import { Type } from "../../lib/schema.ts";
import { defineRecord, plainName } from "../record-type.ts";
import { registerId } from "./shared-fields.ts";

/** Limit of `sender` in requests. */
export const SENDER_MAX = 20;

export const sender = defineRecord({
  kind: "sender",
  name: plainName("`sender` of requests, as shown on phones.", SENDER_MAX),
  fields: { dltEntityId: Type.Default(registerId("DLT entity ID registered with Indian operators."), null) },
  read: ({ fields: { dltEntityId } }) => ({ dltEntityId }),
});
