import {
  constants,
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from "node:http2";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { ConnectionLimits } from "./connection-limits.ts";

interface Http2Deps {
  connections: ConnectionLimits;
  /** Handles a request as one of HTTP/1.1. */
  handle(request: IncomingMessage, response: ServerResponse): void;
  limits: { maxHeaderSize: number; requestTimeout: number; keepAliveTimeout: number };
}

/** Streams of one connection at a time. The fast path and Node's server have a similar limit for pipelined requests. */
const STREAMS_MAX = 100;

/** Addresses of clients, because a session does not show that of a connection in the connection thread. */
const addresses = new WeakMap<object, string>();

/** Address of the connection's peer. */
export function peerOf(request: IncomingMessage): string {
  const { session } = (request as unknown as Partial<Http2ServerRequest>).stream ?? {};
  return (session && addresses.get(session)) ?? request.socket.remoteAddress ?? "";
}

/**
 * Adds HTTP/2 to a server, for connections that have agreed on it by ALPN. Its requests look like those of HTTP/1.1 to the rest
 * of the server. Stopping the server ends idle sessions and lets streams in progress finish.
 */
const CLIENT_CLOSES_WITHIN_MS = 5000;

export function addHttp2(server: Server, { connections, handle, limits }: Http2Deps) {
  const sessions = new Set<ServerHttp2Session>();
  /** A session closes only its half of the connection, and a client may leave the other half open. */
  const sockets = new Set<Socket>();
  const http2 = createServer(
    {
      maxHeaderListPairs: 100,
      settings: {
        maxConcurrentStreams: STREAMS_MAX,
        maxHeaderListSize: limits.maxHeaderSize,
        enableConnectProtocol: false,
      },
    },
    (request, response) => {
      const { session } = request.stream;
      if (!session) return;
      connections.beginStream(session as ServerHttp2Session, response);
      likeHttp1(request, response);
      limitBody(request, limits.requestTimeout);
      handle(request as unknown as IncomingMessage, response as unknown as ServerResponse);
    },
  );
  http2.on("sessionError", () => {});
  http2.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    // Without open streams: a stream of events is quiet for longer.
    session.setTimeout(limits.keepAliveTimeout, () => {
      if (connections.hasStreams(session)) return;
      const { socket } = session;
      session.close();
      setTimeout(() => socket.destroy(), CLIENT_CLOSES_WITHIN_MS).unref();
    });
  });

  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    for (const session of sessions) session.close();
    closeIdle();
  };
  const closeAll = server.closeAllConnections.bind(server);
  server.closeAllConnections = () => {
    for (const session of sessions) session.destroy();
    for (const socket of sockets) socket.destroy();
    closeAll();
  };

  return (socket: Socket, address: string): void => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    http2.once("session", (session) => addresses.set(session, address));
    http2.emit("connection", socket);
  };
}

/** Fills in what HTTP/1.1 has: a body without a length is chunked, and a response knows whether its client has left. */
function likeHttp1(request: Http2ServerRequest, response: Http2ServerResponse): void {
  const { headers, stream } = request;
  const authority = headers[":authority"];
  if (authority !== undefined) headers.host ??= authority;
  if (!stream.endAfterHeaders && headers["content-length"] === undefined) headers["transfer-encoding"] = "chunked";
  // Node calls an aborted request complete.
  Object.defineProperty(request, "complete", { get: () => request.readableEnded });
  Object.defineProperties(response, {
    destroyed: { get: () => stream.destroyed },
    closed: { get: () => stream.closed },
  });
}

/** Ends a stream whose body does not arrive in time. */
function limitBody({ stream }: Http2ServerRequest, timeoutMs: number): void {
  if (stream.endAfterHeaders) return;
  const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), timeoutMs).unref();
  stream.once("end", () => clearTimeout(timer)).once("close", () => clearTimeout(timer));
}

/** Tells a client of HTTP/2 to use another connection for its next request. Returns false for HTTP/1.1. */
export function endSession(response: ServerResponse): boolean {
  const { stream } = response as unknown as Partial<Http2ServerResponse>;
  if (!stream) return false;
  stream.session?.close();
  return true;
}
