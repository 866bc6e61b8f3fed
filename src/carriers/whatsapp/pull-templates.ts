import type { PlatformNeeds } from "../platform.ts";
import type { PulledTemplate, PulledTemplates, UnreadTemplate } from "../../model/chatapp.ts";
import type { WhatsappSecrets, WhatsappSettings } from "../../model/whatsapp-line.ts";
import { exchange, type Exchange } from "../exchange.ts";
import { meaningOf } from "./error-codes.ts";
import { fieldsOf, jsonOf, listOf, wholeOf, wordsOf } from "./read-json.ts";
import { readTemplate } from "./read-template.ts";
import { apiUrl, hide, proofOf } from "./ways.ts";

export type PullNeeds = Pick<
  PlatformNeeds<WhatsappSettings, WhatsappSecrets>,
  "settings" | "secrets" | "agent" | "clock"
>;

const SECOND_MS = 1000;
/** Answers are read up to 64 KB, and a template may have several. */
const PAGE = 10;
/** The platform allows 6,000 templates; a list without an end is none. */
const TEMPLATES_MAX = 10_000;
const FIELDS = "name,language,status,category,components";

/** Lists the templates of the line's business account, page by page. */
export async function pullTemplates(needs: PullNeeds): Promise<PulledTemplates> {
  const { settings } = needs;
  if (settings.businessAccountId === null)
    return {
      kind: "failed",
      code: null,
      description: "The line has no businessAccountId: give it to keep templates in step",
    };
  const listed: unknown[] = [];
  let limit = PAGE;
  let after: string | null = null;
  for (;;) {
    const answer = await exchange(needs.agent, needs.clock, {
      method: "GET",
      url: pageUrl(settings, settings.businessAccountId, limit, after),
      headers: proofOf(settings, needs.secrets),
      body: null,
      limitMs: settings.responseSeconds * SECOND_MS,
    });
    // It may have been too long to be read.
    if (answer.kind === "broken" && limit > 1) {
      limit = 1;
      continue;
    }
    const page = pageOf(needs, answer);
    if ("kind" in page) return page;
    listed.push(...page.listed);
    if (page.after === null || page.listed.length === 0) return sorted(listed);
    if (page.after === after || listed.length > TEMPLATES_MAX)
      return { kind: "failed", code: null, description: "The platform's list of templates has no end" };
    after = page.after;
    limit = PAGE;
  }
}

/** The next page is asked for by its mark alone: whatever address the platform names, the token goes where it was given for. */
function pageUrl(settings: WhatsappSettings, account: string, limit: number, after: string | null): string {
  const asked = new URLSearchParams({ fields: FIELDS, limit: String(limit), ...(after === null ? {} : { after }) });
  return `${apiUrl(settings, `${encodeURIComponent(account)}/message_templates`)}?${asked.toString()}`;
}

type Failed = Extract<PulledTemplates, { kind: "failed" }>;

function pageOf(
  { secrets }: PullNeeds,
  answer: Exchange,
): { listed: readonly unknown[]; after: string | null } | Failed {
  if (answer.kind !== "answered")
    return { kind: "failed", code: null, description: `The platform did not answer: ${hide(answer.reason, secrets)}` };
  const read = fieldsOf(jsonOf(answer.text));
  const code = wholeOf(fieldsOf(read["error"])["code"]);
  if (code !== null) return { kind: "failed", code: String(code), description: meaningOf(code).description };
  if (answer.status !== 200 || !Array.isArray(read["data"]))
    return {
      kind: "failed",
      code: `HTTP ${answer.status}`,
      description: "The platform answered with something else than a list of templates",
    };
  const { next, cursors } = fieldsOf(read["paging"]);
  const after = next === undefined ? null : wordsOf(fieldsOf(cursors)["after"]);
  return { listed: listOf(read["data"]), after };
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
