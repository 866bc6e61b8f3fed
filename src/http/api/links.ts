import { Type } from "../../lib/schema.ts";
import { isCode } from "../../links/code.ts";
import { parseTargetId, targetIdOf, type ClickCounts } from "../../model/link.ts";
import { messageIdOf } from "../../model/message.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import type { CountedLink, CountedTarget, LinkChoice } from "../../store/link-store.ts";
import { readLimit, readTime, refuseFaults } from "../page-query.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** How long a bucket is, and how far back an answer goes unless told. */
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
    faults.push({ parameter: "cursor", message: "cursor is the nextCursor of an earlier answer." });
  refuseFaults(faults);
  const { rows, next } = await store.listLinkTargets(caller.account.id, after, limit);
  return { data: rows.map(targetView), nextCursor: next && targetIdOf(next) };
}

async function getOne(services: Services, { params, query, caller }: AuthenticCall): Promise<object> {
  const span = readSpan(services, query);
  const choice = choiceOf(params.id ?? "");
  const found = choice && (await find(services, caller.account.id, choice));
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

/** A code has no colon and an id of a target has one, so neither can be taken for the other. */
const choiceOf = (id: string): LinkChoice | null => (isCode(id) ? { code: id } : parseTargetId(id));

async function find(
  { store, shortLinkBase }: Services,
  accountId: number,
  choice: LinkChoice,
): Promise<{ view: object; complete: boolean } | null> {
  if ("code" in choice) {
    const link = await store.findLink(accountId, choice.code);
    return link && { view: linkView(link, shortLinkBase()), complete: link.complete };
  }
  const target = await store.findLinkTarget(accountId, choice.requestId, choice.k);
  return target && { view: targetView(target), complete: target.complete };
}

function readSpan({ clock }: Services, query: AuthenticCall["query"]) {
  const faults: Fault[] = [];
  const { bucket = "day" } = query;
  const known = bucket === "hour" || bucket === "day" ? bucket : null;
  if (known === null) faults.push({ parameter: "bucket", message: "bucket is hour or day." });
  const { bucketMs, usualMs } = BUCKETS[known ?? "day"];
  // The present moment belongs to it.
  const to = readTime(query, "to", faults) ?? clock.now() + 1;
  const from = readTime(query, "from", faults) ?? to - usualMs;
  if (faults.length === 0 && from >= to) faults.push({ parameter: "from", message: "from lies before to." });
  if (faults.length === 0 && to - from > BUCKETS_MAX * bucketMs)
    faults.push({ parameter: "from", message: `from lies at most ${BUCKETS_MAX} ${bucket}s before to.` });
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

/** One recipient's link: as its target, seen for this recipient only. */
const linkView = (link: CountedLink, base: string): object => ({
  ...targetView(link),
  id: link.code,
  shortUrl: `${base}/${link.code}`,
  messageId: messageIdOf(link),
});

const nullableString = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const Clicks = Type.Object(
  {
    person: Type.Integer({ description: "By people." }),
    preview: Type.Integer({ description: "By messengers and mail programs that show what is behind a link." }),
    bot: Type.Integer({ description: "By every other program." }),
  },
  { title: "Clicks", description: "How often it was followed, by who did." },
);

const fields = {
  id: Type.String({ description: "`<id>:<k>` of a target, or the code of one recipient's link." }),
  url: Type.String({ description: "Where it leads." }),
  shortUrl: nullableString("The link as it stands in the text, of one recipient's link; null of a target."),
  messageId: nullableString("The message it stands in, of one recipient's link; null of a target."),
  createdAt: Type.Integer({ description: "When the message was accepted, in epoch milliseconds." }),
  expiresAt: Type.Integer({ description: "When it stops leading anywhere." }),
  recipients: Type.Integer({ description: "How many recipients have a link to it." }),
  recipientsClicked: Type.Integer({ description: "How many of them have followed theirs." }),
  clicks: Clicks,
  complete: Type.Boolean({ description: "False when there are more clicks than are counted in one answer." }),
};

const LinkView = Type.Object(fields, { title: "Link" });

const LinkDetailView = Type.Object(
  {
    ...fields,
    from: Type.Integer({ description: "The span that is shown begins here, in epoch milliseconds." }),
    to: Type.Integer({ description: "And ends before this." }),
    bucket: Type.Union([Type.Literal("hour"), Type.Literal("day")], { description: "How long a bucket is." }),
    buckets: Type.Array(
      Type.Object({
        at: Type.Integer({ description: "When it begins, in UTC; epoch milliseconds." }),
        clicks: Clicks,
      }),
      { description: "The clicks of the span, oldest first. Hours or days without any are left out." },
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

const common = { method: "GET", family: "plain", scope: "read", group: "Short links" } as const;

export const listLinks: KeyedRoute = {
  ...common,
  path: "/api/links",
  summary: "List shortened addresses",
  description:
    "The targets of all requests with short links, newest first, with who followed them. A page can be short and still have a `nextCursor`: go on until it is null.",
  query: {
    cursor: "The nextCursor of the page before.",
    limit: { meaning: "1 to 200, 50 unless given.", example: "20" },
  },
  response: Type.Object({
    data: Type.Array(LinkView, { description: "One page of targets." }),
    nextCursor: nullableString("The cursor of the next page; null on the last."),
  }),
  responseExample: { data: [example], nextCursor: null },
  handle: getList,
};

export const getLink: KeyedRoute = {
  ...common,
  path: "/api/links/:id",
  summary: "Read clicks over time",
  description: "Who followed the links to a target, or the link of one recipient, by hours or by days.",
  params: { id: { meaning: "`<id>:<k>` of a target, or the code at the end of a short link.", example: example.id } },
  query: {
    from: "From this time on: epoch milliseconds or ISO 8601. Unless given, 30 days or 48 hours before `to`.",
    to: "Before this time; now unless given.",
    bucket: { meaning: "hour or day; day unless given.", example: "day" },
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
