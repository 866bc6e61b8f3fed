import { isDeepStrictEqual } from "node:util";
import type { Log } from "../lib/log.ts";
import { carrierKey, connectionIn, SIMULATOR, type CarrierContent, type CatalogRecord } from "../model/catalog.ts";
import type { WebhookCarriers, Carrier, OnReceipt, StopTimeouts } from "./carrier.ts";
import type { ConnectionShare } from "./smpp/deps.ts";

type CarrierRecord = CatalogRecord<"carrier">;

interface OpenCarriersDeps {
  /** Always open. */
  simulator: Carrier;
  /** Current carrier records. */
  records(): readonly CarrierRecord[];
  /** Creates the carrier of a record. */
  create(record: CarrierRecord, live: LiveSettings): Carrier;
  /** Number of nodes that share the connections, and this node's rank; null while this node has no share. */
  nodeRank(): NodeRank | null;
  log: Log;
}

interface NodeRank {
  count: number;
  rank: number;
}

/** Settings that can change without reopening the connection. */
export interface LiveSettings {
  messagesPerSecond(): number | null;
  share(): ConnectionShare;
}

interface OpenCarrier {
  record: CarrierRecord;
  carrier: Carrier;
  isStarted: boolean;
  isStopping: boolean;
  /** Resolves once the replaced connection has ended and this one has started. */
  started: Promise<void>;
  /** Last share that was reported to the carrier. */
  share: ConnectionShare;
}

/** The open carriers of all accounts. */
export interface OpenCarriers extends WebhookCarriers {
  /** Carriers of all accounts, without the simulator and those that are being closed. */
  list(): readonly Carrier[];
  /** Opens, replaces and closes carriers until they match the records. */
  refresh(): void;
  /**
   * Starts all present and future carriers. A node that does not send starts only carriers with webhooks, because a load
   * balancer may send a webhook to any node.
   */
  start(onReceipt: OnReceipt, options: { sends: boolean }): Promise<void>;
  /** Reports changed shares to the carriers, after nodes have joined or left. */
  updateShares(): void;
  /**
   * Starts to close all carriers with short time-outs and opens no more. Messages sent from now on wait for the next start.
   */
  beginStop(): void;
  /** Closes all carriers, then the simulator. */
  stop(): Promise<void>;
}

/**
 * Process managers wait only a few seconds before they kill, and an SMSC refuses the next bind if the last was not unbound.
 */
const SHUTDOWN_TIMEOUTS: StopTimeouts = { drainMs: 4000, unbindMs: 1000 };

