import { once } from "node:events";
import { createServer as createPlain, type AddressInfo, type Server, type Socket } from "node:net";
import { createServer as createSecure, TLSSocket, type Server as SecureServer, type TlsOptions } from "node:tls";
import type { Bind, BindResp } from "./pdu.ts";
import { responseTo } from "./respond.ts";
import { Session, type Answer, type Incoming, type OnRequest, type SessionOptions } from "./session.ts";
import { PDU_LENGTH_MAX } from "./lengths.ts";
import { realClock } from "./session-clock.ts";
import { STATUS } from "./status.ts";
import { tlv } from "./tlv.ts";
import { UNBOUND_LENGTH_MAX, UNBOUND_PDUS_MAX, UnboundConnections } from "./unbound.ts";

const BIND_WITHIN_MS = 10_000;
/** Time for connections that are ending or never bound to close by themselves. */
const LINGER_MS = 1000;
const SMPP_3_4 = 0x34;

/** Decision about a bind, with the handler of its requests. */
export type BindDecision =
  | {
      readonly kind: "accepted";
      readonly onRequest: OnRequest;
      /** Called after the bind response is sent, so that the ESME can receive PDUs. */
      readonly onBound?: (session: Session) => void;
      /** Called in its place if the connection ended while the bind was decided. */
      readonly onAborted?: () => void;
    }
  | { readonly kind: "refused"; readonly status: number };

interface Peer {
  readonly address: string;
  readonly port: number;
  /** It has proved a certificate of the authorities in `tls.ca`. */
  readonly hasCertificate: boolean;
}

export interface ServerOptions extends Omit<SessionOptions, "onRequest"> {
  /** Default: all addresses of the machine. */
  host?: string;
  /** 0 selects a free port. */
  port: number;
  /** Plain TCP if absent. */
  tls?: Pick<TlsOptions, "key" | "cert" | "ca" | "passphrase" | "requestCert" | "rejectUnauthorized" | "minVersion">;
  /** system_id in the bind response. */
  systemId?: string;
  onBind: (bind: Bind, peer: Peer) => BindDecision | Promise<BindDecision>;
  /** Time limit for the bind of a new connection. Default: 10 s. */
  bindWithinMs?: number;
  /** Connections beyond this number are closed at once. */
  connectionsMax?: number;
  /** The same for connections of one address that are not bound. Default: 500. */
  unboundMax?: number;
  /** Called for a connection that could not be accepted, for example without file descriptors. */
  onError?: (error: Error) => void;
}

export interface SmppServer {
  readonly port: number;
  /** Bound sessions. */
  readonly sessions: ReadonlySet<Session>;
  /** Uses another certificate for new connections. */
  setTls(tls: Pick<TlsOptions, "key" | "cert">): void;
  /** Stops listening, unbinds all sessions and resolves when all connections are closed. */
  close(): Promise<void>;
}

/** Listens as an SMSC; `onBind` decides about each bind. Rejects if the port is not available. */
export async function listen(options: ServerOptions): Promise<SmppServer> {
  const { tls, clock = realClock, bindWithinMs = BIND_WITHIN_MS } = options;
  const bound = new Set<Session>();
  const openSessions = new Set<Session>();
  const connections = new Set<Socket>();
  const unbound = new UnboundConnections(options.unboundMax);
  const accept = (socket: Socket): void => {
    // Without rejectUnauthorized, Node leaves the decision to us: no certificate is fine, a wrong one is not.
    if (certificateState(socket, options) === "invalid") return void socket.destroy();
    socket.setNoDelay(true).setKeepAlive(true);
    const session = openSession(socket, options, bound, unbound);
    openSessions.add(session);
    void session.closed.then(() => openSessions.delete(session) && bound.delete(session));
  };
  const server: Server = tls ? createSecure({ ...tls, handshakeTimeout: bindWithinMs }, accept) : createPlain(accept);
  // With TLS this is the TCP connection underneath, whose handshake may never finish.
  server.on("connection", (socket: Socket) => {
    const peer = peerOf(socket);
    if (!unbound.admit(peer)) {
      socket.destroy();
      return;
    }
    connections.add(socket);
    socket.once("close", () => {
      connections.delete(socket);
      unbound.release(peer);
    });
  });
  if (options.connectionsMax !== undefined) server.maxConnections = options.connectionsMax;
  server.listen(options.port, options.host);
  await once(server, "listening");
  server.on("error", (error) => options.onError?.(error));
  return {
    port: (server.address() as AddressInfo).port,
    sessions: bound,
    setTls(changed) {
      if (tls) (server as SecureServer).setSecureContext({ ...tls, ...changed });
    },
    async close() {
      const gone = once(server, "close");
      server.close();
      for (const session of openSessions) if (!bound.has(session)) session.destroy();
      await Promise.all([...bound].map((session) => session.unbind()));
      const stopLingering = clock.after(LINGER_MS, () => {
        for (const connection of connections) connection.destroy();
      });
      await gone;
      stopLingering();
    },
  };
}

