import { Type } from "../../lib/schema.ts";
import { isCode } from "../../links/code.ts";
import { parseTargetId, targetIdOf, type ClickCounts } from "../../model/link.ts";
import { messageIdOf } from "../../model/message.ts";
import { Problem, refuseFaults, type Fault } from "../../model/problem.ts";
import type { CountedLink, CountedTarget, LinkChoice } from "../../store/links.ts";
import { readLimit, readTime } from "../pagination.ts";
import { choiceParameter, pageParameters, timeParameter } from "../parameters.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import { visibleTo } from "../auth/test-mode.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Length of a bucket and default time range. */
const BUCKETS = {
  hour: { bucketMs: HOUR_MS, usualMs: 2 * DAY_MS },
  day: { bucketMs: DAY_MS, usualMs: 30 * DAY_MS },
};
const BUCKETS_MAX = 1000;

async function getList({ store }: Services, { query, caller }: AuthenticCall): Promise<object> {
  const faults: Fault[] = [];
  const limit = readLimit(query, faults);
  const after = query.cursor === undefined ? null : parseTargetId(query.cursor);
  if (query.cursor !== undefined && !after)
    faults.push({ parameter: "cursor", message: "cursor is the nextCursor of an earlier response." });
  refuseFaults(faults);
  const { rows, next } = await store.listLinkTargets(caller.account.id, after, limit);
  const visible = await visibleTo(store, caller, rows, ({ requestId }) => requestId);
  return { data: visible.map(targetView), nextCursor: next && targetIdOf(next) };
}

async function getOne(services: Services, { params, query, caller }: AuthenticCall): Promise<object> {
  const span = readSpan(services, query);
  const choice = choiceOf(params.id ?? "");
  const found = choice && (await find(services, caller, choice));
  if (!found) throw new Problem("RECORD_NOT_FOUND");
  const { buckets, complete } = await services.store.clicksOverTime(caller.account.id, choice, span);
  return {
    ...found.view,
    complete: found.complete && complete,
    from: span.from,
    to: span.to,
    bucket: span.bucket,
    buckets: buckets.map(({ at, clicks }) => ({ at, clicks: clicksView(clicks) })),
  };
}

/** A target id has a colon and a link code has none, so they cannot be confused. */
const choiceOf = (id: string): LinkChoice | null => (isCode(id) ? { code: id } : parseTargetId(id));

const isLink = (found: CountedTarget | CountedLink): found is CountedLink => "code" in found;

async function find(
  { store, shortLinkBase }: Services,
  caller: AuthenticCall["caller"],
  choice: LinkChoice,
): Promise<{ view: object; complete: boolean } | null> {
  const accountId = caller.account.id;
  const found =
    "code" in choice
      ? await store.findLink(accountId, choice.code)
      : await store.findLinkTarget(accountId, choice.requestId, choice.k);
  if (!found || (await visibleTo(store, caller, [found], ({ requestId }) => requestId)).length === 0) return null;
  return { view: isLink(found) ? linkView(found, shortLinkBase()) : targetView(found), complete: found.complete };
}

function readSpan({ clock }: Services, query: AuthenticCall["query"]) {
  const faults: Fault[] = [];
  const { bucket = "day" } = query;
  const known = bucket === "hour" || bucket === "day" ? bucket : null;
  if (known === null) faults.push({ parameter: "bucket", message: "bucket must be hour or day." });
  const { bucketMs, usualMs } = BUCKETS[known ?? "day"];
  // Includes the current millisecond.
  const to = readTime(query, "to", faults) ?? clock.now() + 1;
  const from = readTime(query, "from", faults) ?? to - usualMs;
  if (faults.length === 0 && from >= to) faults.push({ parameter: "from", message: "from must be before to." });
  if (faults.length === 0 && to - from > BUCKETS_MAX * bucketMs)
    faults.push({ parameter: "from", message: `from must be at most ${BUCKETS_MAX} ${bucket}s before to.` });
  refuseFaults(faults);
  return { from, to, bucket: known ?? "day", bucketMs };
}

const clicksView = ({ person, preview, bot }: ClickCounts): object => ({ person, preview, bot });

function targetView(target: CountedTarget): object {
  const { url, createdAt, expiresAt, recipients, recipientsClicked, clicks, complete } = target;
  return {
    id: targetIdOf(target),
    url,
    shortUrl: null,
    messageId: null,
    createdAt,
    expiresAt,
    recipients,
    recipientsClicked,
    clicks: clicksView(clicks),
    complete,
  };
}

