import { isIP, type BlockList } from "node:net";
import { listOfNetworks } from "../lib/network.ts";

const LOOPBACK = ["127.0.0.0/8", "::1/128"];

/** Cloud metadata services, which give out credentials. Refused even inside an allowed network. */
const METADATA = [
  "169.254.169.254/32", "169.254.170.2/32", "169.254.170.23/32", "100.100.100.200/32", "192.0.0.192/32",
  "168.63.129.16/32", "fd00:ec2::254/128", "fd00:ec2::23/128", "fd20:ce::254/128",
]; // prettier-ignore

const SPECIAL_IPV4 = [
  "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
  "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
  "224.0.0.0/4", "240.0.0.0/4",
]; // prettier-ignore

/** All public IPv6 addresses. Loopback, private, link-local, multicast and unassigned ones are outside. */
const GLOBAL_IPV6 = ["2000::/3"];
/** Not public although inside 2000::/3: Teredo and other protocols, and documentation. */
const SPECIAL_IPV6 = ["2001::/23", "2001:db8::/32", "3fff::/20"];

/** Prefixes whose addresses embed an IPv4 address (NAT64, 6to4), with its position in groups. */
const GATEWAYS = [
  { prefix: [0x64, 0xff9b, 0, 0, 0, 0], at: 6 },
  { prefix: [0x64, 0xff9b, 1, 0, 0, 0], at: 6 },
  { prefix: [0x2002], at: 1 },
];
const MAPPED = [0, 0, 0, 0, 0, 0xffff];

export interface Opened {
  /** Networks allowed in addition to the public ones. */
  allow: readonly string[];
  /** True if loopback is allowed. A shared byte if the setting can change while threads run. */
  loopback: boolean | Uint8Array<SharedArrayBuffer>;
}

/** The SSRF rules: outgoing connections may reach public addresses and the networks that the operator allows. */
export class EgressRules {
  readonly #allow: BlockList;
  readonly #loopbackSwitch: Opened["loopback"];
  readonly #loopback = listOfNetworks(LOOPBACK);
  readonly #metadata = listOfNetworks(METADATA);
  readonly #special = listOfNetworks([...SPECIAL_IPV4, ...SPECIAL_IPV6]);
  readonly #global = listOfNetworks(GLOBAL_IPV6);

  constructor({ allow, loopback }: Opened) {
    this.#allow = listOfNetworks(allow);
    this.#loopbackSwitch = loopback;
  }

  /** The loopback switch alone; an allowed network may contain loopback as well. */
  get isLoopbackOpen(): boolean {
    const loopback = this.#loopbackSwitch;
    return typeof loopback === "boolean" ? loopback : Atomics.load(loopback, 0) === 1;
  }

  /** False for invalid addresses and for those with a zone index, which are never public. */
  isOpen(ip: string): boolean {
    if (isIP(ip) === 0 || ip.includes("%")) return false;
    const address = unmapped(ip);
    if (within(this.#metadata, address)) return false;
    if (within(this.#allow, address) || this.#isPublic(address)) return true;
    return this.isLoopbackOpen && within(this.#loopback, address);
  }

  #isPublic(address: string): boolean {
    if (isIP(address) === 4) return !within(this.#special, address);
    const inner = behindGateway(address);
    // Behind a gateway only public addresses are allowed: a network allowed here is not the one on the other side.
    if (inner !== null) return !within(this.#special, inner) && !within(this.#metadata, inner);
    return within(this.#global, address) && !within(this.#special, address);
  }
}

function within(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");
}

/** ::ffff:a.b.c.d connects to a.b.c.d, so it is checked as IPv4. */
function unmapped(ip: string): string {
  if (isIP(ip) === 4) return ip;
  const groups = groupsOf(ip);
  return startsWith(groups, MAPPED) ? ipv4At(groups, 6) : ip;
}

function behindGateway(ip: string): string | null {
  const groups = groupsOf(ip);
  const gateway = GATEWAYS.find(({ prefix }) => startsWith(groups, prefix));
  return gateway ? ipv4At(groups, gateway.at) : null;
}

const startsWith = (groups: readonly number[], prefix: readonly number[]): boolean =>
  prefix.every((group, place) => groups[place] === group);

function ipv4At(groups: readonly number[], at: number): string {
  const [high = 0, low = 0] = groups.slice(at);
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
}

/** Expands an IPv6 address to its eight groups. */
function groupsOf(ip: string): number[] {
  const [before = "", after] = ip.split("::");
  const head = readGroups(before);
  if (after === undefined) return head;
  const tail = readGroups(after);
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}

function readGroups(written: string): number[] {
  if (written === "") return [];
  return written.split(":").flatMap((group) => {
    if (!group.includes(".")) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}
