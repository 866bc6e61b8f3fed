import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { STATES, type State } from "../../src/model/message.ts";
import type { Acceptance } from "../../src/store/store.ts";
import { acceptance, NOON } from "../support/acceptances.ts";
import { ENGINES, openStore, type OpenStore } from "../support/engines.ts";
import { testSeed } from "../support/repetitions.ts";
import { transitionTo, type TransitionFields } from "../support/transitions.ts";
import { seededRandom, type Random } from "../torture/random.ts";

const CAMPAIGNS = ["spring", "sümmer 'sale'", null] as const;
const ACCOUNTS = [1, 2];
const STEPS = 120;

interface Sent extends Pick<Acceptance["message"], "accountId" | "requestId" | "campaignName" | "routeClass"> {
  recipients: readonly string[];
}

describe.each(ENGINES)("message counts of campaigns on %s", (engine) => {
  let opened: OpenStore;
  beforeEach(async () => {
    opened = await openStore(engine);
    for (const id of ACCOUNTS)
      await opened.execute(`insert into balances (account_id, balance, held) values (${id}, 1000000, 0)
        on conflict (account_id) do update set balance = 1000000`);
  });
  afterEach(() => opened.discard());

  async function recount(): Promise<string[]> {
    const rows = (await opened.execute(`select account_id, campaign_name, state, count(*) as messages from messages
      where campaign_name is not null group by account_id, campaign_name, state`)) as Record<
      "account_id" | "campaign_name" | "state" | "messages",
      string
    >[];
    return rows.map((row) => `${row.account_id} ${row.campaign_name} ${row.state} ${row.messages}`).toSorted();
  }

  async function kept(): Promise<string[]> {
    const names = CAMPAIGNS.filter((name) => name !== null);
    const lines: string[] = [];
    for (const accountId of ACCOUNTS)
      for (const [name, states] of await opened.store.countCampaigns(accountId, names))
        for (const [state, count] of Object.entries(states)) lines.push(`${accountId} ${name} ${state} ${count}`);
    return lines.toSorted();
  }

  function newRequest(random: Random): Acceptance {
    const recipients = Array.from({ length: random.pick([1, 1, 2, 30]) }, (_, index) => `3361234${1000 + index}`);
    const created = acceptance({
      accountId: random.pick(ACCOUNTS),
      campaignName: random.pick(CAMPAIGNS),
      routeClass: random.pick(["TRANS", "PROMO"]),
      metered: random.chance(0.2),
      to: recipients,
      createdAt: NOON,
      dueAt: NOON + (random.chance(0.2) ? 1000 : 0),
      ...(random.chance(0.2) ? { carrier: "1/north" } : {}),
      idempotency: random.chance(0.2)
        ? { path: "/v1/sms", key: `key ${random.between(1, 4)}`, bodyHash: "hash", response: "{}" }
        : null,
    });
    if (!random.chance(0.3)) return created;
    const ownChanges = created.recipients.map((recipient) =>
      random.chance(0.3)
        ? { ...recipient, failure: "INVALID_RECIPIENT" as const }
        : { ...recipient, dueAt: NOON + random.pick([0, 500]) },
    );
    return { ...created, recipients: ownChanges };
  }

  /** Neighbouring recipients, so that intents form runs. */
  function movesOf(
    random: Random,
    { accountId, requestId, campaignName, routeClass, recipients }: Sent,
  ): TransitionFields[] {
    const first = random.between(1, recipients.length);
    const last = random.between(first, recipients.length);
    const to = random.pick(["submitting", "submitting", "submitted", "submitted", "delivered", ...STATES] as State[]);
    const isExpecting = random.chance(0.7);
    return Array.from({ length: last - first + 1 }, (_, index) => ({
      accountId,
      requestId,
      n: first + index,
      to,
      at: NOON + 10,
      owner: 1,
      carrier: "1/north",
      timeline: "step\n",
      errorCode: null,
      description: null,
      ...(to === "submitting" ? { attempt: true, ownedBy: 1, attemptIs: random.between(0, 1) } : {}),
      ...(to === "submitting" && random.chance(0.5) ? { unlessStopped: true as const } : {}),
      ...(to === "submitted" ? { carrierMessageId: newId(NOON), channelIs: "sms" as const } : {}),
      ...(to === "scheduled" ? { dueAt: NOON + 2000 } : {}),
      ...(to === "delivered" ? { timelineAlways: true } : {}),
      ...(isExpecting && ["submitting", "submitted", "delivered"].includes(to)
        ? {
            expected: { channel: "sms", routeClass, recipient: recipients[first + index - 1] ?? "", campaignName },
            snapshot: { sender: "HELIO", credits: 1, createdAt: NOON },
          }
        : {}),
    }));
  }

  it("equal a recount after any sequence of sends, transitions and deletions", async () => {
    const seed = testSeed(process.env["CAMPAIGN_SEED"]);
    const random = seededRandom(seed);
    const sent: Sent[] = [];
    let steps = 0;
    const act = async (): Promise<void> => {
      const choice = random.next();
      if (choice < 0.35 || sent.length === 0) {
        const batch = Array.from({ length: random.between(1, 4) }, () => newRequest(random));
        const results = await opened.store.accept(batch);
        for (const [index, { message, recipients }] of batch.entries())
          if (!(results[index] instanceof Error))
            sent.push({ ...message, recipients: recipients.map(({ number }) => number) });
      } else if (choice < 0.95) {
        const batch = Array.from({ length: random.between(1, 4) }, () => movesOf(random, random.pick(sent))).flat();
        // A row that cannot be written fails alone, in a second run of the batch.
        if (random.chance(0.1))
          batch.push(...movesOf(random, random.pick(sent)).map((move) => ({ ...move, at: Number.NaN })));
        await opened.store.transition(batch.map(transitionTo));
      } else if (choice < 0.98) {
        await opened.store.deleteExpired(
          "messages",
          { accountId: random.pick(ACCOUNTS), before: NOON + 60_000_000 },
          [],
          random.between(1, 50),
        );
      } else await opened.store.foldCampaignCounts();
    };
    while (steps < STEPS) {
      const together = random.between(1, 3);
      await Promise.all(Array.from({ length: together }, act));
      steps += together;
      expect({ seed, steps, counts: await kept() }).toEqual({ seed, steps, counts: await recount() });
    }
    expect((await recount()).length).toBeGreaterThan(4);
    await opened.store.foldCampaignCounts();
    expect(await kept()).toEqual(await recount());
  });

  it("are removed by retention once their messages are gone", async () => {
    const newer = acceptance({
      campaignName: "spring",
      createdAt: NOON + 9_000_000,
      requestId: newId(NOON + 9_000_000),
    });
    await opened.store.accept([acceptance({ campaignName: "trial", test: true, createdAt: NOON }), newer]);
    await opened.execute(`update messages set state = 'delivered', done_at = ${NOON} where campaign_name = 'trial'`);
    await opened.execute("update campaign_counts set state = 'delivered' where campaign_name = 'trial'");
    if (engine === "postgres")
      await opened.execute("update campaign_count_changes set state = 'delivered' where campaign_name = 'trial'");
    const names = async (): Promise<unknown[]> => {
      await opened.store.foldCampaignCounts();
      const rows = (await opened.execute("select distinct campaign_name from campaign_counts order by 1")) as { campaign_name: string }[]; // prettier-ignore
      return rows.map(({ campaign_name }) => campaign_name);
    };
    expect(await names()).toEqual(["spring", "trial"]);
    const cutoff = { accountId: 1, before: NOON + 8_000_000 };
    await opened.store.deleteExpired("messages", cutoff, [], 100);
    expect(await names()).toEqual(["spring", "trial"]);
    await opened.store.deleteExpired("campaignCounts", cutoff, [], 100);
    expect(await names()).toEqual(["spring"]);
  });

  it("are read without a message", async () => {
    await opened.store.accept([acceptance({ campaignName: "spring", to: ["33612345678", "33612345679"] })]);
    await opened.execute("delete from messages");
    expect(await opened.store.countCampaigns(1, ["spring", "autumn"])).toEqual(
      new Map([
        ["spring", { accepted: 2 }],
        ["autumn", {}],
      ]),
    );
    expect(await opened.store.countCampaigns(2, ["spring"])).toEqual(new Map([["spring", {}]]));
  });
});
