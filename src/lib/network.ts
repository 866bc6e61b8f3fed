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
  // A zone is a name of this machine's own making, which no network can be told by.
  if (version === 0 || rest.length > 0 || address.includes("%")) return null;
  const bits = version === 4 ? 32 : 128;
  const prefix = length === undefined ? bits : /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN;
  if (!(prefix >= 0 && prefix <= bits)) return null;
  return { address, prefix, family: version === 4 ? "ipv4" : "ipv6" };
}

/** Reads a setting that lists networks with commas between them; undefined when one of them is none. */
export function readNetworks(written: string): readonly string[] | undefined {
  const entries = written.split(",").map((entry) => entry.trim());
  return entries.every((entry) => readNetwork(entry) !== null) ? entries : undefined;
}

/** The networks as one list to look addresses up in; an entry that is no network is refused by name, because skipping it would close or open too much. */
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
 * What stands for an address where tries are counted: of IPv6 the first half, since whoever has one address of it has them
 * all. An IPv4 caller on an IPv6 socket shows as `::ffff:1.2.3.4`.
 */
export function neighbourhood(address: string): string {
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

/** An address without the mark of IPv4 on an IPv6 socket. */
export const unmapped = (address: string): string =>
  address.startsWith("::ffff:") && address.includes(".") ? address.slice("::ffff:".length) : address;
