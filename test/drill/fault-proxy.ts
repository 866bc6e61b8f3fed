import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** The network's behaviour: it works, refuses connections, or swallows every byte without an error. */
type NetworkState = "works" | "refuses" | "swallows";

/** TCP proxy between a node and a database server. */
export interface FaultProxy {
  port: number;
  set(state: NetworkState): void;
  close(): void;
}

export async function openFaultProxy(targetPort: number): Promise<FaultProxy> {
  const sockets = new Set<Socket>();
  let state: NetworkState = "works";

  const server = createServer({ noDelay: true }, (near) => {
    if (state === "refuses") {
      near.destroy();
      return;
    }
    // In a black hole even the connection is not accepted; a proxy cannot do that, so it never answers.
    const both: Socket[] =
      state === "swallows" ? [near] : [near, connect({ port: targetPort, host: "127.0.0.1", noDelay: true })];
    const end = (): void => {
      // The end of a connection does not cross a black hole either.
      if (state === "swallows") return;
      for (const socket of both) {
        sockets.delete(socket);
        socket.destroy();
      }
    };
    for (const socket of both) {
      sockets.add(socket);
      socket.on("error", end).on("close", end);
    }
    const [, far] = both;
    near.on("data", (chunk) => void (state === "swallows" || far?.write(chunk)));
    far?.on("data", (chunk) => void (state === "swallows" || near.write(chunk)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    port: (server.address() as AddressInfo).port,
    set(next) {
      // Bytes that were swallowed are missing, so that no connection survives the black hole.
      const mustCut = next === "refuses" || state === "swallows";
      state = next;
      if (mustCut) cut();
    },
    close() {
      server.close();
      cut();
    },
  };
}
