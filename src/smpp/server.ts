import { once } from "node:events";
import { createServer as createPlain, type AddressInfo, type Server, type Socket } from "node:net";
import { createServer as createSecure, type TlsOptions } from "node:tls";
import type { Bind, BindResp } from "./pdu.ts";
import { responseTo } from "./respond.ts";
import { Session, type Answer, type Incoming, type OnRequest, type SessionOptions } from "./session.ts";
import { realClock } from "./session-clock.ts";
import { STATUS } from "./status.ts";
import { tlv } from "./tlv.ts";

const BIND_WITHIN_MS = 10_000;
/** How long a closing server waits for connections that are over, or never came about, to be gone by themselves. */
const LINGER_MS = 1000;
const SMPP_3_4 = 0x34;

/** Whether a bind is taken, and who answers what comes over it. */
export type Verdict =
  | {
      readonly kind: "welcome";
      readonly onRequest: OnRequest;
      /** Called when the ESME knows that it is bound, so that it may be sent something. */
      readonly onBound?: (session: Session) => void;
    }
  | { readonly kind: "refused"; readonly status: number };

interface Peer {
  readonly address: string;
  readonly port: number;
}

export interface ServerOptions extends Omit<SessionOptions, "onRequest"> {
  /** All addresses of the machine unless said otherwise. */
  host?: string;
  /** 0 takes a free one. */
  port: number;
  /** Without it nothing is encrypted. */
  tls?: Pick<TlsOptions, "key" | "cert" | "ca" | "passphrase" | "requestCert" | "rejectUnauthorized" | "minVersion">;
  /** What it calls itself in the answer to a bind. */
  systemId?: string;
  onBind: (bind: Bind, peer: Peer) => Verdict | Promise<Verdict>;
  /** A connection that has not bound by then is closed; 10 seconds unless said otherwise. */
  bindWithinMs?: number;
  /** Further connections are closed at once. */
  connectionsMax?: number;
  /** Told of a connection that could not be accepted, such as when there are no file descriptors left. */
  onError?: (error: Error) => void;
}

export interface SmppServer {
  readonly port: number;
  /** Those that are bound. */
  readonly sessions: ReadonlySet<Session>;
  /** Takes no more connections, unbinds those that are there, and resolves when all are gone. */
  close(): Promise<void>;
}

/** The SMSC's side: listens, and lets in whom `onBind` welcomes. Rejects where the port cannot be had. */
export async function listen(options: ServerOptions): Promise<SmppServer> {
  const { tls, clock = realClock, bindWithinMs = BIND_WITHIN_MS } = options;
  const bound = new Set<Session>();
  const all = new Set<Session>();
  const connections = new Set<Socket>();
  const accept = (socket: Socket): void => {
    socket.setNoDelay(true).setKeepAlive(true);
    const session = admit(socket, options, bound);
    all.add(session);
    void session.closed.then(() => all.delete(session) && bound.delete(session));
  };
  const server: Server = tls ? createSecure({ ...tls, handshakeTimeout: bindWithinMs }, accept) : createPlain(accept);
  // With TLS this is the connection below, which may never become one of ours.
  server.on("connection", (socket: Socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
  });
  if (options.connectionsMax !== undefined) server.maxConnections = options.connectionsMax;
  server.listen(options.port, options.host);
  await once(server, "listening");
  server.on("error", (error) => options.onError?.(error));
  return {
    port: (server.address() as AddressInfo).port,
    sessions: bound,
    async close() {
      const gone = once(server, "close");
      server.close();
      for (const session of all) if (!bound.has(session)) session.destroy();
      await Promise.all([...bound].map((session) => session.unbind()));
      const stopLingering = clock.after(LINGER_MS, () => {
        for (const connection of connections) connection.destroy();
      });
      await gone;
      stopLingering();
    },
  };
}

const isBind = (pdu: Incoming): pdu is Bind =>
  pdu.command === "bind_transceiver" || pdu.command === "bind_transmitter" || pdu.command === "bind_receiver";

/** What only somebody who transmits may ask for. */
const TRANSMITTED = new Set<Incoming["command"]>(["submit_sm", "submit_multi", "query_sm", "cancel_sm", "replace_sm"]);

/** A session that wants a bind first. */
function admit(socket: Socket, options: ServerOptions, bound: Set<Session>): Session {
  const { onBind, bindWithinMs = BIND_WITHIN_MS, systemId = "", clock = realClock } = options;
  const peer: Peer = { address: socket.remoteAddress ?? "", port: socket.remotePort ?? 0 };
  let isBinding = false;
  let binding: { as: Bind["command"]; onRequest: OnRequest } | null = null;
  let welcome: (() => void) | null = null;

  async function judge(bind: Bind): Promise<BindResp> {
    if (binding || isBinding) return responseTo(bind, { status: STATUS.ESME_RALYBND });
    isBinding = true;
    try {
      const verdict = await onBind(bind, peer);
      if (verdict.kind === "refused") return responseTo(bind, { status: verdict.status });
      stopWaiting();
      binding = { as: bind.command, onRequest: verdict.onRequest };
      if (session.isOpen) bound.add(session);
      welcome = () => verdict.onBound?.(session);
      return responseTo(bind, { systemId, tlvs: [tlv("sc_interface_version", SMPP_3_4)] });
    } finally {
      isBinding = false;
    }
  }

  function sayWelcome(): void {
    const say = welcome;
    welcome = null;
    if (session.isOpen) say?.();
  }

  function onRequest(pdu: Incoming): Answer | Promise<Answer> {
    if (isBind(pdu)) {
      const answer = judge(pdu);
      // Two steps behind the answer, so that the session has sent it by then.
      void answer.then(nothing, nothing).then(sayWelcome);
      return answer;
    }
    if (binding && !(binding.as === "bind_receiver" && TRANSMITTED.has(pdu.command)))
      return binding.onRequest(pdu, session);
    if (pdu.command === "outbind" || pdu.command === "alert_notification") return null;
    return responseTo(pdu, { status: STATUS.ESME_RINVBNDSTS });
  }

  const session = new Session(socket, { ...options, onRequest });
  const stopWaiting = clock.after(bindWithinMs, () => session.destroy());
  void session.closed.then(stopWaiting);
  return session;
}

/** A bind that could not be judged is the session's to tell of. */
const nothing = (): void => {};
