import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { AuthenticateDeps } from "../auth/authenticate.ts";
import { Connection } from "./connection.ts";
import { createShortCodeParser } from "./parse-head.ts";
import { createResponseFormatter } from "./format-response.ts";
import type { Route, SendRoute, Services } from "../route.ts";

interface FastPathDeps {
  services: Services;
  admission: AuthenticateDeps;
  bodyBytesMax: number;
  addressOf(socket: Socket, forwardedFor: string): string;
}

/** Interval of the time-out checks. */
const TICK_MS = 1000;

/**
 * Installs the fast path for sends and short links in front of an HTTP server; README.md says why. Each connection starts
 * here. The first request that is not ordinary moves it to the server for good, with all unread bytes.
 */
export function installFastPath(server: Server, deps: FastPathDeps, routes: readonly Route[]): Server {
  const connections = new Set<Connection>();
  const nodeListeners = server.listeners("connection");
  const fastPath = {
    ...deps,
    routes: new Map(routes.filter(isSendRoute).map((route) => [`${route.method} ${route.path} HTTP/1.1`, route])),
    parseShortCode: createShortCodeParser(routes),
    formatResponse: createResponseFormatter(deps.services.clock, server.keepAliveTimeout),
    handOver: (socket: Socket) => {
      for (const listener of nodeListeners) Reflect.apply(listener, server, [socket]);
    },
    reject: (socket: Socket, code: string) => {
      const error = Object.assign(new Error("incomplete request"), { code });
      if (!server.emit("clientError", error, socket)) socket.destroy();
    },
    tick: 0,
  };
  const onDetached = (connection: Connection): void => void connections.delete(connection);
  server.removeAllListeners("connection");
  server.on("connection", (socket) => connections.add(new Connection(fastPath, socket, onDetached)));

  const limits = {
    head: ticksOf(server.headersTimeout),
    request: ticksOf(server.requestTimeout),
    idle: ticksOf(server.keepAliveTimeout),
  };
  const onTick = (): void => {
    fastPath.tick += 1;
    for (const connection of connections) connection.enforceTimeouts(limits);
  };
  let ticks: NodeJS.Timeout | undefined;
  server.on("listening", () => {
    ticks = setInterval(onTick, TICK_MS).unref();
  });
  server.on("close", () => clearInterval(ticks));

  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    for (const connection of connections) if (connection.isIdle) connection.close();
    closeIdle();
  };
  const closeAll = server.closeAllConnections.bind(server);
  server.closeAllConnections = () => {
    for (const connection of connections) connection.destroy();
    closeAll();
  };
  return server;
}

const isSendRoute = (route: Route): route is SendRoute => "fastPath" in route;

/** 0 means no limit, as in Node. */
const ticksOf = (ms: number): number => (ms > 0 ? Math.ceil(ms / TICK_MS) : Number.POSITIVE_INFINITY);
