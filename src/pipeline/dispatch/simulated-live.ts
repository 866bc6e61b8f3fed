import type { AccountCatalog, Catalog } from "../../records/catalog.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { PathMap } from "../../lib/path-map.ts";
import type { CatalogRecord } from "../../model/catalog.ts";
import { CHANNELS, type Channel, type Message } from "../../model/message.ts";
import type { Warning } from "../../model/warning.ts";

interface SimulatedLiveDeps {
  catalog: Catalog;
  clock: Clock;
  log: Log;
}

/** The warning lasts this long after the last message. */
const WARN_MS = 3_600_000;

/**
 * Warns while live messages go to a simulated carrier in an account with a real one: callers see "Delivered", and no phone gets
 * anything. A route with `simulateLive` causes the warning while it is enabled. A channel without a real carrier causes it once
 * a message was sent.
 */
export class SimulatedLive {
  readonly #deps: SimulatedLiveDeps;
  /** Routes with `simulateLive` that are in force, by id. */
  #inForce: ReadonlySet<string> = new Set();
  /** Monotonic time of the last message, by account, route and channel. */
  readonly #seenAt = new PathMap<number>();

  constructor(deps: SimulatedLiveDeps) {
    this.#deps = deps;
  }

  /** Looks at the records after a change, and logs each route that has come into force. */
  refresh(): void {
    const { catalog, log } = this.#deps;
    const inForce = new Set<string>();
    for (const { accountId, id, name, content } of catalog.all("route")) {
      if (content.simulateLive !== true) continue;
      const channels = channelsInForce(catalog.of(accountId), content);
      if (channels.length === 0) continue;
      inForce.add(id);
      if (!this.#inForce.has(id))
        log.warn({ accountId, route: name, channels }, "route sends live messages to the simulator");
    }
    this.#inForce = inForce;
  }

  /** Records a live message that goes to a simulated carrier. */
  record({ accountId, channel }: Pick<Message, "accountId" | "channel">, route: string): void {
    const { clock, log } = this.#deps;
    const at = clock.monotonic();
    const isKnown = this.#isSeen(accountId, route, channel);
    this.#seenAt.set([accountId, route, channel], at);
    if (isKnown) return;
    log.warn(
      { accountId, route, channel },
      "live message sent to the simulator although the account has a real carrier",
    );
  }

  warningsFor(accountId: number): readonly Warning[] {
    const records = this.#deps.catalog.of(accountId);
    const messages = records.routes.flatMap(({ name, content }) => {
      const inForce = channelsInForce(records, content);
      const isSimulated = records.isSimulated(content.carrier) && records.realChannels.size > 0;
      const noReal = CHANNELS.filter(
        (channel) => isSimulated && !records.realChannels.has(channel) && this.#isSeen(accountId, name, channel),
      );
      return [
        ...(inForce.length > 0 ? [inForceWords(name, inForce)] : []),
        ...(noReal.length > 0 ? [noRealWords(name, noReal)] : []),
      ];
    });
    return messages.map((message) => ({ code: "LIVE_SIMULATED", message }));
  }

  #isSeen(accountId: number, route: string, channel: Channel): boolean {
    const seenAt = this.#seenAt.get([accountId, route, channel]);
    return seenAt !== undefined && this.#deps.clock.monotonic() - seenAt < WARN_MS;
  }
}

/** The channels whose live messages the route sends to a simulated carrier although the account has a real one for them. */
const channelsInForce = (records: AccountCatalog, route: CatalogRecord<"route">["content"]): readonly Channel[] =>
  route.simulateLive === true && route.enabled && records.isSimulated(route.carrier)
    ? CHANNELS.filter(
        (channel) => (route.channel === null || route.channel === channel) && records.realChannels.has(channel),
      )
    : [];

const inForceWords = (route: string, channels: readonly Channel[]): string =>
  `The route ${JSON.stringify(route)} has simulateLive: live messages (${channels.join(", ")}) that take it go to the simulator and are reported as delivered, and no phone gets them. Set simulateLive to false to send them by the real carrier.`;

const noRealWords = (route: string, channels: readonly Channel[]): string =>
  `The route ${JSON.stringify(route)} sends live messages (${channels.join(", ")}) to the simulator, because the account has no real carrier for this channel: they are reported as delivered, and no phone gets them. Add a carrier for it, or disable the route.`;
