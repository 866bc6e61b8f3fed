import { expect, test } from "vitest";
import type { PlatformAnswer } from "../../src/carriers/http-platform.ts";
import type { Carrier, OnReceipt, Outcome, StopTimeouts } from "../../src/carriers/carrier.ts";
import { openCarriers, shareOf, type LiveSettings, type OpenCarriers } from "../../src/carriers/open-carriers.ts";
import { newId } from "../../src/lib/ids.ts";
import { createLog } from "../../src/lib/log.ts";
import type { CarrierContent, CatalogRecord } from "../../src/model/catalog.ts";
import { SMPP_DEFAULTS, type SmppConnectionSettings } from "../../src/model/smpp-connection.ts";

/** A carrier whose stop the test controls. */
class FakeLine implements Carrier {
  readonly name: string;
  readonly live: LiveSettings;
  readonly host: string;
  readonly log: string[];
  readonly shares: number[] = [];
  onReceipt: OnReceipt | null = null;
  finish: () => void = () => {};
  patience: StopTimeouts | undefined;
  /** Present only for carriers with webhooks. */
  handleWebhook?: () => Promise<PlatformAnswer>;
  /** True if stop waits for `finish`. */
  isSlow = false;

  constructor(record: CatalogRecord<"carrier">, live: LiveSettings, log: string[]) {
    this.name = `${record.accountId}/${record.name}`;
    this.live = live;
    this.host = record.content.smpp?.host ?? "";
    this.log = log;
    if (this.host.startsWith("called")) this.handleWebhook = async () => ({ status: 200, text: "" });
  }
  get messagesPerSecond(): number | null {
    return this.live.messagesPerSecond();
  }
  isUp(): boolean {
    return this.onReceipt !== null;
  }
  submit(): Promise<Outcome> {
    return Promise.resolve({ kind: "down", description: "It is a fake" });
  }
  onShareChanged(): void {
    this.shares.push(this.live.share().connections);
  }
  async start(onReceipt: OnReceipt): Promise<void> {
    this.onReceipt = onReceipt;
    this.log.push(`${this.host} starts`);
  }
  async stop(patience?: StopTimeouts): Promise<void> {
    this.patience = patience;
    this.log.push(`${this.host} ends`);
    if (this.isSlow) await new Promise<void>((resolve) => (this.finish = resolve));
    this.onReceipt = null;
    this.log.push(`${this.host} ended`);
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const lineOf = (changes: Partial<SmppConnectionSettings>): SmppConnectionSettings => ({
  ...SMPP_DEFAULTS,
  host: "one",
  systemId: "shop",
  secrets: { password: "sealed", tlsKey: null },
  ...changes,
});

const record = (
  changes: Partial<SmppConnectionSettings> = {},
  messagesPerSecond: number | null = null,
): CatalogRecord<"carrier"> => ({
  accountId: 1,
  kind: "carrier",
  id: newId(0),
  name: "north",
  origin: "authored",
  content: { adapter: "smpp", messagesPerSecond, chaos: null, smpp: lineOf(changes) },
  createdAt: 0,
  updatedAt: 0,
});

interface Bench {
  carriers: OpenCarriers;
  made: FakeLine[];
  log: string[];
  /** Replaces the records. */
  become(...records: CatalogRecord<"carrier">[]): Promise<void>;
  nodeRank: { count: number; rank: number } | null;
}

function open(): Bench {
  let records: CatalogRecord<"carrier">[] = [];
  const log: string[] = [];
  const made: FakeLine[] = [];
  const simulated = { name: "simulator", messagesPerSecond: null, isUp: () => true };
  const simulator: Carrier = {
    ...simulated,
    submit: () => Promise.reject(new Error("nobody submits here")),
    start: async () => void log.push("simulator starts"),
    stop: async () => void log.push("simulator ended"),
  };
  const bench: Bench = {
    log,
    made,
    nodeRank: { count: 1, rank: 0 },
    carriers: openCarriers({
      simulator,
      records: () => records,
      create: (of, live) => {
        if (of.content.smpp?.host === "broken") throw new Error("it cannot be opened");
        const line = new FakeLine(of, live, log);
        made.push(line);
        return line;
      },
      nodeRank: () => bench.nodeRank,
      log: createLog("silent"),
    }),
    become: (...next) => {
      records = next;
      bench.carriers.refresh();
      return settled();
    },
  };
  return bench;
}

const take: OnReceipt = () => Promise.resolve();

test("present carriers start with start(), and later ones at once", async () => {
  const { carriers, become, log } = open();
  await become(record());
  expect(log).toEqual([]);
  await carriers.start(take, { sends: true });
  expect(log).toEqual(["simulator starts", "one starts"]);
  await become(record(), { ...record({ host: "two" }), name: "south" });
  expect(log.slice(2)).toEqual(["two starts"]);
  expect(carriers.find(1, "south")?.isUp()).toBe(true);
  expect(carriers.find(2, "south")).toBeNull();
  expect(carriers.find(2, "simulator")?.name).toBe("simulator");
});

test("a changed carrier replaces the old at once, and starts when the old has ended: one bind per contract", async () => {
  const { carriers, become, made, log } = open();
  await carriers.start(take, { sends: true });
  await become(record());
  const [old] = made;
  if (old) old.isSlow = true;
  await become(record({ host: "two" }));
  expect(carriers.find(1, "north")).toBe(made[1]);
  expect(log.slice(1)).toEqual(["one starts", "one ends"]);
  expect(old?.isUp(), "what is in flight on the old one is still heard of").toBe(true);
  old?.finish();
  await settled();
  expect(log.slice(3)).toEqual(["one ended", "two starts"]);
});

test("a carrier with webhooks starts also on nodes that do not send, and a changed one at once", async () => {
  const { carriers, become, made, log } = open();
  await carriers.start(take, { sends: false });
  await become(record({ host: "called" }), { ...record({ host: "bound" }), name: "south" });
  expect(log).toEqual(["called starts"]);
  if (made[0]) made[0].isSlow = true;
  const anew = record({ host: "called anew" });
  await become(anew, { ...record({ host: "bound" }), name: "south" });
  expect(log.slice(1)).toEqual(["called ends", "called anew starts"]);
  expect(carriers.byId(anew.id)).toBe(made[2]);
  expect(carriers.byId("no id")).toBeNull();
});

test("a carrier that is replaced while it waits never starts", async () => {
  const { carriers, become, made, log } = open();
  await carriers.start(take, { sends: true });
  await become(record());
  if (made[0]) made[0].isSlow = true;
  await become(record({ host: "two" }));
  await become(record({ host: "three" }));
  made[0]?.finish();
  await settled();
  await settled();
  expect(log.at(-1)).toBe("three starts");
  expect(log.filter((line) => line.endsWith("starts"))).toEqual(["simulator starts", "one starts", "three starts"]);
});

test("a new rate applies without replacing the carrier", async () => {
  const { carriers, become, made, log } = open();
  await carriers.start(take, { sends: true });
  await become(record({}, 100));
  expect(made[0]?.messagesPerSecond).toBe(100);
  await become(record({}, 40));
  expect(carriers.find(1, "north")).toBe(made[0]);
  expect(made[0]?.messagesPerSecond).toBe(40);
  expect(log).toEqual(["simulator starts", "one starts"]);
});

test("a re-encrypted password replaces the carrier", async () => {
  const { become, made } = open();
  await become(record());
  await become(record({ secrets: { password: "sealed again", tlsKey: null } }));
  expect(made).toHaveLength(2);
});

test("a removed carrier is stopped, and no longer found", async () => {
  const { carriers, become, log } = open();
  await carriers.start(take, { sends: true });
  await become(record());
  await become();
  expect(carriers.find(1, "north")).toBeNull();
  expect(log.slice(2)).toEqual(["one ends", "one ended"]);
});

test("a carrier that cannot be created is down, and the others are not affected", async () => {
  const { carriers, become } = open();
  await carriers.start(take, { sends: true });
  await become(record({ host: "broken" }), { ...record(), name: "south" });
  expect(carriers.find(1, "north")?.isUp()).toBe(false);
  expect(await carriers.find(1, "north")?.submit({} as never)).toMatchObject({ kind: "down" });
  expect(carriers.find(1, "south")?.isUp()).toBe(true);
});

test("stop waits for all carriers, also those already stopping, then for the simulator", async () => {
  const { carriers, become, made, log } = open();
  await carriers.start(take, { sends: true });
  await become(record());
  if (made[0]) made[0].isSlow = true;
  await become();
  let isOver = false;
  const over = carriers.stop().then(() => (isOver = true));
  await settled();
  expect(isOver).toBe(false);
  made[0]?.finish();
  await over;
  expect(log.slice(-2)).toEqual(["one ended", "simulator ended"]);
  await become(record());
  expect(made, "what changes after the end opens nothing").toHaveLength(1);
});

test("beginStop stops all carriers once with short time-outs, while the simulator continues", async () => {
  const { carriers, become, made, log } = open();
  await carriers.start(take, { sends: true });
  await become(record());
  if (made[0]) made[0].isSlow = true;
  carriers.beginStop();
  await settled();
  expect(log.slice(-1)).toEqual(["one ends"]);
  expect(made[0]?.patience).toEqual({ drainMs: 4000, unbindMs: 1000 });
  const over = carriers.stop();
  await settled();
  made[0]?.finish();
  await over;
  expect(log.slice(-3)).toEqual(["one ends", "one ended", "simulator ended"]);
});

test("carriers are notified only when their share changes", async () => {
  const bench = open();
  const { carriers, become, made } = bench;
  await carriers.start(take, { sends: true });
  await become(record({ connections: 3 }));
  expect(made[0]?.live.share()).toEqual({ connections: 3 });
  carriers.updateShares();
  expect(made[0]?.shares).toEqual([]);
  bench.nodeRank = { count: 2, rank: 1 };
  carriers.updateShares();
  carriers.updateShares();
  bench.nodeRank = null;
  carriers.updateShares();
  bench.nodeRank = { count: 1, rank: 0 };
  carriers.updateShares();
  expect(made[0]?.shares).toEqual([1, 0, 3]);
});

test("every bind belongs to one node, for any number of nodes", () => {
  for (const connections of [1, 2, 3, 7, 10])
    for (const count of [1, 2, 3, 4, 11]) {
      const content: CarrierContent = {
        adapter: "smpp",
        messagesPerSecond: 60,
        chaos: null,
        smpp: lineOf({ connections }),
      };
      const shares = Array.from({ length: count }, (_, rank) => shareOf(content, { count, rank }));
      const binds = shares.map((share) => share.connections);
      expect(binds.reduce((sum, each) => sum + each)).toBe(connections);
      expect(Math.max(...binds) - Math.min(...binds)).toBeLessThanOrEqual(1);
    }
  const simulated: CarrierContent = { adapter: "simulator", messagesPerSecond: null, chaos: null };
  expect(shareOf(simulated, { count: 2, rank: 0 })).toEqual({ connections: 0 });
});