/** Keeps the carriers of all accounts in step with their records, without losing messages in flight on replaced ones. */
export function openCarriers({ simulator, records, create, nodeRank, log }: OpenCarriersDeps): OpenCarriers {
  const carriers = new Map<string, OpenCarrier>();
  /** Carriers that wait for their last responses. */
  const stopping = new Set<Promise<void>>();
  let onReceipt: OnReceipt | null = null;
  let isSending = false;
  let isStopped = false;

  function open(key: string, record: CarrierRecord, after: Promise<void>): void {
    const now = (): CarrierContent => (carriers.get(key)?.record ?? record).content;
    const live: LiveSettings = {
      messagesPerSecond: () => now().messagesPerSecond,
      share: () => shareOf(now(), nodeRank()),
    };
    const opened: OpenCarrier = {
      record,
      carrier: createSafely(key, record, live),
      isStarted: false,
      isStopping: false,
      started: after,
      share: shareOf(record.content, nodeRank()),
    };
    // An old and a new bind together would exceed the contracted number, so a new connection starts after the old one has
    // ended. Carriers with webhooks have no binds, and must verify signatures with the new secrets at once.
    opened.started = (opened.carrier.handleWebhook ? Promise.resolve() : after).then(() => startCarrier(opened));
    carriers.set(key, opened);
  }

  function createSafely(key: string, record: CarrierRecord, live: LiveSettings): Carrier {
    try {
      return create(record, live);
    } catch (error) {
      log.error({ err: error, carrier: key }, "carrier not opened");
      return unavailableCarrier(key);
    }
  }

  async function startCarrier(opened: OpenCarrier): Promise<void> {
    if (!onReceipt || opened.isStarted || opened.isStopping) return;
    if (!isSending && !opened.carrier.handleWebhook) return;
    opened.isStarted = true;
    try {
      await opened.carrier.start(onReceipt);
    } catch (error) {
      log.error({ err: error, carrier: opened.carrier.name }, "carrier not started");
    }
  }

  function stopCarrier(opened: OpenCarrier, timeouts?: StopTimeouts): Promise<void> {
    const { carrier, started } = opened;
    opened.isStopping = true;
    const stopped = started
      .then(() => carrier.stop(timeouts))
      .catch((error: unknown) => log.warn({ err: error, carrier: carrier.name }, "carrier not stopped cleanly"))
      .finally(() => stopping.delete(stopped));
    stopping.add(stopped);
    return stopped;
  }

  function beginStop(): void {
    isStopped = true;
    onReceipt = null;
    for (const opened of carriers.values()) if (!opened.isStopping) void stopCarrier(opened, SHUTDOWN_TIMEOUTS);
  }

  return {
    list: () => [...carriers.values()].flatMap(({ carrier, isStopping }) => (isStopping ? [] : [carrier])),

    find: (accountId, name) =>
      name === SIMULATOR ? simulator : (carriers.get(carrierKey(accountId, name))?.carrier ?? null),

    refresh() {
      if (isStopped) return;
      const wanted = new Map(records().map((record) => [carrierKey(record.accountId, record.name), record]));
      for (const [key, opened] of carriers) {
        if (wanted.has(key)) continue;
        carriers.delete(key);
        void stopCarrier(opened);
      }
      for (const [key, record] of wanted) {
        const opened = carriers.get(key);
        if (opened && isSameConnection(opened.record.content, record.content)) opened.record = record;
        else open(key, record, opened ? stopCarrier(opened) : Promise.resolve());
      }
    },

    byId(id) {
      for (const { record, carrier } of carriers.values()) if (record.id === id) return carrier;
      return null;
    },

    async start(handler, { sends }) {
      onReceipt = handler;
      isSending = sends;
      if (sends) await simulator.start(handler);
      await Promise.all([...carriers.values()].map((opened) => opened.started.then(() => startCarrier(opened))));
    },

    updateShares() {
      for (const opened of carriers.values()) {
        const share = shareOf(opened.record.content, nodeRank());
        if (isDeepStrictEqual(share, opened.share)) continue;
        opened.share = share;
        opened.carrier.onShareChanged?.();
      }
    },

    beginStop,

    async stop() {
      beginStop();
      await Promise.all(stopping);
      await simulator.stop();
    },
  };
}

/** True if only settings changed that apply without reopening, such as the rate. */
function isSameConnection(before: CarrierContent, after: CarrierContent): boolean {
  const isReal = before.adapter !== "simulator" && before.adapter === after.adapter;
  return isDeepStrictEqual(isReal ? connectionIn(before) : before, isReal ? connectionIn(after) : after);
}

/** This node's share of the binds. The remainder goes to the nodes of lowest rank. */
export function shareOf({ smpp }: CarrierContent, nodeRank: NodeRank | null): ConnectionShare {
  if (!nodeRank) return { connections: 0 };
  const count = Math.max(1, nodeRank.count);
  const all = smpp?.connections ?? 0;
  return { connections: Math.floor(all / count) + (nodeRank.rank < all % count ? 1 : 0) };
}

/** Stands for a carrier that could not be created: its messages wait or use another route. */
const unavailableCarrier = (name: string): Carrier => ({
  name,
  messagesPerSecond: null,
  isUp: () => false,
  submit: async () => ({ kind: "down", description: "The line could not be opened" }),
  start: () => Promise.resolve(),
  stop: () => Promise.resolve(),
});
