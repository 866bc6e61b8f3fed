import { Agent, type buildConnector, type Dispatcher } from "undici";
import { createGuardedConnect, EgressRefused, type ConnectNeeds, type GuardedConnect } from "./guarded-connect.ts";
import { CONNECTIONS_PER_ORIGIN, HEADERS_MAX_BYTES, IDLE_MAX_MS, KEPT_MAX } from "./limits.ts";

/** Last resorts for a caller that set no limit of its own. */
const SILENCE_LIMIT_MS = 15_000;
const RESPONSE_MAX_BYTES = 65_536;

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
