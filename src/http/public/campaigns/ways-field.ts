import { chatTemplateWay, wayBodies } from "../../../channels/ways/body.ts";
import { CHECK, Type, type Fields, type Schema, type Typed } from "../../../lib/schema.ts";
import type { CampaignWay } from "../../../model/campaign.ts";
import { SEND_CHANNELS } from "../../../model/message.ts";

/** Characters of all ways as JSON. */
const WAYS_MAX = 20_000;
const WAYS_RULE = `ways is an array of 1 to ${SEND_CHANNELS.length} objects, each with a channel of its own (${SEND_CHANNELS.join(", ")}) and the content for it.`;

/**
 * The structure of a schema without its conditions on texts: a text with a column becomes right or wrong with the values of each
 * recipient. `messageFaults` checks all others by the rules of their channel.
 */
function structureOf(schema: Schema): Schema {
  const {
    pattern: _,
    format: __,
    minLength: ___,
    maxLength: ____,
    [CHECK]: _____,
    properties,
    items,
    anyOf,
    ...rest
  } = schema;
  const members = rest.additionalProperties;
  return {
    ...rest,
    ...(properties && { properties: mapped(properties) }),
    ...(items && { items: structureOf(items) }),
    ...(anyOf && { anyOf: anyOf.map(structureOf) }),
    ...(typeof members === "object" && { additionalProperties: structureOf(members) }),
  };
}

const mapped = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, structureOf(field)]));

const { rcs, sms } = wayBodies;
const { channel: _, ...contents } = Type.Partial(
  Type.Object({ ...sms.properties, ...chatTemplateWay.properties, ...rcs.properties }),
).properties;

const way = Type.Object(
  {
    channel: Type.Union(
      SEND_CHANNELS.map((name) => Type.Literal(name)),
      { description: "Channel.", error: `channel is one of ${SEND_CHANNELS.join(", ")}.` },
    ),
    ...mapped(contents),
  },
  { error: WAYS_RULE },
);

/** The ways of a campaign, in a request and in an answer. */
export const waysField: Typed<readonly CampaignWay[]> = Type.Array(way, {
  minItems: 1,
  maxItems: SEND_CHANNELS.length,
  description:
    "Channels in order, each with its content in the fields of a way of `POST /v1/messages`. Their texts have variables of the audience as placeholders. The message takes the next way if the number cannot be reached on this one, if it fails, or if no delivery arrives in time.",
  error: WAYS_RULE,
  check: (ways) =>
    JSON.stringify(ways).length <= WAYS_MAX
      ? null
      : `ways has at most ${WAYS_MAX.toLocaleString("en-US")} characters as JSON.`,
});
