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
  "settings" | "secrets" | "wayOut" | "clock"
>;

const SECOND_MS = 1000;
/** Answers are read up to 64 KB: most pages of the first size are shorter, and a single template may have several KB. */
const PAGES = [50, 10, 1] as const;
/** For the whole list: a platform that takes longer for it is not waited for, because others are behind it. */
const LIST_SECONDS = 60;
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
  const endsAt = needs.clock.monotonic() + LIST_SECONDS * SECOND_MS;
  let size = 0;
  let after: string | null = null;
  for (;;) {
    const leftMs = endsAt - needs.clock.monotonic();
    if (leftMs <= 0) return TOO_SLOW;
    const limit = PAGES[size] ?? 1;
    const answer = await exchange(needs.wayOut, needs.clock, {
      method: "GET",
      url: pageUrl(settings, settings.businessAccountId, limit, after),
      headers: proofOf(settings, needs.secrets),
      body: null,
      limitMs: Math.min(settings.responseSeconds * SECOND_MS, leftMs),
    });
    // It may have been too long to be read.
    if (answer.kind === "broken" && limit > 1) {
      size += 1;
      continue;
    }
    if (answer.kind !== "answered" && needs.clock.monotonic() >= endsAt) return TOO_SLOW;
    const page = pageOf(needs, answer);
    if ("kind" in page) return page;
    listed.push(...page.listed);
    if (page.after === null || page.listed.length === 0) return sorted(listed);
    if (page.after === after || listed.length > TEMPLATES_MAX)
      return { kind: "failed", code: null, description: "The platform's list of templates has no end" };
    after = page.after;
    // Alone went the one that was too long for a page of ten; where fifty were too much, they mostly are again.
    size = Math.min(size, 1);
  }
}

/** The next page is asked for by its mark alone: whatever address the platform names, the token goes where it was given for. */
function pageUrl(settings: WhatsappSettings, account: string, limit: number, after: string | null): string {
  const asked = new URLSearchParams({ fields: FIELDS, limit: String(limit), ...(after === null ? {} : { after }) });
  return `${apiUrl(settings, `${encodeURIComponent(account)}/message_templates`)}?${asked.toString()}`;
}

type Failed = Extract<PulledTemplates, { kind: "failed" }>;

const TOO_SLOW: Failed = {
  kind: "failed",
  code: null,
  description: `The platform did not list its templates within ${LIST_SECONDS} s`,
};

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
