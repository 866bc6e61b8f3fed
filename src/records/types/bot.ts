import { nullable, Type } from "../../lib/schema.ts";
import { defineRecord, plainName } from "../record-type.ts";
import { title } from "./shared-fields.ts";

const AGENT_ID = /^[A-Za-z0-9._-]{1,100}$/;
const AGENT_ID_RULE =
  "agentId must have 1 to 100 letters, digits, dots, dashes and underscores, without the part from the @ on; or be null.";

export const bot = defineRecord({
  kind: "bot",
  name: plainName("`botId` of requests."),
  fields: {
    title: Type.Default(title, null),
    agentId: Type.Default(
      nullable(
        Type.String({
          minLength: 1,
          maxLength: 100,
          error: AGENT_ID_RULE,
          check: (id) => (AGENT_ID.test(id) ? null : AGENT_ID_RULE),
        }),
        "Agent ID at RCS for Business, without the part from the @ on. Defaults to null, which uses the name.",
      ),
      null,
    ),
  },
  read: ({ fields: { title: shown, agentId = null } }) => ({ title: shown, agentId }),
});
