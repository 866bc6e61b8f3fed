import type { PlatformDeps } from "../http-platform.ts";
import type { PulledTemplate, PulledTemplates, UnreadTemplate } from "../../model/chatapp.ts";
import type { WhatsappSecrets, WhatsappSettings } from "../../model/whatsapp-connection.ts";
import { exchangeHttp, type HttpExchange } from "../http-exchange.ts";
import { meaningOf } from "./error-codes.ts";
import { fieldsOf, jsonOf, listOf, wholeOf, stringOf } from "./read-json.ts";
import { readTemplate } from "./read-template.ts";
import { apiUrl, hide, appSecretProof } from "./api-urls.ts";

export type PullTemplatesDeps = Pick<
  PlatformDeps<WhatsappSettings, WhatsappSecrets>,
  "settings" | "secrets" | "egress" | "clock"
>;

const SECOND_MS = 1000;
/** Responses are read up to 64 KB. Most pages of the first size are smaller; a single template may have several KB. */
const PAGES = [50, 10, 1] as const;
/** For the whole list, because other connections wait behind it. */
const LIST_SECONDS = 60;
/** The platform allows 6,000 templates; a longer list is an error. */
const TEMPLATES_MAX = 10_000;
const FIELDS = "id,name,language,status,category,components,rejected_reason,quality_score";

/** Lists the templates of the business account, page by page. */
export async function pullTemplates(deps: PullTemplatesDeps): Promise<PulledTemplates> {
  const { settings } = deps;
  if (settings.businessAccountId === null)
    return {
      kind: "failed",
      code: null,
      description: "The line has no businessAccountId: give it to keep templates in step",
    };
  const listed: unknown[] = [];
  const endsAt = deps.clock.monotonic() + LIST_SECONDS * SECOND_MS;
  let size = 0;
  let after: string | null = null;
  for (;;) {
    const leftMs = endsAt - deps.clock.monotonic();
    if (leftMs <= 0) return TOO_SLOW;
    const limit = PAGES[size] ?? 1;
    const response = await exchangeHttp(deps.egress, deps.clock, {
      method: "GET",
      url: pageUrl(settings, settings.businessAccountId, limit, after),
      headers: appSecretProof(settings, deps.secrets),
      body: null,
      limitMs: Math.min(settings.responseSeconds * SECOND_MS, leftMs),
    });
    // The response may have been too long.
    if (response.kind === "broken" && limit > 1) {
      size += 1;
      continue;
    }
    if (response.kind !== "answered" && deps.clock.monotonic() >= endsAt) return TOO_SLOW;
    const page = pageOf(deps, response);
    if ("kind" in page) return page;
    listed.push(...page.listed);
    if (page.after === null || page.listed.length === 0) return sorted(listed);
    if (page.after === after || listed.length > TEMPLATES_MAX)
      return { kind: "failed", code: null, description: "The platform's list of templates has no end" };
    after = page.after;
    // After a single oversized template, continue with pages of ten; the first size would mostly fail again.
    size = Math.min(size, 1);
  }
}

/** Uses only the cursor and not the URL from the platform, so that the token is sent to the configured host only. */
function pageUrl(settings: WhatsappSettings, account: string, limit: number, after: string | null): string {
  const params = new URLSearchParams({ fields: FIELDS, limit: String(limit), ...(after === null ? {} : { after }) });
  return `${apiUrl(settings, `${encodeURIComponent(account)}/message_templates`)}?${params.toString()}`;
}

type Failed = Extract<PulledTemplates, { kind: "failed" }>;

const TOO_SLOW: Failed = {
  kind: "failed",
  code: null,
  description: `The platform did not list its templates within ${LIST_SECONDS} s`,
};

function pageOf(
  { secrets }: PullTemplatesDeps,
  response: HttpExchange,
): { listed: readonly unknown[]; after: string | null } | Failed {
  if (response.kind !== "answered")
    return {
      kind: "failed",
      code: null,
      description: `The platform did not answer: ${hide(response.reason, secrets)}`,
    };
  const json = fieldsOf(jsonOf(response.text));
  const code = wholeOf(fieldsOf(json["error"])["code"]);
  if (code !== null) return { kind: "failed", code: String(code), description: meaningOf(code).description };
  if (response.status !== 200 || !Array.isArray(json["data"]))
    return {
      kind: "failed",
      code: `HTTP ${response.status}`,
      description: "The platform answered with something else than a list of templates",
    };
  const { next, cursors } = fieldsOf(json["paging"]);
  const after = next === undefined ? null : stringOf(fieldsOf(cursors)["after"]);
  return { listed: listOf(json["data"]), after };
}

function sorted(listed: readonly unknown[]): PulledTemplates {
  const templates: PulledTemplate[] = [];
  const unread: UnreadTemplate[] = [];
  for (const each of listed) {
    const template = readTemplate(each);
    if ("content" in template) templates.push(template);
    else unread.push(template);
  }
  return { kind: "pulled", templates, unread };
}
