import { EventEmitter, once } from "node:events";
import { IncomingMessage, ServerResponse, type Server } from "node:http";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { expect, test } from "vitest";
import { ConnectionLimits } from "../../src/http/connection-limits.ts";
import { MovedClock } from "../support/moved-clock.ts";

function openConnection() {
  const limits = new ConnectionLimits(new MovedClock(), { bufferedBytesMax: 1_000_000 });
  const server = limits.applyTo(new EventEmitter() as Server);
  const socket = new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() }) as Socket;
  socket.on("data", () => {});
  server.emit("connection", socket);
  /** A pipelined request: only the first has the socket. */
  const request = (): { response: ServerResponse; closed: () => number } => {
    const response = new ServerResponse(new IncomingMessage(socket));
    let count = 0;
    response.on("close", () => (count += 1));
    server.emit("request", response.req, response);
    return { response, closed: () => count };
  };
  return { limits, socket, request };
}

test("a closed connection closes each response once, those of queued pipelined requests too", async () => {
  const { limits, socket, request } = openConnection();
  const [first, second, third] = [request(), request(), request()];
  first.response.assignSocket(socket);
  third.response.end("early");
  limits.buffer(third.response, 5);
  expect([limits.pending, limits.bufferedBytes]).toEqual([3, 5]);
  socket.destroy();
  await once(socket, "close");
  const all = [first, second, third];
  expect(all.map(({ closed }) => closed())).toEqual([1, 1, 1]);
  expect(all.map(({ response }) => response.destroyed)).toEqual([true, true, true]);
  expect([limits.pending, limits.bufferedBytes]).toEqual([0, 0]);
});

test("a response that closes before its connection is not closed again", async () => {
  const { limits, socket, request } = openConnection();
  const done = request();
  const queued = request();
  done.response.emit("close");
  expect(limits.pending).toBe(1);
  socket.destroy();
  await once(socket, "close");
  expect([done.closed(), queued.closed(), limits.pending]).toEqual([1, 1, 0]);
});