/** View of one recipient's link, with counts for this recipient only. */
const linkView = (link: CountedLink, base: string): object => ({
  ...targetView(link),
  id: link.code,
  shortUrl: `${base}/${link.code}`,
  messageId: messageIdOf(link),
});

const nullableString = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const Clicks = Type.Object(
  {
    person: Type.Integer({ description: "Clicks by people." }),
    preview: Type.Integer({ description: "Requests by link previews of messengers and mail programs." }),
    bot: Type.Integer({ description: "Requests by other bots." }),
  },
  { title: "Clicks", description: "Clicks by kind of visitor." },
);

const fields = {
  id: Type.String({ description: "`<id>:<k>` of a target, or the code of one recipient's link." }),
  url: Type.String({ description: "Target URL." }),
  shortUrl: nullableString("Short URL of one recipient; null for a target."),
  messageId: nullableString("Message that contains the link; null for a target."),
  createdAt: Type.Integer({ description: "Time at which the message was accepted, in epoch milliseconds." }),
  expiresAt: Type.Integer({ description: "Expiry of the link, in epoch milliseconds." }),
  recipients: Type.Integer({ description: "Number of recipients with a link to it." }),
  recipientsClicked: Type.Integer({ description: "Number of recipients who clicked." }),
  clicks: Clicks,
  complete: Type.Boolean({ description: "False if there are more clicks than one response counts." }),
};

const LinkView = Type.Object(fields, { title: "Link" });

const LinkDetailView = Type.Object(
  {
    ...fields,
    from: Type.Integer({ description: "Start of the time range, in epoch milliseconds." }),
    to: Type.Integer({ description: "End of the time range, exclusive." }),
    bucket: Type.Union([Type.Literal("hour"), Type.Literal("day")], { description: "Length of a bucket." }),
    buckets: Type.Array(
      Type.Object({
        at: Type.Integer({ description: "Start of the bucket (UTC), in epoch milliseconds." }),
        clicks: Clicks,
      }),
      { description: "Clicks in the time range, oldest first. Buckets without clicks are omitted." },
    ),
  },
  { title: "LinkDetail" },
);

const example = {
  id: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1",
  url: "https://shop.example/orders/4711",
  shortUrl: null,
  messageId: null,
  createdAt: 1767225600000,
  expiresAt: 1775001600000,
  recipients: 1000,
  recipientsClicked: 214,
  clicks: { person: 260, preview: 731, bot: 12 },
  complete: true,
};

const common = { method: "GET", family: "plain", scope: "read", testKeys: "read", group: "Short links" } as const;

export const listLinks: KeyedRoute = {
  ...common,
  path: "/api/links",
  summary: "List short-link targets",
  description:
    "Lists the target URLs of all requests with short links, newest first, with click counts. A page may be short and still have a `nextCursor`; continue until it is null.",
  query: pageParameters(example.id),
  response: Type.Object({
    data: Type.Array(LinkView, { description: "Targets on this page." }),
    nextCursor: nullableString("Cursor of the next page; null on the last page."),
  }),
  responseExample: { data: [example], nextCursor: null },
  handle: getList,
};

export const getLink: KeyedRoute = {
  ...common,
  path: "/api/links/:id",
  summary: "Get clicks over time",
  description: "Returns the clicks on a target, or on one recipient's link, per hour or day.",
  params: { id: { meaning: "`<id>:<k>` of a target, or the code at the end of a short link.", example: example.id } },
  query: {
    from: timeParameter(
      "Start of the time range: epoch milliseconds or ISO 8601. Defaults to 30 days (bucket day) or 48 hours (bucket hour) before `to`.",
    ),
    to: timeParameter("End of the time range, exclusive. Defaults to now.", "end"),
    bucket: { ...choiceParameter(["hour", "day"], "hour or day. Defaults to day."), example: "day" },
  },
  problems: ["RECORD_NOT_FOUND"],
  response: LinkDetailView,
  responseExample: {
    ...example,
    from: 1767225600000,
    to: 1769817600000,
    bucket: "day",
    buckets: [{ at: 1767225600000, clicks: { person: 260, preview: 731, bot: 12 } }],
  },
  handle: getOne,
};