const peerOf = ({ remoteAddress = "", remotePort = 0 }: Socket) => ({ address: remoteAddress, port: remotePort });

/** The client's certificate, if the server asks for one. */
function certificateState(socket: Socket, { tls }: Pick<ServerOptions, "tls">): "none" | "valid" | "invalid" {
  if (!tls?.requestCert || !(socket instanceof TLSSocket)) return "none";
  if (socket.authorized) return "valid";
  return socket.getPeerX509Certificate() ? "invalid" : "none";
}

const isBind = (pdu: Incoming): pdu is Bind =>
  pdu.command === "bind_transceiver" || pdu.command === "bind_transmitter" || pdu.command === "bind_receiver";

/** Commands that a receiver may not send. */
const TRANSMITTER_COMMANDS = new Set<Incoming["command"]>([
  "submit_sm",
  "submit_multi",
  "query_sm",
  "cancel_sm",
  "replace_sm",
]);

/** A session that accepts only a bind at first. */
function openSession(
  socket: Socket,
  options: ServerOptions,
  bound: Set<Session>,
  unbound: UnboundConnections,
): Session {
  const { onBind, bindWithinMs = BIND_WITHIN_MS, systemId = "", clock = realClock } = options;
  const peer: Peer = { ...peerOf(socket), hasCertificate: certificateState(socket, options) === "valid" };
  let pdusBeforeBind = 0;
  let isBinding = false;
  let binding: { as: Bind["command"]; onRequest: OnRequest } | null = null;
  let onBoundDue: (() => void) | null = null;

  async function decide(bind: Bind): Promise<BindResp> {
    if (binding || isBinding) return responseTo(bind, { status: STATUS.ESME_RALYBND });
    isBinding = true;
    try {
      const decision = await onBind(bind, peer);
      if (decision.kind === "refused") return responseTo(bind, { status: decision.status });
      stopWaiting();
      binding = { as: bind.command, onRequest: decision.onRequest };
      session.lengthMax = PDU_LENGTH_MAX;
      unbound.release(peer);
      if (session.isOpen) bound.add(session);
      onBoundDue = () => (session.isOpen ? decision.onBound?.(session) : decision.onAborted?.());
      return responseTo(bind, { systemId, tlvs: [tlv("sc_interface_version", SMPP_3_4)] });
    } finally {
      isBinding = false;
    }
  }

  function notifyBound(): void {
    const onBound = onBoundDue;
    onBoundDue = null;
    onBound?.();
  }

  function onRequest(pdu: Incoming): Answer | Promise<Answer> {
    if (isBind(pdu)) {
      const answer = decide(pdu);
      // Two microtasks after the response, so that the session has sent it by then.
      void answer.then(ignore, ignore).then(notifyBound);
      return answer;
    }
    if (binding && !(binding.as === "bind_receiver" && TRANSMITTER_COMMANDS.has(pdu.command)))
      return binding.onRequest(pdu, session);
    if (pdu.command === "outbind" || pdu.command === "alert_notification") return null;
    return responseTo(pdu, { status: STATUS.ESME_RINVBNDSTS });
  }

  const session = new Session(socket, {
    ...options,
    onRequest,
    onPdu(direction, seen, of) {
      options.onPdu?.(direction, seen, of);
      if (binding || direction === "out") return;
      pdusBeforeBind += 1;
      if (pdusBeforeBind > UNBOUND_PDUS_MAX) of.destroy();
    },
  });
  session.lengthMax = UNBOUND_LENGTH_MAX;
  const stopWaiting = clock.after(bindWithinMs, () => session.destroy());
  void session.closed.then(stopWaiting);
  return session;
}

/** The session reports a failed bind handler. */
const ignore = (): void => {};
