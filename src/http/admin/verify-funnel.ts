import { nullable, Type } from "../../lib/schema.ts";
import { refuseFaults, type Fault } from "../../model/problem.ts";
import { DAY_MS } from "../../model/verification.ts";
import { readTime } from "../pagination.ts";
import { timeParameter } from "../parameters.ts";
import type { KeyedRoute } from "../route.ts";
import { seesTestsOnly } from "../auth/test-mode.ts";

const USUAL_SPAN_MS = 7 * DAY_MS;

const counts = {
  sent: Type.Integer({ description: "Codes sent." }),
  delivered: Type.Integer({ description: "Codes delivered, by the first channel or a later one." }),
  tried: Type.Integer({ description: "Codes for which at least one attempt was made." }),
  verified: Type.Integer({ description: "Codes verified." }),
};

export const getVerifyFunnel: KeyedRoute = {
  method: "GET",
  path: "/api/verify-funnel",
  family: "plain",
  scope: "manage",
  testKeys: "read",
  group: "Verification",
  summary: "Get the verification funnel",
  description:
    "Counts how far codes came, from sent to verified, by country and by the channel that was tried first. Defaults to the last seven days. Counts at most the newest 20,000 verifications of the span.",
  query: {
    from: timeParameter("Codes sent at or after this time: epoch milliseconds or ISO 8601."),
    to: timeParameter("Codes sent before this time.", "end"),
  },
  response: Type.Object({
    from: Type.Integer({ description: "Begin of the span, in epoch milliseconds." }),
    to: Type.Integer({ description: "End of the span, in epoch milliseconds." }),
    complete: Type.Boolean({ description: "False if the span has more verifications than were counted." }),
    totals: Type.Object(counts, { description: "All countries and channels together." }),
    data: Type.Array(
      Type.Object({
        country: Type.String({ description: "Two-letter country code, or unknown." }),
        channel: nullable(Type.String(), "Channel that was tried first; null if its message is no longer kept."),
        ...counts,
      }),
      { description: "By country and channel, most codes first." },
    ),
  }),
  responseExample: {
    from: 1767225600000,
    to: 1767830400000,
    complete: true,
    totals: { sent: 240, delivered: 231, tried: 190, verified: 168 },
    data: [{ country: "IN", channel: "sms", sent: 240, delivered: 231, tried: 190, verified: 168 }],
  },
  handle: async ({ store, clock }, { query, caller }) => {
    const faults: Fault[] = [];
    const given = { from: readTime(query, "from", faults), to: readTime(query, "to", faults) };
    refuseFaults(faults);
    // Codes of this very millisecond count too.
    const to = given.to ?? clock.now() + 1;
    const from = given.from ?? to - USUAL_SPAN_MS;
    const mode = seesTestsOnly(caller) ? { mode: caller.key.mode } : {};
    const { steps, complete } = await store.countFunnel(caller.account.id, { from, to, ...mode });
    const total = (step: keyof typeof counts): number => steps.reduce((sum, each) => sum + each[step], 0);
    const totals = {
      sent: total("sent"),
      delivered: total("delivered"),
      tried: total("tried"),
      verified: total("verified"),
    };
    return { from, to, complete, totals, data: steps };
  },
};
