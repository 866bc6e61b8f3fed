import { createServer } from "node:net";

/**
 * Webhook endpoint in its own process that answers every request with 200. It only finds the end of each request, so it
 * needs far less CPU than any sender. It replies to each message from the parent with the number of requests.
 */

const OK_RESPONSE = Buffer.from(
  'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\nKeep-Alive: timeout=30\r\n\r\n{"ok":true}',
);
const HEAD_END = Buffer.from("\r\n\r\n");

let received = 0;
const server = createServer({ noDelay: true }, (socket) => {
  let unread: Buffer = Buffer.alloc(0);
  let expectedLength = 0;
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    // Requests of one sender nearly all have the same length. A chunk of that length is complete, so its head is not
    // parsed.
    const isExpectedLength = chunk.length === expectedLength && unread.length === 0;
    if (!isExpectedLength) {
      unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
      const headEnd = unread.indexOf(HEAD_END);
      if (headEnd < 0) return;
      const head = unread.toString("latin1", 0, headEnd);
      const length = headEnd + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (unread.length < length) return;
      expectedLength = length;
      unread = unread.subarray(length);
    }
    received += 1;
    socket.write(OK_RESPONSE);
  });
});
process.on("message", () => process.send?.({ received }));
server.listen(0, "127.0.0.1", () => process.send?.(server.address()));
process.once("disconnect", () => process.exit());
