import { isUuid } from "../../lib/ids.ts";
import { Type } from "../../lib/schema.ts";
import { readNumber } from "../../model/number.ts";
import { Problem, refuseFaults, type Fault } from "../../model/problem.ts";
import { DEFAULT_GUARD, owedOf } from "../../model/pumping.ts";
import {
  maskNumber,
  stateAt,
  VERIFICATION_STATES,
  SOURCE_NAME,
  type SourcedVerification,
  type VerificationState,
} from "../../model/verification.ts";
import type { StoredBlock, VerificationFilter } from "../../store/verifications.ts";
import { alertsOf } from "../../otp/watch-countries.ts";
import { readLimit, readTime } from "../pagination.ts";
import { choiceParameter, pageParameters, phoneParameter, textParameter, timeParameter } from "../parameters.ts";
import { SOURCE_FIELDS, sourceView } from "../verification-source.ts";
import type { AuthenticCall, KeyedRoute } from "../route.ts";
import { seesTestsOnly } from "../auth/test-mode.ts";

const EXAMPLE_ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";
const common = { family: "plain", scope: "manage", testKeys: "read", group: "Verification" } as const;

/** Verification view for operators: only the last digits of the number. */
const operatorView = (verification: SourcedVerification, now: number): object => {
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
    ...sourceView(verification),
  };
};

function readFilter(query: AuthenticCall["query"], faults: Fault[]): VerificationFilter {
  const state = VERIFICATION_STATES.find((known) => known === query.state);
  if (query.state !== undefined && !state)
    faults.push({ parameter: "state", message: `state must be one of ${VERIFICATION_STATES.join(", ")}.` });
  const number = query.to === undefined ? undefined : readNumber(query.to.trim());
  if (number === null) faults.push({ parameter: "to", message: "to must be an international phone number." });
  if (query.source !== undefined && !SOURCE_NAME.test(query.source))
    faults.push({
      parameter: "source",
      message: "source is the name of a product in small letters, such as supabase.",
    });
  const from = readTime(query, "from", faults);
  const to = readTime(query, "until", faults);
  return {
    ...(state ? { state: state satisfies VerificationState } : {}),
    ...(number ? { number } : {}),
    ...(query.configId === undefined ? {} : { config: query.configId }),
    ...(query.source === undefined ? {} : { source: query.source }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}

const VerificationView = Type.Object(
  {
    verifyId: Type.String({ description: "Verification ID as in the response to `POST /v1/verify`." }),
    messageId: Type.String({ description: "First message that contained the code." }),
    configId: Type.String({ description: "Name of the verification configuration." }),
    to: Type.String({ description: "Phone number; only the last four digits are shown." }),
    country: Type.String({ description: "Two-letter country code, or unknown." }),
    state: Type.Union(
      VERIFICATION_STATES.map((state) => Type.Literal(state)),
      { description: "State of the verification." },
    ),
    attempts: Type.Integer({ description: "Number of attempts." }),
    attemptsMax: Type.Integer({ description: "Maximum number of attempts." }),
    test: Type.Boolean({ description: "True if sent with a test key or to a test number." }),
    createdAt: Type.Integer({ description: "Epoch milliseconds." }),
    expiresAt: Type.Integer({ description: "Expiry of the code, in epoch milliseconds." }),
    doneAt: Type.Union([Type.Integer(), Type.Null()], {
      description: "Time at which it ended, in epoch milliseconds.",
    }),
    ...SOURCE_FIELDS,
  },
  { title: "OperatorVerification" },
);

export const listVerifications: KeyedRoute = {
  ...common,
  method: "GET",
  path: "/api/verifications",
  summary: "List verifications",
  description:
    "Lists verifications, newest first, with the conversion of today's and yesterday's codes (UTC). A filtered page may be short and still have a `nextCursor`.",
  query: {
    state: { ...choiceParameter(VERIFICATION_STATES, "Filter by state."), example: "verified" },
    to: phoneParameter("Phone number."),
    configId: textParameter("Name of a verification configuration.", "default"),
    source: textParameter("Product that made the code.", "supabase"),
    from: timeParameter("Created at or after this time: epoch milliseconds or ISO 8601."),
    until: timeParameter("Created before this time.", "end"),
    ...pageParameters("0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47"),
  },
  response: Type.Object({
    data: Type.Array(VerificationView, { description: "Verifications on this page." }),
    conversion: Type.Object(
      {
        sends: Type.Integer({ description: "Codes sent." }),
        verified: Type.Integer({ description: "Codes verified." }),
        percent: Type.Union([Type.Integer(), Type.Null()], {
          description: "Share of verified codes in percent; null if none was sent.",
        }),
      },
      { description: "Conversion of today and yesterday." },
    ),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description: "Cursor of the next page; null on the last page.",
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
        source: "supabase",
        deliverOnly: true,
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
    const view = { ...filter, ...(seesTestsOnly(caller) && { mode: caller.key.mode }) };
    const [{ rows, next }, { sends, verified }] = await Promise.all([
      store.listVerifications(id, view, now, cursor, limit),
      store.countConversion(id, now, caller.key.mode),
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
    until: Type.Integer({ description: "End of the block, in epoch milliseconds." }),
    strikes: Type.Integer({ description: "Number of consecutive blocks." }),
    sends: Type.Integer({
      description: "Codes sent since the prefix last owed nothing, or since its last block.",
    }),
    verified: Type.Integer({ description: "Codes verified." }),
  },
  { title: "VerifyBlock" },
);

const AlertView = Type.Object(
  {
    country: Type.String({ description: "Two-letter country code, or unknown." }),
    sent: Type.Integer({ description: "Codes sent in the last 24 hours." }),
    verified: Type.Integer({ description: "Codes verified." }),
    conversion: Type.Integer({ description: "Share of verified codes in percent." }),
    usual: Type.Union([Type.Integer(), Type.Null()], {
      description: "Share in the seven days before; null if fewer than 50 codes were sent.",
    }),
    since: Type.Integer({ description: "Hour since which most verifications are missing, in epoch milliseconds." }),
  },
  { title: "CountryAlert" },
);

const UsageView = Type.Object(
  {
    today: Type.Integer({ description: "Codes sent by the account today (UTC); limited by `sendsPerDay`." }),
    countries: Type.Array(
      Type.Object({
        country: Type.String({ description: "Two-letter country code, or unknown." }),
        owed: Type.Integer({
          description: "Unverified codes of the last hour that count against `countryPerHour`.",
        }),
      }),
      { description: "Countries with unverified codes, highest first." },
    ),
  },
  { title: "VerifyUsage", description: "Current usage of the other limits in `otpGuard`." },
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
  testKeys: null,
  method: "GET",
  path: "/api/verify-blocks",
  summary: "List blocked prefixes",
  description:
    "Lists number prefixes that receive no codes for now because too few were verified, newest first. The account setting `otpGuard` has the limits. " +
    "Also lists countries with low conversion: of at least 50 codes in the last 24 hours, a smaller share was verified than `conversionPercent`, or far less than usual.",
  response: Type.Object({
    data: Type.Array(BlockView, { description: "Active blocks." }),
    alerts: Type.Array(AlertView, { description: "Countries with low conversion. They are not blocked." }),
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
  testKeys: null,
  method: "DELETE",
  path: "/api/verify-blocks/:prefix",
  summary: "Delete a block",
  description: "Allows codes to the prefix again at once. Earlier sends no longer count against it.",
  params: { prefix: { meaning: "Prefix as in the list.", example: blockExample.prefix } },
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
