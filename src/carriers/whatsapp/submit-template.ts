import type { ChatTemplate, SubmittedTemplate, TemplateSubmission } from "../../model/chatapp.ts";
import type { WhatsappSecrets, WhatsappSettings } from "../../model/whatsapp-connection.ts";
import { exchangeHttp } from "../http-exchange.ts";
import type { PlatformDeps } from "../http-platform.ts";
import { apiUrl, appSecretProof, hide } from "./api-urls.ts";
import { meaningOf } from "./error-codes.ts";
import { fieldsOf, jsonOf, stringOf, wholeOf } from "./read-json.ts";
import { readStatus } from "./template-status.ts";
import { writeComponents, writeTemplate } from "./write-template.ts";

type SubmitTemplateDeps = Pick<
  PlatformDeps<WhatsappSettings, WhatsappSecrets>,
  "settings" | "secrets" | "egress" | "clock"
>;

const SECOND_MS = 1000;
const DESCRIPTION_MAX = 1000;

/** Creates a template at the platform, or edits the one that it has. */
export async function submitTemplate(
  { settings, secrets, egress, clock }: SubmitTemplateDeps,
  name: string,
  content: ChatTemplate,
  submission: TemplateSubmission,
): Promise<SubmittedTemplate> {
  const { businessAccountId } = settings;
  if (businessAccountId === null)
    return { kind: "refused", description: "The carrier has no businessAccountId: give it one first" };
  const isOurs = content.businessAccountId === undefined || content.businessAccountId === businessAccountId;
  const known = isOurs ? content.platform?.id : undefined;
  const path =
    known === undefined ? `${encodeURIComponent(businessAccountId)}/message_templates` : encodeURIComponent(known);
  const body =
    known === undefined
      ? writeTemplate(name, content, submission)
      : { components: writeComponents(content, submission) };
  const response = await exchangeHttp(egress, clock, {
    method: "POST",
    url: apiUrl(settings, path),
    headers: { "content-type": "application/json", ...appSecretProof(settings, secrets) },
    body: JSON.stringify(body),
    limitMs: settings.responseSeconds * SECOND_MS,
  });
  if (response.kind !== "answered")
    return { kind: "refused", description: `The platform did not answer: ${hide(response.reason, secrets)}` };
  const json = fieldsOf(jsonOf(response.text));
  if (response.status !== 200 || "error" in json)
    return { kind: "refused", description: hide(refusalIn(fieldsOf(json["error"]), response.status), secrets) };
  const status = stringOf(json["status"]);
  return { kind: "submitted", id: stringOf(json["id"]) ?? known ?? null, status, approval: readStatus(status) };
}

/** The platform explains refused templates in words for people. */
function refusalIn(error: Readonly<Record<string, unknown>>, status: number): string {
  const code = wholeOf(error["code"]);
  const title = stringOf(error["error_user_title"]);
  const words = stringOf(error["error_user_msg"]) ?? stringOf(fieldsOf(error["error_data"])["details"]);
  const own = [title, words].filter((each) => each !== null).join(": ");
  if (own !== "") return `The platform refused the template: ${own.slice(0, DESCRIPTION_MAX).toWellFormed()}`;
  return `The platform refused the template: ${code === null ? `HTTP ${status}` : meaningOf(code).description}`;
}
