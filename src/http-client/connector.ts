import type { OnReadOpts, Socket } from "node:net";

export interface ConnectTarget {
  /** An IPv6 address has no brackets. */
  hostname: string;
  port: number;
  secure: boolean;
  /** Receives the bytes directly: a stream around them costs more than parsing them. */
  onread: OnReadOpts;
}

/** Opens the sockets of the client. The caller of the client chooses which addresses it may reach. */
export interface Connector {
  /** Sockets that are connecting or connected. */
  readonly open: number;
  /** Calls `settle` once. Returns the socket earlier, so that the caller can abort the attempt. */
  connect(target: ConnectTarget, settle: (error: Error | null, socket: Socket | null) => void): Socket | null;
  /** Called when a connection is opened. The result tells before each later request whether the connection may be reused. */
  reuseCheck(): () => boolean;
}
