import { Type } from "../../lib/schema.ts";
import { EVERY_PROVIDER } from "../../model/callback.ts";
import { SIMULATOR } from "../../model/catalog.ts";
import { checkHeaderPairs, PAIRS_MAX, PLACEHOLDERS } from "../../model/placeholder.ts";
import type { Fault } from "../../model/problem.ts";
import type { AccountCatalog } from "../catalog.ts";
import { defineRecord, plainName } from "../record-type.ts";
import { constantHeaders, readConstantHeaders } from "./constant-headers.ts";
import { completeEndpoint, enabled, hiddenInEndpoint, NEW_ENDPOINT, showEndpoint, url } from "./endpoint.ts";
import { checkReportFields, reportFields } from "./report-fields.ts";
import { oneOf } from "./shared-fields.ts";

const placeholders = PLACEHOLDERS.map((name) => `\`{{${name}}}\``).join(", ");

export const dlrConfig = defineRecord({
  kind: "dlrConfig",
  name: plainName("Name for your reference, shown in the callback log."),
  fields: {
    provider: Type.Default(
      Type.String({
        description: `Name of the carrier whose messages are reported. Defaults to ${EVERY_PROVIDER}, all carriers.`,
      }),
      EVERY_PROVIDER,
    ),
    method: Type.Default(
      oneOf(["POST", "GET"], "POST (default) sends JSON; GET sends all fields in the query."),
      "POST",
    ),
    url,
    headers: Type.Default(
      Type.Array(
        Type.Object({
          key: Type.String({ description: "Name of an HTTP header, such as X-Message-Id." }),
          value: Type.String({ description: `Exactly one of ${placeholders}.` }),
        }),
        {
          maxItems: PAIRS_MAX,
          description:
            "Headers to send, with placeholders. Without `fields`, they also choose the fields of the report: exactly those whose placeholders appear here. Without both, the report has the eight default fields.",
        },
      ),
      [],
    ),
    fields: reportFields,
    constantHeaders,
    enabled,
  },
  dependsOn: { constantHeaders: ["url", "headers"] },
  read: ({ fields, named, stored, catalog, faults }) => {
    const { provider, method } = fields;
    if (named.has("provider")) checkProvider(provider, catalog, faults);
    checkHeaderPairs(fields.headers, faults, "headers");
    const headers = fields.headers.map(({ key, value }) => ({ key, value }));
    const chosen = fields.fields ?? null;
    if (chosen) checkReportFields(chosen, faults);
    const newHeaders = readConstantHeaders({
      given: fields.constantHeaders ?? [],
      url: fields.url,
      stored: stored?.content ?? null,
      others: headers.map(({ key }) => key),
      faults,
    });
    const content = { provider, method, url: fields.url, headers, fields: chosen, enabled: fields.enabled };
    return { ...content, ...NEW_ENDPOINT, newHeaders };
  },
  complete: completeEndpoint,
  show: showEndpoint,
  hidden: hiddenInEndpoint,
});

function checkProvider(provider: string, catalog: AccountCatalog, faults: Fault[]): void {
  if (provider === EVERY_PROVIDER || provider === SIMULATOR || catalog.named("carrier").has(provider)) return;
  const message = `There is no carrier ${JSON.stringify(provider)}: use a name from /api/carriers, or ${EVERY_PROVIDER}.`;
  faults.push({ parameter: "provider", message });
}
