import { connect, type Socket } from "node:net";

/** All lines read into the same bytes: what has come is looked at, or copied, before anything else comes. */
const bytes = Buffer.alloc(65_536);

/** A raw connection of a load that reads where the kernel has written. It may end only when the load ends it. */
export function openLine(
  port: number,
  onOpen: () => void,
  onBytes: (bytes: Buffer, count: number) => void,
  onBroken: (error: Error) => void,
): Socket {
  const callback = (count: number): boolean => {
    onBytes(bytes, count);
    return true;
  };
  const socket = connect({ host: "127.0.0.1", port, noDelay: true, onread: { buffer: bytes, callback } }, onOpen);
  socket.on("error", onBroken);
  return socket.on("close", () => onBroken(new Error("a connection was closed before the time was over")));
}
