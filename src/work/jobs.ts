import { every, type Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { MessageRef } from "../model/message.ts";
import type { MessageStore, ParkedReceipt } from "../store/store.ts";
import { forgetInTurns, type ForgetNeeds } from "./forget.ts";
import type { Membership } from "./membership.ts";

const HOUR_MS = 3_600_000;
const IDEMPOTENCY_KEPT_MS = 24 * HOUR_MS;
const PARKED_KEPT_MS = 7 * 24 * HOUR_MS;
const PARKED_AT_ONCE = 500;
/** Within so long the answer to a submit has come, even where the store was away. */
const ANSWERED_WITHIN_MS = HOUR_MS;
/** Within so long nearly every answer has come, and a receipt that fits nothing by then is spelled in another way. */
const ANSWER_MS = 2000;

interface Job {
  name: string;
  pauseMs: number;
  run(): Promise<void>;
}

interface JobNeeds extends ForgetNeeds {
  store: MessageStore & ForgetNeeds["store"];
  membership: Membership;
  keyring: { refresh(): Promise<void>; saveUses(): Promise<void> };
  catalog: { refresh(): Promise<void>; saveLearned(): Promise<void> };
  /** What a node that calls customers back has to do besides. */
  telling: { claim(): Promise<void>; recover(): Promise<void> } | null;
  /** What a node that sends has to do besides. */
  sending: {
    claim(): Promise<void>;
    settleParked(ref: MessageRef, parked: readonly ParkedReceipt[]): Promise<void>;
    resendOverdue(): Promise<void>;
    failOver(): Promise<void>;
    settleCampaigns(): Promise<void>;
    takeUpVerifications(): Promise<void>;
    watchCountries(): Promise<void>;
    matchParked(parked: readonly ParkedReceipt[]): Promise<unknown>;
    receiveRests(): Promise<void>;
    divideLines(): void;
    keepTemplates(): Promise<void>;
  } | null;
  beatMs: number;
  figures: { flush(): Promise<void> };
}

/** Everything that happens later, by itself. */
export function listJobs(needs: JobNeeds): Job[] {
  const { store, membership, keyring, catalog, clock, sending, telling, beatMs, figures } = needs;
  const always: Job[] = [
    { name: "say that this node lives", pauseMs: beatMs, run: () => membership.beat() },
    { name: "learn of changed accounts and keys", pauseMs: 2000, run: () => keyring.refresh() },
    { name: "learn of changed templates, routes and their like", pauseMs: 2000, run: () => catalog.refresh() },
    { name: "write down what was learned from requests", pauseMs: 2000, run: () => catalog.saveLearned() },
    { name: "write down what was counted", pauseMs: 1000, run: () => figures.flush() },
    { name: "write down when keys were used", pauseMs: 30_000, run: () => keyring.saveUses() },
    {
      name: "forget old idempotency keys and receipts",
      pauseMs: 60_000,
      run: async () => {
        const now = clock.now();
        while ((await store.forget({ idempotency: now - IDEMPOTENCY_KEPT_MS, parked: now - PARKED_KEPT_MS })) > 0);
      },
    },
    { name: "erase old texts and remove old messages", pauseMs: 100, run: forgetInTurns(needs) },
  ];
  const forCallbacks: Job[] = telling
    ? [
        { name: "tell customers what waits to be told", pauseMs: 500, run: () => telling.claim() },
        { name: "take up callbacks that were lost on the way", pauseMs: 30_000, run: () => telling.recover() },
      ]
    : [];
  if (!sending) return [...always, ...forCallbacks];
  return [
    ...always,
    ...forCallbacks,
    { name: "claim what is due", pauseMs: 500, run: () => sending.claim() },
    { name: "carry campaigns through", pauseMs: 5000, run: () => sending.settleCampaigns() },
    {
      name: "bring codes by their next channel, tell what became of others",
      pauseMs: 500,
      run: () => sending.takeUpVerifications(),
    },
    {
      name: "watch in which countries codes are used",
      pauseMs: 300_000,
      run: () => sending.watchCountries(),
    },
    { name: "turn to the next route", pauseMs: 500, run: () => sending.failOver() },
    {
      name: "match receipts that came early",
      pauseMs: 5000,
      run: async () => {
        for (const parked of await store.parkedWithMessage(PARKED_AT_ONCE))
          await sending.settleParked(parked.ref, [parked]);
      },
    },
    {
      name: "match receipts that came early in another spelling",
      pauseMs: 3000,
      run: async () => {
        // Whoever has waited longer than any answer takes is looked at when somebody asks for it.
        const now = clock.now();
        const filter = { respelled: true, since: now - ANSWERED_WITHIN_MS };
        let after: number | null = null;
        do {
          const page = await store.listParked(filter, after, PARKED_AT_ONCE);
          await sending.matchParked(page.rows.filter(({ parkedAt }) => parkedAt <= now - ANSWER_MS));
          after = page.next;
        } while (after !== null);
      },
    },
    {
      name: "divide the lines to carriers among the nodes",
      pauseMs: 1000,
      run: async () => sending.divideLines(),
    },
    { name: "keep templates as their platforms have them", pauseMs: 900_000, run: () => sending.keepTemplates() },
    { name: "receive long texts that lack a part", pauseMs: 60_000, run: () => sending.receiveRests() },
    { name: "repeat simulated reports that were lost", pauseMs: 5000, run: () => sending.resendOverdue() },
  ];
}

/** Runs jobs until stopped. A job that fails is logged and has its next turn as usual. */
export function startJobs({ clock, log }: { clock: Clock; log: Log }, jobs: readonly Job[]): { stop(): Promise<void> } {
  const running = jobs.map((job) =>
    every(clock, job.pauseMs, () =>
      job.run().catch((error: unknown) => log.warn({ err: error, job: job.name }, "job failed")),
    ),
  );
  return {
    stop: async () => {
      await Promise.all(running.map((job) => job.stop()));
    },
  };
}
