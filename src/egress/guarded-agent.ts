import { connect as connectPlain, isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectSecure } from "node:tls";
import { Agent, type buildConnector, type Dispatcher } from "undici";
import type { Clock } from "../lib/clock.ts";
import type { EgressRules } from "./addresses.ts";
import { createResolve, type Resolve } from "./resolve.ts";

const LOOKUP_LIMIT_MS = 3000;
const CONNECT_LIMIT_MS = 5000;
/** A name with thousands of addresses would make one request of ours a flood. */
const ADDRESSES_TRIED_MAX = 16;
/** Last resorts for a caller that set no limit of its own. */
const SILENCE_LIMIT_MS = 15_000;
const HEADERS_MAX_BYTES = 16_384;
const RESPONSE_MAX_BYTES = 65_536;
/**
 * Far more than one customer's address is ever given, since a host may be the address of many: those of them that hang
 * must not make the others wait for a connection. How many requests run at once is decided by who makes them.
 */
const CONNECTIONS_PER_ORIGIN = 1024;
/** However long a server offers to keep a connection. */
const IDLE_MAX_MS = 60_000;
/** While so many connections are open, those in use are closed behind their request rather than kept for the next. */
const KEPT_MAX = 2048;

/** A host that leads only to addresses that outgoing requests may not go to. Which ones is not said: that would be a map of the inside. */
export class EgressRefused extends Error {
  override name = "EgressRefused";

  constructor(host: string) {
    super(`${host} leads to no address that outgoing requests may go to; HELIOGRAPH_EGRESS_ALLOW opens networks`);
  }
}

/** A name or a server that did not answer in its time. */
export class EgressTimeout extends Error {
  override name = "EgressTimeout";
}

interface Needs {
  rules: EgressRules;
  clock: Clock;
  resolve?: Resolve;
  keptMax?: number;
}

/** The connections of an agent, from the first try to the end. */
interface Connections {
  open: number;
}

/**
 * The one way out to addresses that customers give: every connection it opens goes to an address that the rules have
 * just passed, and not to whatever the name means when it is asked once more. It follows no redirect.
 */
export function createGuardedAgent({ rules, clock, resolve = createResolve(), keptMax = KEPT_MAX }: Needs): Agent {
  const lookup = guardedLookup(rules, clock, resolve);
  const connections = { open: 0 };
  const options = {
    connect: guardedConnector(rules, clock, lookup, connections),
    connections: CONNECTIONS_PER_ORIGIN,
    pipelining: 1,
    allowH2: false,
    headersTimeout: SILENCE_LIMIT_MS,
    bodyTimeout: SILENCE_LIMIT_MS,
    keepAliveMaxTimeout: IDLE_MAX_MS,
    maxHeaderSize: HEADERS_MAX_BYTES,
    maxResponseSize: RESPONSE_MAX_BYTES,
  };
  return new ThriftyAgent(options, connections, keptMax);
}

/** Bounds the connections that wait unused, however many hosts there are: each host by itself would keep its own. */
class ThriftyAgent extends Agent {
  readonly #connections: Connections;
  readonly #keptMax: number;

  constructor(options: Agent.Options, connections: Connections, keptMax: number) {
    super(options);
    this.#connections = connections;
    this.#keptMax = keptMax;
  }

  override dispatch(options: Agent.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const mayBeKept = this.#connections.open < this.#keptMax;
    return super.dispatch(mayBeKept ? options : { ...options, reset: true }, handler);
  }
}

function guardedConnector(
  rules: EgressRules,
  clock: Clock,
  lookup: LookupFunction,
  connections: Connections,
): buildConnector.connector {
  return ({ hostname, port, protocol }, callback) => {
    const secure = protocol === "https:";
    if (!secure && protocol !== "http:") return callback(new EgressRefused(hostname), null);
    // A socket never looks up what is an address already, so the lookup's guard does not see it.
    const literal = isIP(hostname) !== 0;
    if (literal && !rules.isOpen(hostname)) return callback(new EgressRefused(hostname), null);

    const target = {
      host: hostname,
      port: Number(port || (secure ? 443 : 80)),
      lookup,
      noDelay: true,
      keepAlive: true,
    };
    // TLS has neither addresses nor a closing dot in the name that it asks for.
    const servername = literal ? "" : hostname.replace(/\.$/, "");
    const socket: Socket = secure
      ? connectSecure({ ...target, servername, ALPNProtocols: ["http/1.1"] })
      : connectPlain(target);
    connections.open += 1;
    socket.once("close", () => (connections.open -= 1));
    const cancelLimit = clock.after(CONNECT_LIMIT_MS, () =>
      socket.destroy(new EgressTimeout(`${hostname} took no connection within ${CONNECT_LIMIT_MS} ms`)),
    );
    let settled = false;
    const settle = (error: Error | null): void => {
      // The listener stays: a socket that fails once more after this must not end the process.
      if (settled) return;
      settled = true;
      cancelLimit();
      if (error) callback(error, null);
      else callback(null, socket);
    };
    socket.on("error", settle).once(secure ? "secureConnect" : "connect", () => settle(null));
  };
}

/** Gives a socket only addresses that are open, so that the check and the connection cannot see different answers. */
export function guardedLookup(rules: EgressRules, clock: Clock, resolve: Resolve): LookupFunction {
  return (host, options, give) => {
    withinLimit(clock, host, resolve(host)).then(
      (answers) => {
        const open = answers
          .map(({ address }) => ({ address, family: isIP(address) }))
          .filter(({ address }) => rules.isOpen(address))
          .slice(0, ADDRESSES_TRIED_MAX);
        const [first] = open;
        if (!first) give(new EgressRefused(host), []);
        else if (options.all) give(null, open);
        else give(null, first.address, first.family);
      },
      (error: unknown) => give(error instanceof Error ? error : new Error(String(error)), []),
    );
  };
}

function withinLimit<T>(clock: Clock, host: string, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(LOOKUP_LIMIT_MS, () =>
      reject(new EgressTimeout(`the name ${host} was not resolved within ${LOOKUP_LIMIT_MS} ms`)),
    );
    answer.then(resolve, reject).finally(cancel);
  });
}
