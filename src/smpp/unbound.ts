/** Longest PDU before a bind, whose fields have 98 octets, with room for vendor TLVs. */
export const UNBOUND_LENGTH_MAX = 1024;
/** PDUs of a connection before it is bound; failed attempts included. */
export const UNBOUND_PDUS_MAX = 20;
/** Connections of one address that are not bound. All clients behind one load balancer have the same. */
const PER_ADDRESS_MAX = 500;

interface Peer {
  readonly address: string;
  readonly port: number;
}

/**
 * Counts connections that are not bound, by address. Without a limit, one address could take all connections of the server, or
 * fill its memory before the first password.
 */
export class UnboundConnections {
  readonly #ports = new Map<string, Set<number>>();
  readonly #max: number;

  constructor(max = PER_ADDRESS_MAX) {
    this.#max = max;
  }

  /** Counts a new connection; false if its address has too many. */
  admit({ address, port }: Peer): boolean {
    const ports = this.#ports.get(address) ?? new Set();
    if (ports.size >= this.#max) return false;
    this.#ports.set(address, ports.add(port));
    return true;
  }

  /** A bound or closed connection counts no more. */
  release({ address, port }: Peer): void {
    const ports = this.#ports.get(address);
    ports?.delete(port);
    if (ports?.size === 0) this.#ports.delete(address);
  }
}
