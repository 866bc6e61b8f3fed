import { Type } from "../../lib/schema.ts";
import {
  ATTRIBUTE_NAME_MAX,
  ATTRIBUTE_VALUE_MAX,
  CONSENT_KEYS,
  isTag,
  TAG_RULE,
  TAGS_MAX,
} from "../../model/contact.ts";
import { defineRecord, plainName } from "../record-type.ts";
import { oneOf } from "./shared-fields.ts";

const CONDITIONS_MAX = 10;

export const segment = defineRecord({
  kind: "segment",
  name: plainName("Name, as `segment` of requests has it."),
  fields: {
    tags: Type.Default(
      Type.Array(Type.String({ minLength: 1, description: "A tag.", check: (tag) => (isTag(tag) ? null : TAG_RULE) }), {
        maxItems: TAGS_MAX,
        description: "Tags that a contact has, all of them. Defaults to none.",
      }),
      [],
    ),
    attributes: Type.Default(
      Type.Record(
        Type.String({ minLength: 1, maxLength: ATTRIBUTE_VALUE_MAX, description: "Value of the attribute." }),
        {
          description: "Attributes that a contact has, each with its exact value. Defaults to none.",
          check: (attributes) =>
            Object.keys(attributes).length <= CONDITIONS_MAX &&
            Object.keys(attributes).every((name) => name !== "" && name.length <= ATTRIBUTE_NAME_MAX)
              ? null
              : `attributes has at most ${CONDITIONS_MAX} attributes, each with a name of 1 to ${ATTRIBUTE_NAME_MAX} characters.`,
        },
      ),
      {},
    ),
    consents: Type.Default(
      Type.Array(oneOf(CONSENT_KEYS, "A consent: channel and type."), {
        maxItems: CONSENT_KEYS.length,
        description: "Consents that a contact has granted, all of them. Defaults to none.",
      }),
      [],
    ),
  },
  read: ({ fields: { tags, attributes, consents } }) => ({
    tags: [...new Set(tags)].toSorted(),
    attributes,
    consents: CONSENT_KEYS.filter((key) => consents.includes(key)),
  }),
});
