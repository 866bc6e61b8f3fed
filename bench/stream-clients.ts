// Child process of the streams bench: opens live streams and counts what arrives on them.
import { connect } from "node:net";

interface Command {
  port: number;
  apiKey: string;
  streams: number;
}

/** Sums over all streams. */
export interface Received {
  open: number;
  closed: number;
  /** Events of both kinds. */
  events: number;
  chunks: number;
}

const received: Received = { open: 0, closed: 0, events: 0, chunks: 0 };

function openStream({ port, apiKey }: Command): void {
  const socket = connect(port, "127.0.0.1");
  socket.write(`GET /api/live HTTP/1.1\r\nhost: bench\r\napikey: ${apiKey}\r\n\r\n`);
  socket.setEncoding("latin1");
  socket.on("data", (text: string) => {
    if (text.startsWith("HTTP/1.1 200")) received.open += 1;
    received.chunks += 1;
    received.events += text.split("event: ").length - 1;
  });
  socket.on("error", () => {});
  socket.on("close", () => (received.closed += 1));
}

process.on("message", (command: Command | "count") => {
  if (command === "count") process.send?.(received);
  else for (let index = 0; index < command.streams; index += 1) openStream(command);
});
