import type { ConnectionTest } from "../carrier.ts";
import { exchangeHttp } from "../http-exchange.ts";
import { meaningOf } from "./error-codes.ts";
import type { PullTemplatesDeps } from "./pull-templates.ts";
import { fieldsOf, jsonOf, wholeOf, stringOf } from "./read-json.ts";
import { apiUrl, hide, appSecretProof } from "./api-urls.ts";

/** Time limit for the person who waits for the result. */
const TEST_LIMIT_MS = 10_000;

/** Reads the business number, or else the business account, which proves URL, token and id. Sends no message. */
export async function testWhatsappConnection(deps: PullTemplatesDeps): Promise<ConnectionTest> {
  const { settings, secrets, egress, clock } = deps;
  const startedAt = clock.monotonic();
  const result = (
    trial: Pick<ConnectionTest, "outcome" | "description"> & Partial<ConnectionTest>,
  ): ConnectionTest => ({
    code: null,
    systemId: null,
    ...trial,
    ms: Math.round(clock.monotonic() - startedAt),
  });
  const id = settings.phoneNumberId ?? settings.businessAccountId;
  if (id === null) return result({ outcome: "refused", description: NO_ID });
  const response = await exchangeHttp(egress, clock, {
    method: "GET",
    url: apiUrl(settings, encodeURIComponent(id)),
    headers: appSecretProof(settings, secrets),
    body: null,
    limitMs: TEST_LIMIT_MS,
  });
  if (response.kind !== "answered")
    return result({
      outcome: "unreachable",
      description: `The platform cannot be reached: ${hide(response.reason, secrets)}`,
    });
  const json = fieldsOf(jsonOf(response.text));
  const code = wholeOf(fieldsOf(json["error"])["code"]);
  if (code !== null)
    return result({ outcome: "refused", description: meaningOf(code).description, code: String(code) });
  const systemId = stringOf(json["verified_name"]) ?? stringOf(json["name"]);
  if (response.status === 200 && stringOf(json["id"]) !== null)
    return result({ outcome: "bound", description: "The platform knows the line's token and id", systemId });
  return result({
    outcome: "refused",
    description: `The platform answered with HTTP ${response.status}: check baseUrl, version and token of the line`,
    code: `HTTP ${response.status}`,
  });
}

const NO_ID = "The line has neither a phoneNumberId nor a businessAccountId that could be asked for";
