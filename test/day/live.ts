import type { RouteClass } from "../../src/model/message.ts";
import type { Chaos } from "../../src/model/phone.ts";
import type { Random } from "../torture/random.ts";
import type { MovedClockServer } from "../support/moved-clock-server.ts";
import { begin, Diary, end, isWithin } from "./diary.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

export const QUIET_HOURS = { from: "21:00", to: "10:00" };
export const VALIDITY_MS: Record<RouteClass, number> = {
  OTP: 5 * MINUTE_MS,
  TRANS: 10 * HOUR_MS,
  PROMO: 4 * HOUR_MS,
};

/**
 * Number prefixes with one time zone and with several: Delhi, London, New York, Los Angeles, Honolulu, São Paulo,
 * Sydney, Tokyo, Russia.
 */
const AREAS = ["9198765", "4477009", "1212555", "1310555", "1808555", "5511987", "6141234", "8190123", "7912345"];
const SCRIPTED = ["9001", "9002", "9003", "9004", "9005", "9006", "9007", "9008"];
const LENGTHS: Record<string, number> = { "91": 12, "44": 12, "55": 13, "61": 11, "81": 12 };

const BAD: Partial<Chaos> = {
  deliveredPercent: 80,
  delayMs: 3000,
  duplicatePercent: 20,
  reorderPercent: 20,
  throttledPercent: 15,
  lostAnswerPercent: 8,
  refusedPercent: 10,
};
const FAIR: Partial<Chaos> = { deliveredPercent: 96, delayMs: 800, duplicatePercent: 5, lostAnswerPercent: 2 };

interface Plan {
  random: Random;
  /** Number of time blocks with traffic. */
  blocks: number;
  blockMs: number;
  /** Maximum number of requests per block. */
  requestsMax: number;
}

