import { connect as connectPlain, isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectSecure } from "node:tls";
import { HttpClient } from "../http-client/client.ts";
import type { ConnectTarget, Connector } from "../http-client/connector.ts";
import type { Clock } from "../lib/clock.ts";
import type { EgressRules } from "./addresses.ts";
import { createResolve, type Resolve } from "./resolve.ts";

const LOOKUP_LIMIT_MS = 3000;
const CONNECT_LIMIT_MS = 5000;
/** Limits the connection attempts of one request: a name may resolve to thousands of addresses. */
const ADDRESSES_TRIED_MAX = 16;

/**
 * The host resolves to no allowed address. The message does not list the addresses, which would reveal the internal
 * network.
 */
export class EgressRefused extends Error {
  override name = "EgressRefused";

  constructor(host: string) {
    super(`${host} leads to no address that outgoing requests may go to; HELIOGRAPH_EGRESS_ALLOW opens networks`);
  }
}

/** DNS or connect time-out. */
export class EgressTimeout extends Error {
  override name = "EgressTimeout";
}

interface GuardedConnectDeps {
  rules: EgressRules;
  clock: Clock;
  resolve?: Resolve;
}

/** An HTTP client that is protected against SSRF: it connects only to addresses that the rules allow. */
export const createGuardedClient = ({ keptMax, ...deps }: GuardedConnectDeps & { keptMax?: number }): HttpClient =>
  new HttpClient({
    connector: createGuardedConnector(deps),
    clock: deps.clock,
    ...(keptMax === undefined ? {} : { keptMax }),
  });

/** Each connection goes to the address that the rules have just allowed, which defeats DNS rebinding. */
export function createGuardedConnector({ rules, clock, resolve = createResolve() }: GuardedConnectDeps): Connector {
  const lookup = guardedLookup(rules, clock, resolve);
  let open = 0;
  // A connection made while loopback was open may lead to loopback, and is not reused after loopback is closed.
  const isLoopbackOpen = (): boolean => rules.isLoopbackOpen;
  const always = (): boolean => true;

  function connect({ hostname, port, secure, onread }: ConnectTarget, settle: Parameters<Connector["connect"]>[1]) {
    // Sockets do not look up literal addresses, so the guarded lookup would not see them.
    const literal = isIP(hostname) !== 0;
    if (literal && !rules.isOpen(hostname)) {
      settle(new EgressRefused(hostname), null);
      return null;
    }
    const target = { host: hostname, port, lookup, noDelay: true, keepAlive: true, onread };
    // SNI allows neither addresses nor a trailing dot.
    const servername = literal ? "" : hostname.replace(/\.$/, "");
    const socket: Socket = secure
      ? connectSecure({ ...target, servername, ALPNProtocols: ["http/1.1"] })
      : connectPlain(target);
    open += 1;
    const cancelLimit = clock.after(CONNECT_LIMIT_MS, () =>
      socket.destroy(new EgressTimeout(`${hostname} took no connection within ${CONNECT_LIMIT_MS} ms`)),
    );
    let settled = false;
    const settleOnce = (error: Error | null): void => {
      // The listener stays: a later error without a listener would end the process.
      if (settled) return;
      settled = true;
      cancelLimit();
      settle(error, error ? null : socket);
    };
    socket.once("close", () => {
      open -= 1;
      settleOnce(new Error("the connection was closed"));
    });
    socket.on("error", settleOnce).once(secure ? "secureConnect" : "connect", () => settleOnce(null));
    return socket;
  }

  return {
    get open() {
      return open;
    },
    connect,
    reuseCheck: () => (rules.isLoopbackOpen ? isLoopbackOpen : always),
  };
}

/** A lookup that returns only allowed addresses. Check and connection use the same answer, which prevents DNS rebinding. */
export function guardedLookup(rules: EgressRules, clock: Clock, resolve: Resolve): LookupFunction {
  return (host, options, onResolved) => {
    withinLimit(clock, host, resolve(host)).then(
      (answers) => {
        const open = answers
          .map(({ address }) => ({ address, family: isIP(address) }))
          .filter(({ address }) => rules.isOpen(address))
          .slice(0, ADDRESSES_TRIED_MAX);
        const [first] = open;
        if (!first) onResolved(new EgressRefused(host), []);
        else if (options.all) onResolved(null, open);
        else onResolved(null, first.address, first.family);
      },
      (error: unknown) => onResolved(error instanceof Error ? error : new Error(String(error)), []),
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
