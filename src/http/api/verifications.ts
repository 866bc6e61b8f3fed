import { isUuid } from "../../lib/ids.ts";
import { Type } from "../../lib/schema.ts";
import { readNumber } from "../../model/number.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { DEFAULT_GUARD, owedOf } from "../../model/pumping.ts";
import {
  maskNumber,
  stateAt,
  VERIFICATION_STATES,
  type Verification,
  type VerificationState,
} from "../../model/verification.ts";
import type { StoredBlock, VerificationFilter } from "../../store/verify-store.ts";
import { alertsOf } from "../../verify/watch-countries.ts";
import { readLimit, readTime, refuseFaults } from "../page-query.ts";
import type { AuthenticCall, KeyedRoute } from "../route.ts";

const EXAMPLE_ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";
const common = { family: "plain", scope: "manage", group: "Verification" } as const;

/** A verification as its operator sees it: whose it is stays between the customer and the phone. */
const operatorView = (verification: Verification, now: number): object => {
  const state = stateAt(verification.state, verification.expiresAt, now);
  return {
    verifyId: verification.id,
    messageId: `${verification.id}:1`,
    configId: verification.config,
    to: maskNumber(verification.number),
    country: verification.country,
    state,
    attempts: verification.checks,
    attemptsMax: verification.checksMax,
    test: verification.test,
    createdAt: verification.createdAt,
    expiresAt: verification.expiresAt,
    doneAt: verification.doneAt ?? (state === "expired" ? verification.expiresAt : null),
  };
};

function readFilter(query: AuthenticCall["query"], faults: Fault[]): VerificationFilter {
  const state = VERIFICATION_STATES.find((known) => known === query.state);
  if (query.state !== undefined && !state)
    faults.push({ parameter: "state", message: `state is one of ${VERIFICATION_STATES.join(", ")}.` });
  const number = query.to === undefined ? undefined : readNumber(query.to.trim());
  if (number === null) faults.push({ parameter: "to", message: "to is an international phone number." });
  const from = readTime(query, "from", faults);
  const to = readTime(query, "until", faults);
  return {
    ...(state ? { state: state satisfies VerificationState } : {}),
    ...(number ? { number } : {}),
    ...(query.configId === undefined ? {} : { config: query.configId }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}

const VerificationView = Type.Object(
  {
    verifyId: Type.String({ description: "As in the answer to `POST /v1/verify`." }),
    messageId: Type.String({ description: "The message that brought the code first." }),
    configId: Type.String({ description: "Name of the configuration." }),
    to: Type.String({ description: "The phone number; only its last four digits are shown." }),
    country: Type.String({ description: "Two letters, or unknown." }),
    state: Type.Union(
      VERIFICATION_STATES.map((state) => Type.Literal(state)),
      { description: "Where it is." },
    ),
    attempts: Type.Integer({ description: "How often a code was tried." }),
    attemptsMax: Type.Integer({ description: "How often it may be." }),
    test: Type.Boolean({ description: "Sent with a test key, or to a test number." }),
    createdAt: Type.Integer({ description: "Epoch milliseconds." }),
    expiresAt: Type.Integer({ description: "Until when the code is good." }),
    doneAt: Type.Union([Type.Integer(), Type.Null()], { description: "When it came to its end." }),
  },
  { title: "OperatorVerification" },
);

export const listVerifications: KeyedRoute = {
  ...common,
  method: "GET",
  path: "/api/verifications",
  summary: "List verifications",
  description:
    "Newest first, with how many of today's and yesterday's codes (UTC) were used. A page can be short, even empty, and still have a `nextCursor` when a filter matches little.",
  query: {
    state: { meaning: `One of ${VERIFICATION_STATES.join(", ")}.`, example: "verified" },
    to: "A phone number.",
    configId: "Name of a configuration.",
    from: "Made at this time or later: epoch milliseconds or ISO 8601.",
    until: "Made before this time.",
    cursor: "The nextCursor of the page before.",
    limit: "1 to 200, 50 unless given.",
  },
  response: Type.Object({
    data: Type.Array(VerificationView, { description: "One page of verifications." }),
    conversion: Type.Object(
      {
        sends: Type.Integer({ description: "Codes that were sent." }),
        verified: Type.Integer({ description: "Codes among them that were used." }),
        percent: Type.Union([Type.Integer(), Type.Null()], { description: "Their share; null when none was sent." }),
      },
      { description: "Over today and yesterday." },
    ),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description: "The cursor of the next page; null on the last.",
    }),
  }),
  responseExample: {
    data: [
      {
        verifyId: EXAMPLE_ID,
        messageId: `${EXAMPLE_ID}:1`,
        configId: "default",
        to: "*******0100",
        country: "US",
        state: "verified",
        attempts: 1,
        attemptsMax: 5,
        test: false,
        createdAt: 1767225600000,
        expiresAt: 1767225900000,
        doneAt: 1767225621000,
      },
    ],
    conversion: { sends: 240, verified: 168, percent: 70 },
    nextCursor: null,
  },
  handle: async ({ store, clock }, { query, caller }) => {
    const faults: Fault[] = [];
    const limit = readLimit(query, faults);
    const filter = readFilter(query, faults);
    const { cursor = null } = query;
    if (cursor !== null && !isUuid(cursor))
      faults.push({ parameter: "cursor", message: "cursor is the nextCursor of an earlier answer." });
    refuseFaults(faults);
    const now = clock.now();
    const { id } = caller.account;
    const [{ rows, next }, { sends, verified }] = await Promise.all([
      store.listVerifications(id, filter, now, cursor, limit),
      store.countConversion(id, now),
    ]);
    const percent = sends === 0 ? null : Math.round((verified * 100) / sends);
    return {
      data: rows.map((row) => operatorView(row, now)),
      conversion: { sends, verified, percent },
      nextCursor: next,
    };
  },
};

