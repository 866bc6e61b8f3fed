import { connect, type Socket } from "node:net";

/** One read buffer for all connections: the handler parses or copies the bytes before the next read. */
const bytes = Buffer.alloc(65_536);

/** Raw client connection that reads into a preallocated buffer. A close that the client did not ask for is an error. */
export function openRawConnection(
  port: number,
  onOpen: () => void,
  onBytes: (bytes: Buffer, count: number) => void,
  onError: (error: Error) => void,
): Socket {
  const callback = (count: number): boolean => {
    onBytes(bytes, count);
    return true;
  };
  const socket = connect({ host: "127.0.0.1", port, noDelay: true, onread: { buffer: bytes, callback } }, onOpen);
  socket.on("error", onError);
  return socket.on("close", () => onError(new Error("connection closed before the end of the load")));
}
