import { connect as connectPlain, isIP, type LookupFunction, type OnReadOpts, type Socket } from "node:net";
import { connect as connectSecure } from "node:tls";
import type { Clock } from "../lib/clock.ts";
import type { EgressRules } from "./addresses.ts";
import { createResolve, type Resolve } from "./resolve.ts";

const LOOKUP_LIMIT_MS = 3000;
const CONNECT_LIMIT_MS = 5000;
/** A name with thousands of addresses would make one request of ours a flood. */
const ADDRESSES_TRIED_MAX = 16;

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

export interface ConnectNeeds {
  rules: EgressRules;
  clock: Clock;
  resolve?: Resolve;
}

interface Wanted {
  /** With colons where it is an address that has them, and without brackets. */
  hostname: string;
  port: number;
  secure: boolean;
  /** Hears the bytes: they do not come as a stream. */
  onread: OnReadOpts;
}

/** Opens connections, each to an address that the rules have just passed. */
export interface GuardedConnect {
  /** From the first try to the end. */
  readonly open: number;
  /** Says once what has become of it; gives the socket before, so that the try can be called off. */
  connect(wanted: Wanted, settle: (error: Error | null, socket: Socket | null) => void): Socket | null;
}

export function createGuardedConnect({ rules, clock, resolve = createResolve() }: ConnectNeeds): GuardedConnect {
  const lookup = guardedLookup(rules, clock, resolve);
  let open = 0;

  function connect({ hostname, port, secure, onread }: Wanted, settle: Parameters<GuardedConnect["connect"]>[1]) {
    // A socket never looks up what is an address already, so the lookup's guard does not see it.
    const literal = isIP(hostname) !== 0;
    if (literal && !rules.isOpen(hostname)) {
      settle(new EgressRefused(hostname), null);
      return null;
    }
    const target = { host: hostname, port, lookup, noDelay: true, keepAlive: true, onread };
    // TLS has neither addresses nor a closing dot in the name that it asks for.
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
      // The listener stays: a socket that fails once more after this must not end the process.
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