const blockView = ({ prefix, blockedAt, until, strikes, sends, verified }: StoredBlock): object => ({
  prefix,
  blockedAt,
  until,
  strikes,
  sends,
  verified,
});

const BlockView = Type.Object(
  {
    prefix: Type.String({ description: "First digits of the numbers: all but the last four." }),
    blockedAt: Type.Integer({ description: "Epoch milliseconds." }),
    until: Type.Integer({ description: "When codes are sent there again." }),
    strikes: Type.Integer({ description: "How often it was blocked in a row." }),
    sends: Type.Integer({
      description: "Codes that were sent since the prefix owed nothing, or since its last block.",
    }),
    verified: Type.Integer({ description: "Codes among them that were used." }),
  },
  { title: "VerifyBlock" },
);

const AlertView = Type.Object(
  {
    country: Type.String({ description: "Two letters, or unknown." }),
    sent: Type.Integer({ description: "Codes within the last 24 hours." }),
    verified: Type.Integer({ description: "Codes among them that were used." }),
    conversion: Type.Integer({ description: "Their share in percent." }),
    usual: Type.Union([Type.Integer(), Type.Null()], {
      description: "The share in the seven days before; null when fewer than 50 codes were sent in them.",
    }),
    since: Type.Integer({ description: "The hour from which on most used codes are missing, in epoch milliseconds." }),
  },
  { title: "CountryAlert" },
);

const UsageView = Type.Object(
  {
    today: Type.Integer({ description: "Codes that the account has sent today (UTC); `sendsPerDay` is the most." }),
    countries: Type.Array(
      Type.Object({
        country: Type.String({ description: "Two letters, or unknown." }),
        owed: Type.Integer({
          description: "Codes of the last hour that are not paid for; `countryPerHour` is the most.",
        }),
      }),
      { description: "Countries that owe something, the most first." },
    ),
  },
  { title: "VerifyUsage", description: "What the other limits of `otpGuard` count now." },
);

const blockExample = {
  prefix: "1555010",
  blockedAt: 1767225600000,
  until: 1767268800000,
  strikes: 1,
  sends: 20,
  verified: 0,
};

export const listVerifyBlocks: KeyedRoute = {
  ...common,
  method: "GET",
  path: "/api/verify-blocks",
  summary: "List blocked prefixes",
  description:
    "Blocks of numbers that no codes are sent to for now, because too few were used; newest first. What it takes is the `otpGuard` of the account. " +
    "Beside them, countries to be looked at: of at least 50 codes in the last 24 hours fewer were used than `conversionPercent`, or well under what is usual there.",
  response: Type.Object({
    data: Type.Array(BlockView, { description: "Every block that stands." }),
    alerts: Type.Array(AlertView, { description: "Countries in which few codes are used. They are not blocked." }),
    usage: UsageView,
  }),
  responseExample: {
    data: [blockExample],
    alerts: [{ country: "UZ", sent: 240, verified: 31, conversion: 13, usual: 58, since: 1767214800000 }],
    usage: { today: 5120, countries: [{ country: "UZ", owed: 85 }] },
  },
  handle: async ({ store, clock }, { caller: { account } }) => {
    const now = clock.now();
    const [blocks, alerts, { today, countries }] = await Promise.all([
      store.listBlocks(account.id, now),
      alertsOf({ store, clock }, account),
      store.countTraffic(account.id, now),
    ]);
    const guard = account.settings.otpGuard ?? DEFAULT_GUARD;
    const owing = countries.map(({ country, ...counts }) => ({ country, owed: owedOf([counts], guard) }));
    return {
      data: blocks.map(blockView),
      alerts,
      usage: { today, countries: owing.filter(({ owed }) => owed > 0).toSorted((a, b) => b.owed - a.owed) },
    };
  },
};

export const liftVerifyBlock: KeyedRoute = {
  ...common,
  method: "DELETE",
  path: "/api/verify-blocks/:prefix",
  summary: "Lift a block",
  description:
    "Codes are sent to the prefix again at once, and what was sent there before no longer counts against it.",
  params: { prefix: { meaning: "As it is listed.", example: blockExample.prefix } },
  problems: ["RECORD_NOT_FOUND"],
  response: BlockView,
  responseExample: blockExample,
  handle: async ({ store, clock }, { params, caller }) => {
    const now = clock.now();
    const { prefix = "" } = params;
    const [block] = await store.listBlocks(caller.account.id, now, prefix);
    const lifted = block && (await store.liftBlock(caller.account.id, prefix, now));
    if (!block || !lifted) throw new Problem("RECORD_NOT_FOUND");
    return blockView(block);
  },
};
