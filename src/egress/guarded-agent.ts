import { Agent, type buildConnector, type Dispatcher } from "undici";
import { createGuardedConnect, EgressRefused, type ConnectNeeds, type GuardedConnect } from "./guarded-connect.ts";

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

interface Needs extends ConnectNeeds {
  keptMax?: number;
}

/**
 * The way out to addresses that customers give, but for callbacks: every connection it opens goes to an address that the
 * rules have just passed, and not to whatever the name means when it is asked once more. It follows no redirect.
 */
export function createGuardedAgent({ keptMax = KEPT_MAX, ...needs }: Needs): Agent {
  const wayOut = createGuardedConnect(needs);
  const options = {
    connect: connectorOf(wayOut),
    connections: CONNECTIONS_PER_ORIGIN,
    pipelining: 1,
    allowH2: false,
    headersTimeout: SILENCE_LIMIT_MS,
    bodyTimeout: SILENCE_LIMIT_MS,
    keepAliveMaxTimeout: IDLE_MAX_MS,
    maxHeaderSize: HEADERS_MAX_BYTES,
    maxResponseSize: RESPONSE_MAX_BYTES,
  };
  return new ThriftyAgent(options, wayOut, keptMax);
}

/** Bounds the connections that wait unused, however many hosts there are: each host by itself would keep its own. */
class ThriftyAgent extends Agent {
  readonly #wayOut: GuardedConnect;
  readonly #keptMax: number;

  constructor(options: Agent.Options, wayOut: GuardedConnect, keptMax: number) {
    super(options);
    this.#wayOut = wayOut;
    this.#keptMax = keptMax;
  }

  override dispatch(options: Agent.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const mayBeKept = this.#wayOut.open < this.#keptMax;
    return super.dispatch(mayBeKept ? options : { ...options, reset: true }, handler);
  }
}

const connectorOf =
  (wayOut: GuardedConnect): buildConnector.connector =>
  ({ hostname, port, protocol }, callback) => {
    const secure = protocol === "https:";
    if (!secure && protocol !== "http:") return callback(new EgressRefused(hostname), null);
    wayOut.connect({ hostname, port: Number(port || (secure ? 443 : 80)), secure }, (error, socket) => {
      if (socket) callback(null, socket);
      else callback(error ?? new EgressRefused(hostname), null);
    });
  };
