import type { Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { createClientListener, type CertificatePair, type ListenerOptions } from "./client-listener.ts";

/** The certificate of a server that speaks TLS, which may change while it runs. */
export interface CertificateSource {
  readonly current: CertificatePair;
  onChange(listener: (pair: CertificatePair) => void): void;
}

export interface InstallListenerOptions extends ListenerOptions {
  source: CertificateSource | null;
  onHttp2(socket: Socket, address: string): void;
}

/** Makes a server accept its connections through a PROXY header or TLS. It receives them as if it listened itself. */
export function installListener(server: Server, { source, onHttp2, ...options }: InstallListenerOptions): Server {
  const {
    server: listener,
    setCertificate,
    close: closeListener,
  } = createClientListener(options, (socket, address, isHttp2) => {
    if (isHttp2) return onHttp2(socket, address);
    // The getter reports the proxy.
    Object.defineProperty(socket, "remoteAddress", { value: address });
    server.emit("connection", socket);
  });
  source?.onChange(setCertificate);
  listener.on("error", (error) => server.emit("error", error));
  const close = server.close.bind(server);
  Object.defineProperty(server, "listening", { get: () => listener.listening });
  return Object.assign(server, {
    listen: ({ host, port }: { host: string; port: number }): Server => {
      listener.listen({ host, port }, () => server.emit("listening"));
      return server;
    },
    address: () => listener.address() as AddressInfo | null,
    close: (callback?: (error?: Error) => void): Server => {
      if (callback) server.once("close", () => callback());
      server.closeIdleConnections();
      // The server itself has never listened, so it emits "close" at once.
      if (listener.listening) closeListener(() => close());
      else close();
      return server;
    },
  });
}
