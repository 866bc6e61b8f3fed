import { once } from "node:events";
import { connect, type AddressInfo, type Socket } from "node:net";
import { expect, test } from "vitest";
import { createClientListener } from "../../src/http/listener/client-listener.ts";

test("a listener that closes still accepts the connections that have arrived", async () => {
  const accepted: Socket[] = [];
  const listener = createClientListener({ certificate: null, proxies: null }, (socket) => {
    accepted.push(socket);
    socket.end("served");
  });
  listener.server.listen({ host: "127.0.0.1", port: 0 });
  await once(listener.server, "listening");
  const { port } = listener.server.address() as AddressInfo;
  const clients = Array.from({ length: 5 }, () => connect({ host: "127.0.0.1", port }).setEncoding("utf8"));
  const answers = clients.map(async (client) => {
    const [text] = (await once(client, "data")) as [string];
    return text;
  });
  const closed = new Promise<void>((resolve) => {
    // After the system calls of connect(): from then on the kernel holds the connections.
    process.nextTick(() => listener.close(resolve));
  });
  expect(await Promise.all(answers)).toEqual(clients.map(() => "served"));
  await closed;
  expect(accepted).toHaveLength(clients.length);
});
