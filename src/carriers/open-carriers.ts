import { isDeepStrictEqual } from "node:util";
import type { Log } from "../lib/log.ts";
import { carrierKey, lineIn, SIMULATOR, type CarrierContent, type CatalogRecord } from "../model/catalog.ts";
import type { CalledCarriers, Carrier, OnReceipt, Patience } from "./carrier.ts";
import type { LineShare } from "./smpp/needs.ts";

type CarrierRecord = CatalogRecord<"carrier">;

interface Needs {
  /** The carrier that is always there. */
  simulator: Carrier;
  /** The records as they are now. */
  records(): readonly CarrierRecord[];
  /** Makes the line of a record. */
  create(record: CarrierRecord, live: LiveLine): Carrier;
  /** How many nodes share the lines, and which of them this is; null while it has no share in them. */
  place(): Place | null;
  log: Log;
}

interface Place {
  count: number;
  rank: number;
}

/** What of a line may change without a new one being made. */
export interface LiveLine {
  messagesPerSecond(): number | null;
  share(): LineShare;
}

interface Line {
  record: CarrierRecord;
  carrier: Carrier;
  isStarted: boolean;
  isEnding: boolean;
  /** Settles once the line in whose place it came has ended and it has been started itself. */
  begun: Promise<void>;
  /** What it was last told. */
  share: LineShare;
}

/** The lines that the accounts have. */
export interface OpenCarriers extends CalledCarriers {
  /** Makes the lines what the records say: new ones begin, changed ones take the place of the old, and what is gone ends. */
  refresh(): void;
  /**
   * Begins to hand over receipts, on all lines that there are and will be. A node that does not send begins only what
   * platforms call back: which node hears of it, nobody chooses.
   */
  start(onReceipt: OnReceipt, options: { sends: boolean }): Promise<void>;
  /** Tells the lines whose share has changed, because nodes came or went. */
  divide(): void;
  /** Begins to end all of them, in haste, and opens no more: what is sent from now on waits for the next start. */
  beginStop(): void;
  /** Ends all of them, and then the simulator; by then nothing more is sent. */
  stop(): Promise<void>;
}

/** Whoever ends a process waits a few seconds for it; a carrier that was not unbound refuses the next bind. */
const HASTE: Patience = { drainMs: 4000, unbindMs: 1000 };

/** Opens the lines of all accounts and keeps them as their records are, without losing what is in flight on the old ones. */
export function openCarriers({ simulator, records, create, place, log }: Needs): OpenCarriers {
  const lines = new Map<string, Line>();
  /** Lines that take nothing more, until their last answers have come. */
  const ending = new Set<Promise<void>>();
  let onReceipt: OnReceipt | null = null;
  let isSending = false;
  let isStopped = false;

  function open(key: string, record: CarrierRecord, after: Promise<void>): void {
    const now = (): CarrierContent => (lines.get(key)?.record ?? record).content;
    const live: LiveLine = {
      messagesPerSecond: () => now().messagesPerSecond,
      share: () => shareOf(now(), place()),
    };
    const line: Line = {
      record,
      carrier: made(key, record, live),
      isStarted: false,
      isEnding: false,
      begun: after,
      share: shareOf(record.content, place()),
    };
    // Two lines for one contract would be a bind too many, so the next begins when the last has ended. Whoever is called
    // back binds nothing, and is called with the new signatures from now on.
    line.begun = (line.carrier.called ? Promise.resolve() : after).then(() => begin(line));
    lines.set(key, line);
  }

  function made(key: string, record: CarrierRecord, live: LiveLine): Carrier {
    try {
      return create(record, live);
    } catch (error) {
      log.error({ err: error, carrier: key }, "carrier could not be opened");
      return closedLine(key);
    }
  }

  async function begin(line: Line): Promise<void> {
    if (!onReceipt || line.isStarted || line.isEnding) return;
    if (!isSending && !line.carrier.called) return;
    line.isStarted = true;
    try {
      await line.carrier.start(onReceipt);
    } catch (error) {
      log.error({ err: error, carrier: line.carrier.name }, "carrier did not start");
    }
  }

  function end(line: Line, patience?: Patience): Promise<void> {
    const { carrier, begun } = line;
    line.isEnding = true;
    const ended = begun
      .then(() => carrier.stop(patience))
      .catch((error: unknown) => log.warn({ err: error, carrier: carrier.name }, "carrier did not end in order"))
      .finally(() => ending.delete(ended));
    ending.add(ended);
    return ended;
  }

  function beginStop(): void {
    isStopped = true;
    onReceipt = null;
    for (const line of lines.values()) if (!line.isEnding) void end(line, HASTE);
  }

  return {
    find: (accountId, name) =>
      name === SIMULATOR ? simulator : (lines.get(carrierKey(accountId, name))?.carrier ?? null),

    refresh() {
      if (isStopped) return;
      const wanted = new Map(records().map((record) => [carrierKey(record.accountId, record.name), record]));
      for (const [key, line] of lines) {
        if (wanted.has(key)) continue;
        lines.delete(key);
        void end(line);
      }
      for (const [key, record] of wanted) {
        const line = lines.get(key);
        if (line && isSameLine(line.record.content, record.content)) line.record = record;
        else open(key, record, line ? end(line) : Promise.resolve());
      }
    },

    byId(id) {
      for (const { record, carrier } of lines.values()) if (record.id === id) return carrier;
      return null;
    },

    async start(take, { sends }) {
      onReceipt = take;
      isSending = sends;
      if (sends) await simulator.start(take);
      await Promise.all([...lines.values()].map((line) => line.begun.then(() => begin(line))));
    },

    divide() {
      for (const line of lines.values()) {
        const share = shareOf(line.record.content, place());
        if (isDeepStrictEqual(share, line.share)) continue;
        line.share = share;
        line.carrier.onShare?.();
      }
    },

    beginStop,

    async stop() {
      beginStop();
      await Promise.all(ending);
      await simulator.stop();
    },
  };
}

/** Whether a changed record is still the same line: another speed is only told to it. */
function isSameLine(before: CarrierContent, after: CarrierContent): boolean {
  const isReal = before.adapter !== "simulator" && before.adapter === after.adapter;
  return isDeepStrictEqual(isReal ? lineIn(before) : before, isReal ? lineIn(after) : after);
}

/** What of a line is a node's. Binds cannot be halved, so the first nodes have those that are left over. */
export function shareOf({ smpp }: CarrierContent, place: Place | null): LineShare {
  if (!place) return { connections: 0 };
  const count = Math.max(1, place.count);
  const all = smpp?.connections ?? 0;
  return { connections: Math.floor(all / count) + (place.rank < all % count ? 1 : 0) };
}

/** What stands for a line that could not be opened: messages wait, or take another route. */
const closedLine = (name: string): Carrier => ({
  name,
  messagesPerSecond: null,
  isUp: () => false,
  submit: async () => ({ kind: "down", description: "The line could not be opened" }),
  start: () => Promise.resolve(),
  stop: () => Promise.resolve(),
});
