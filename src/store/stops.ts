import type { CampaignContent } from "../model/catalog.ts";
import type { Engine } from "./engine.ts";
import { optOutTable } from "./opt-outs.ts";

/** The keys of a possible stop of a message; null where one does not apply. */
export interface StopQuestion {
  accountId: number;
  /** The recipient of a promotion. */
  number: string | null;
  campaignName: string | null;
  /** Sent with a test key: test traffic has a separate opt-out list. */
  test: boolean;
}

export interface Stop {
  optedOut: boolean;
  /** Null when the campaign does not exist. */
  campaign: CampaignContent["status"] | null;
}

/** Opt-outs and stopped campaigns, as committed now. */
export interface StopStore {
  findStops(batch: readonly StopQuestion[]): Promise<readonly Stop[]>;
}

export function createStopQueries({ db, isAmong }: Engine): StopStore {
  const optedOut = async (accountId: number, numbers: readonly string[], test: boolean): Promise<Set<string>> => {
    if (numbers.length === 0) return new Set();
    const rows = db.selectFrom(optOutTable({ test })).select("number").where("account_id", "=", accountId);
    return new Set((await rows.where(isAmong("number", numbers)).execute()).map(({ number }) => number));
  };
  const statuses = async (
    accountId: number,
    names: readonly string[],
  ): Promise<Map<string, CampaignContent["status"]>> => {
    if (names.length === 0) return new Map();
    const rows = db.selectFrom("catalog").select(["name", "content"]).where("account_id", "=", accountId);
    const found = await rows.where("kind", "=", "campaign").where(isAmong("name", names)).execute();
    return new Map(found.map(({ name, content }) => [name, (JSON.parse(content) as CampaignContent).status]));
  };
  return {
    async findStops(batch) {
      const found = new Map<number, Awaited<ReturnType<typeof ofAccount>>>();
      async function ofAccount(accountId: number, asked: typeof batch) {
        const numbersOf = (test: boolean): string[] =>
          asked.flatMap(({ number, test: ofTest }) => (ofTest === test ? (number ?? []) : []));
        const names = new Set(asked.flatMap(({ campaignName }) => campaignName ?? []));
        const [live, test] = [
          await optedOut(accountId, numbersOf(false), false),
          await optedOut(accountId, numbersOf(true), true),
        ];
        return { live, test, campaigns: await statuses(accountId, [...names]) };
      }
      for (const [accountId, asked] of Map.groupBy(batch, (each) => each.accountId))
        found.set(accountId, await ofAccount(accountId, asked));
      return batch.map(({ accountId, number, campaignName, test }) => {
        const stops = found.get(accountId);
        const list = test ? stops?.test : stops?.live;
        return {
          optedOut: number !== null && list?.has(number) === true,
          campaign: campaignName === null ? null : (stops?.campaigns.get(campaignName) ?? null),
        };
      });
    },
  };
}
