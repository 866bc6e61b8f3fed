import type { LineTrial } from "../carrier.ts";
import { exchange } from "../exchange.ts";
import { meaningOf } from "./error-codes.ts";
import type { PullNeeds } from "./pull-templates.ts";
import { fieldsOf, jsonOf, wholeOf, wordsOf } from "./read-json.ts";
import { apiUrl, hide, proofOf } from "./ways.ts";

/** How long somebody waits for the answer. */
const PATIENCE_MS = 10_000;

/**
 * Asks the platform about the line's number, or else its business account, and says what happened: whoever sets up a line
 * learns at once whether address, token and id are right. Nothing is sent.
 */
export async function tryWhatsappLine(needs: PullNeeds): Promise<LineTrial> {
  const { settings, secrets, wayOut, clock } = needs;
  const startedAt = clock.monotonic();
  const told = (trial: Pick<LineTrial, "outcome" | "description"> & Partial<LineTrial>): LineTrial => ({
    code: null,
    systemId: null,
    ...trial,
    ms: Math.round(clock.monotonic() - startedAt),
  });
  const id = settings.phoneNumberId ?? settings.businessAccountId;
  if (id === null) return told({ outcome: "refused", description: NOTHING_TO_ASK_FOR });
  const answer = await exchange(wayOut, clock, {
    method: "GET",
    url: apiUrl(settings, encodeURIComponent(id)),
    headers: proofOf(settings, secrets),
    body: null,
    limitMs: PATIENCE_MS,
  });
  if (answer.kind !== "answered")
    return told({
      outcome: "unreachable",
      description: `The platform cannot be reached: ${hide(answer.reason, secrets)}`,
    });
  const read = fieldsOf(jsonOf(answer.text));
  const code = wholeOf(fieldsOf(read["error"])["code"]);
  if (code !== null) return told({ outcome: "refused", description: meaningOf(code).description, code: String(code) });
  const systemId = wordsOf(read["verified_name"]) ?? wordsOf(read["name"]);
  if (answer.status === 200 && wordsOf(read["id"]) !== null)
    return told({ outcome: "bound", description: "The platform knows the line's token and id", systemId });
  return told({
    outcome: "refused",
    description: `The platform answered with HTTP ${answer.status}: check baseUrl, version and token of the line`,
    code: `HTTP ${answer.status}`,
  });
}

const NOTHING_TO_ASK_FOR = "The line has neither a phoneNumberId nor a businessAccountId that could be asked for";
