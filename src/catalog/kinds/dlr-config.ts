import { Type } from "../../lib/schema.ts";
import { EVERY_PROVIDER, type DlrConfigContent } from "../../model/callback.ts";
import { SIMULATOR } from "../../model/catalog.ts";
import { checkHeaderPairs, PAIRS_MAX, PLACEHOLDERS } from "../../model/placeholder.ts";
import type { Fault } from "../../model/problem.ts";
import type { AccountCatalog } from "../catalog.ts";
import type { RecordKind } from "../record-kind.ts";
import { checkUrl, completeEndpoint, enabled, INCOMPLETE, showEndpoint, url, type EndpointFields } from "./endpoint.ts";
import { oneOf } from "./words.ts";

const placeholders = PLACEHOLDERS.map((name) => `\`{{${name}}}\``).join(", ");

/** Where the delivery reports of text messages go. */
export const dlrConfig: RecordKind<"dlrConfig", EndpointFields<DlrConfigContent>> = {
  kind: "dlrConfig",
  name: { meaning: "For people, and in the log of callbacks." },
  fields: {
    provider: Type.String({
      description: `The carrier whose messages it is told of, by its name; ${EVERY_PROVIDER}, which it is unless given, means all of them.`,
    }),
    method: oneOf(["POST", "GET"], "POST, which it is unless given, brings JSON; GET brings everything in the query."),
    url,
    headers: Type.Array(
      Type.Object({
        key: Type.String({ description: "The name of an HTTP header, like X-Message-Id." }),
        value: Type.String({ description: `Exactly one of ${placeholders}.` }),
      }),
      {
        maxItems: PAIRS_MAX,
        description:
          "Headers that are sent along, filled in. They also choose what the report has: exactly the fields whose placeholders stand here. Without any, it has the eight usual ones.",
      },
    ),
    enabled,
  },
  defaults: { provider: EVERY_PROVIDER, method: "POST", headers: [], enabled: true },
  read: ({ fields, named, catalog, faults }) => {
    const { provider, method } = fields;
    if (named.has("provider")) checkProvider(provider, catalog, faults);
    checkUrl(fields.url, faults);
    checkHeaderPairs(fields.headers, faults, "headers");
    const headers = fields.headers.map(({ key, value }) => ({ key, value }));
    return { provider, method, url: fields.url, headers, enabled: fields.enabled, ...INCOMPLETE };
  },
  complete: completeEndpoint,
  show: showEndpoint,
};

function checkProvider(provider: string, catalog: AccountCatalog, faults: Fault[]): void {
  if (provider === EVERY_PROVIDER || provider === SIMULATOR || catalog.named("carrier").has(provider)) return;
  const message = `There is no carrier ${JSON.stringify(provider)}: use the name of one at /api/carriers, or ${EVERY_PROVIDER}.`;
  faults.push({ parameter: "provider", message });
}
