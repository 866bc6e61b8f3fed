import { carriers } from "../../records/record-types.ts";
import { Type } from "../../lib/schema.ts";
import { readNumber } from "../../model/number.ts";
import { Problem } from "../../model/problem.ts";
import { keyedRoute, type AuthenticCall, type Services, type WithBody } from "../route.ts";
import { EXAMPLE_ID, find } from "./records.ts";

/** The platform's limit of one request. */
const NUMBERS_MAX = 10_000;
const NUMBER_RULE = "A number is international: a plus, the country code, 7 to 15 digits in all, like +919876543210.";

const ReachBody = Type.Object({
  botId: Type.String({ minLength: 1, maxLength: 100, description: "Bot that would send." }),
  numbers: Type.Array(
    Type.String({
      description: "An international number with plus.",
      error: NUMBER_RULE,
      check: (number) => (number.includes("+") && readNumber(number) !== null ? null : NUMBER_RULE),
    }),
    { minItems: 1, maxItems: NUMBERS_MAX, description: "Numbers of one region of the world." },
  ),
});

async function postReach(services: Services, call: WithBody<AuthenticCall, typeof ReachBody>): Promise<object> {
  const record = await find(carriers, services, call);
  const carrier = services.carriers.find(record.accountId, record.name);
  if (!carrier?.reach)
    throw new Problem("INVALID_REQUEST", {
      message: "This carrier cannot be asked which numbers it reaches: only RCS for Business can.",
    });
  const numbers = [...new Set(call.body.numbers.map((number) => readNumber(number) ?? ""))];
  const outcome = await carrier.reach(call.body.botId, numbers);
  if (outcome.kind === "failed")
    return { asked: numbers.length, reachable: null, code: outcome.code, description: outcome.description };
  const reachable = numbers.filter((number) => outcome.reachable.has(number)).map((number) => `+${number}`);
  return { asked: numbers.length, reachable, code: null, description: null };
}

/** Asks the platform of an RCS carrier about many numbers at once. */
export const reachOfCarrier = keyedRoute({
  method: "POST",
  path: "/api/carriers/:id/reach",
  family: "plain",
  scope: "manage",
  testKeys: null,
  role: "member",
  group: "Carriers",
  summary: "Check which numbers a carrier reaches",
  description:
    "Asks RCS for Business which of up to 10,000 numbers a bot reaches, without sending anything. All numbers must be of one region of the world, that of the carrier's `baseUrl`. A repeated number counts once.",
  params: { id: { meaning: "Carrier ID.", example: EXAMPLE_ID } },
  problems: ["RECORD_NOT_FOUND", "INVALID_REQUEST"],
  body: ReachBody,
  requestExamples: { "two numbers": { botId: "heliograph", numbers: ["+919876543210", "+919876543211"] } },
  response: Type.Object(
    {
      asked: Type.Integer({ description: "Number of different numbers in the request." }),
      reachable: Type.Union([Type.Array(Type.String()), Type.Null()], {
        description: "Those that the bot reaches, in the order of the request; null if the platform did not tell.",
      }),
      code: Type.Union([Type.String(), Type.Null()], {
        description: "The platform's error code; null if it gave none.",
      }),
      description: Type.Union([Type.String(), Type.Null()], {
        description: "Why the platform did not tell; null if it did.",
      }),
    },
    { title: "CarrierReach" },
  ),
  responseExample: { asked: 2, reachable: ["+919876543210"], code: null, description: null },
  handle: postReach,
});