/** Configures two carriers with failover, prices, quiet hours and metered credits. */
export async function configureDay(server: MovedClockServer): Promise<void> {
  const ok = async (method: string, path: string, body: object): Promise<void> => {
    const { status, body: answer } = await server.request(method, path, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`);
  };
  const sameText = { max: 1000, windowSeconds: 1 };
  await ok("PATCH", "/api/account", { limits: "everywhere", credits: "metered", sameText });
  await ok("POST", "/api/carriers", { name: "north", chaos: BAD });
  await ok("POST", "/api/carriers", { name: "south", chaos: FAIR, messagesPerSecond: 30 });
  const quiet = { quietHours: QUIET_HOURS };
  await ok("POST", "/api/routes", { name: "North", carrier: "north", priority: 1, failoverAfterSeconds: 60, ...quiet });
  await ok("POST", "/api/routes", { name: "South", carrier: "south", priority: 2, failoverAfterSeconds: 90, ...quiet });
  const { body } = await server.request<{ data: { id: string; name: string }[] }>("GET", "/api/routes?limit=10");
  const first = body.data.find(({ name }) => name === "Everything to the simulator");
  await ok("PATCH", `/api/routes/${first?.id}`, { enabled: false });
  await ok("POST", "/api/prices", { name: "India", routeClass: null, prefix: "91", creditsPerSegment: 3 });
}

/** Simulates the day: sends, schedules, pauses, opts out and advances the clock. Returns the record of all actions. */
export async function simulateDay(server: MovedClockServer, plan: Plan): Promise<Diary> {
  const { random, blocks, blockMs, requestsMax } = plan;
  const diary = new Diary();
  const numbers = phoneBook(random);
  for (let block = 0; block < blocks; block += 1) {
    if (block % 16 === 12) await changeCarrier(server, "north", { down: true });
    if (block % 16 === 14) await changeCarrier(server, "north", { down: false });
    if (block % 8 === 0) await topUp(server, diary, requestsMax * 13);
    await changeCampaigns(server, random, diary);
    await changeOptOuts(server, random, diary, numbers);
    const requests = random.between(0, requestsMax);
    await Promise.all(Array.from({ length: requests }, () => send(server, random, diary, numbers)));
    await advanceClock(server, blockMs);
  }
  for (const name of diary.pauses.keys())
    if (isWithin(diary.pauses.get(name))) await change(server, diary, name, "resume");
  return diary;
}

/** Small steps first, while carriers acknowledge and report, then one long step. */
async function advanceClock(server: MovedClockServer, blockMs: number): Promise<void> {
  const endsAt = server.clock.now() + blockMs;
  await server.settle();
  for (const stepMs of [1000, 10_000, 60_000]) await server.travel(stepMs);
  await server.travelTo(Math.max(server.clock.now(), endsAt));
}

function phoneBook(random: Random): string[] {
  return AREAS.flatMap((area) => {
    const length = LENGTHS[area.slice(0, 2)] ?? 11;
    const digits = length - area.length;
    const plain = Array.from(
      { length: 12 },
      () => area + String(random.between(0, 10 ** digits - 1)).padStart(digits, "0"),
    );
    const scripted = area.padEnd(length - 4, "0") + random.pick(SCRIPTED);
    return [...plain.filter((number) => !SCRIPTED.includes(number.slice(-4))), scripted];
  });
}

async function topUp(server: MovedClockServer, diary: Diary, amount: number): Promise<void> {
  const { status } = await server.asOwner("POST", "/api/credits", { amount, note: "for the next hours" });
  if (status < 300) diary.toppedUp += amount;
}

async function changeCarrier(server: MovedClockServer, name: string, chaos: Partial<Chaos>): Promise<void> {
  const { body } = await server.request<{ data: { id: string }[] }>("GET", `/api/carriers?name=${name}`);
  await server.request("PATCH", `/api/carriers/${body.data[0]?.id}`, { chaos });
}

const CAMPAIGNS = ["spring", "summer", "autumn", "winter", "harvest", "carnival"];

async function changeCampaigns(server: MovedClockServer, random: Random, diary: Diary): Promise<void> {
  for (const name of CAMPAIGNS) {
    if (diary.cancelled.has(name)) continue;
    if (isWithin(diary.pauses.get(name))) {
      if (random.chance(0.2)) await change(server, diary, name, "resume");
    } else if (random.chance(0.06)) await change(server, diary, name, "pause");
    else if (diary.cancelled.size < 2 && random.chance(0.006)) await change(server, diary, name, "cancel");
  }
}

async function change(
  server: MovedClockServer,
  diary: Diary,
  name: string,
  verb: "pause" | "resume" | "cancel",
): Promise<void> {
  const { body } = await server.request<{ data: { id: string; name: string }[] }>("GET", "/api/campaigns");
  const campaign = body.data.find((each) => each.name === name);
  if (!campaign) return;
  const { status } = await server.request("POST", `/api/campaigns/${campaign.id}/${verb}`);
  if (status !== 200) throw new Error(`${verb} ${name}: ${status}`);
  const at = server.clock.now();
  if (verb === "pause") begin(diary.pauses, name, at);
  else end(diary.pauses, name, at);
  if (verb === "cancel") diary.cancelled.set(name, at);
}

async function changeOptOuts(
  server: MovedClockServer,
  random: Random,
  diary: Diary,
  numbers: readonly string[],
): Promise<void> {
  if (!random.chance(0.7)) return;
  const number = random.pick(numbers);
  const isOut = isWithin(diary.optOuts.get(number));
  const text = isOut ? "START" : "Stop.";
  const { status } = await server.request("POST", `/api/simulator/phones/${number}/reply`, { to: "HELIOG", text });
  if (status !== 200) throw new Error(`reply: ${status}`);
  if (isOut) end(diary.optOuts, number, server.clock.now());
  else begin(diary.optOuts, number, server.clock.now());
}

async function send(server: MovedClockServer, random: Random, diary: Diary, numbers: readonly string[]): Promise<void> {
  const type = random.pick(["OTP", "TRANS", "PROMO", "PROMO"] as const);
  const requestedAt = server.clock.now();
  const sendAt = random.chance(0.2) ? requestedAt + random.between(1, 8 * HOUR_MS) : null;
  const campaign = type !== "OTP" && random.chance(0.6) ? random.pick(CAMPAIGNS) : null;
  const count = type === "PROMO" && random.chance(0.3) ? random.between(2, 12) : 1;
  const to = [...new Set(Array.from({ length: count }, () => random.pick(numbers)))];
  const { status, body } = await server.send({
    type,
    to,
    text: random.chance(0.1) ? "A longer text, in two parts. ".repeat(7) : `Text ${random.between(1, 1_000_000)}`,
    ...(sendAt === null ? {} : { sendAt }),
    ...(campaign === null ? {} : { campaignName: campaign }),
  });
  if (status !== 200) return diary.refuse(body.error?.code ?? String(status));
  for (const { messageId, recipient } of body.data)
    diary.sent.set(messageId, { to: recipient, type, campaign, requestedAt, sendAt });
}
