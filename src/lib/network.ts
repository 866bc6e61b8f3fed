import { BlockList, isIP } from "node:net";

interface Network {
  address: string;
  prefix: number;
  family: "ipv4" | "ipv6";
}

/** Reads `10.0.0.0/8`, `2001:db8::/32` or a single address; null for anything else. */
export function readNetwork(written: string): Network | null {
  const [address = "", length, ...rest] = written.split("/");
  const version = isIP(address);
  // A zone id such as fe80::1%eth0 has a meaning on one machine only.
  if (version === 0 || rest.length > 0 || address.includes("%")) return null;
  const bits = version === 4 ? 32 : 128;
  const prefix = length === undefined ? bits : /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN;
  if (!(prefix >= 0 && prefix <= bits)) return null;
  return { address, prefix, family: version === 4 ? "ipv4" : "ipv6" };
}

/** Reads a comma-separated list of networks; undefined when an entry is no network. */
export function readNetworks(written: string): readonly string[] | undefined {
  const entries = written.split(",").map((entry) => entry.trim());
  return entries.every((entry) => readNetwork(entry) !== null) ? entries : undefined;
}

/** Builds a list for address lookups. An invalid entry throws: skipping it would allow or block the wrong addresses. */
export function listOfNetworks(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const network = readNetwork(entry);
    if (!network) throw new TypeError(`"${entry}" is no network: write it like 10.0.0.0/8 or 2001:db8::/32`);
    list.addSubnet(network.address, network.prefix, network.family);
  }
  return list;
}

/**
 * The key of an address for rate limits: an IPv4 address, or the /64 prefix of an IPv6 address, because a client usually
 * owns its whole /64. An IPv4 client on an IPv6 socket shows as `::ffff:1.2.3.4`.
 */
export function rateLimitKey(address: string): string {
  const plain = unmapped(address);
  if (isIP(plain) !== 6) return plain;
  const [head = "", tail] = plain.split("%", 1).join("").split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const groups = [...before, ...Array.from({ length: 8 - before.length - after.length }, () => "0"), ...after];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}

/** Removes the prefix `::ffff:` of an IPv4 address on an IPv6 socket. */
export const unmapped = (address: string): string =>
  address.startsWith("::ffff:") && address.includes(".") ? address.slice("::ffff:".length) : address;
