import { isIP, SocketAddress } from "node:net";
import { unmapped } from "../lib/network.ts";

/**
 * Client address behind one trusted proxy: the last entry of `X-Forwarded-For`, which the proxy wrote itself. Earlier entries
 * can be forged. Empty entries do not count (RFC 9110, 5.6.1). A last entry that is not an address becomes `unknown`: no
 * address list contains it, and all its clients share one login limit. Ports, brackets and zones are dropped, so that login
 * limits and the address lists of keys see one form of each address.
 */
export function forwardedAddress(header: string | readonly string[] | undefined, peer: string): string {
  const value = typeof header === "string" ? header : (header?.join(",") ?? "");
  const entry = lastEntry(value);
  if (entry !== "") return parseAddress(entry) ?? UNKNOWN;
  // The kernel reports IPv4 peers in canonical form.
  return peer.includes(":") ? (parseAddress(peer) ?? peer) : peer;
}

const UNKNOWN = "unknown";

function lastEntry(list: string): string {
  for (let end = list.length; end > 0;) {
    const comma = list.lastIndexOf(",", end - 1);
    const entry = list.slice(comma + 1, end).trim();
    if (entry !== "") return entry;
    end = comma;
  }
  return "";
}

const WITH_PORT = /^(?:\[(?<v6>[^\]]*)\]|(?<v4>[0-9.]+))(?::[0-9]{0,5})?$/;

/** Canonical form of an address such as `192.0.2.1:443`, `2001:db8::1` or `[2001:db8::1]:443`; null for anything else. */
export function parseAddress(written: string): string | null {
  // The usual case: a bare IPv4 address.
  if (isIP(written) === 4) return written;
  const bare = written.startsWith('"') && written.endsWith('"') ? written.slice(1, -1) : written;
  const { v6, v4 } = WITH_PORT.exec(bare)?.groups ?? {};
  const [address = ""] = (v6 ?? v4 ?? bare).split("%", 1);
  const version = isIP(address);
  if (version === 4) return address;
  if (version !== 6) return null;
  return unmapped(new SocketAddress({ address, family: "ipv6" }).address);
}
