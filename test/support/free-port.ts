import { once } from "node:events";
import { createServer } from "node:net";

const FIRST_PORT = 20_000;
const PORTS = 10_000;

/**
 * Finds a free port below the ephemeral range. A server restarted on its port then never finds it taken by a client
 * that kept reconnecting.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
