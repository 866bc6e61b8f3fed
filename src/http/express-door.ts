import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Admission } from "./authenticate.ts";
import { Connection } from "./express/connection.ts";
import { createCodeFinder } from "./express/find-code.ts";
import { createAnswerWriter } from "./express/write-answer.ts";
import type { Route, SendRoute, Services } from "./route.ts";

interface Needs {
  services: Services;
  admission: Admission;
  bodyBytesMax: number;
  addressOf(socket: Socket, forwardedFor: string): string;
}

/** How often it is looked for clients that take too long. */
const ROUND_MS = 1000;

/**
 * Puts the door for sends and short links in front of an HTTP server. The framework and Node's HTTP cost as much as all
 * else about such a request together, and an ordinary one (a line we know, a plain head, and JSON of a stated length or
 * no body) needs nothing of them.
 * Each connection begins here; as soon as anything else comes, the server gets it for good, with all that is unread.
 */
export function putExpressDoorBefore(server: Server, needs: Needs, routes: readonly Route[]): Server {
  const held = new Set<Connection>();
  const ordinary = server.listeners("connection");
  const door = {
    ...needs,
    routes: new Map(routes.filter(isSendRoute).map((route) => [`${route.method} ${route.path} HTTP/1.1`, route])),
    findCode: createCodeFinder(routes),
    write: createAnswerWriter(needs.services.clock, server.keepAliveTimeout),
    handOver: (socket: Socket) => {
      for (const listener of ordinary) Reflect.apply(listener, server, [socket]);
    },
    refuse: (socket: Socket, code: string) => {
      const error = Object.assign(new Error("a request never came whole"), { code });
      if (!server.emit("clientError", error, socket)) socket.destroy();
    },
    round: 0,
  };
  const onGone = (connection: Connection): void => void held.delete(connection);
  server.removeAllListeners("connection");
  server.on("connection", (socket) => held.add(new Connection(door, socket, onGone)));

  const limits = {
    head: roundsOf(server.headersTimeout),
    request: roundsOf(server.requestTimeout),
    idle: roundsOf(server.keepAliveTimeout),
  };
  const goRound = (): void => {
    door.round += 1;
    for (const connection of held) connection.lookAt(limits);
  };
  let rounds: NodeJS.Timeout | undefined;
  server.on("listening", () => {
    rounds = setInterval(goRound, ROUND_MS).unref();
  });
  server.on("close", () => clearInterval(rounds));

  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    for (const connection of held) if (connection.idle) connection.close();
    closeIdle();
  };
  const closeAll = server.closeAllConnections.bind(server);
  server.closeAllConnections = () => {
    for (const connection of held) connection.cut();
    closeAll();
  };
  return server;
}

const isSendRoute = (route: Route): route is SendRoute => "express" in route;

/** To Node, a limit of zero is none. */
const roundsOf = (ms: number): number => (ms > 0 ? Math.ceil(ms / ROUND_MS) : Number.POSITIVE_INFINITY);
