import { isIP, type BlockList } from "node:net";
import { listOfNetworks } from "../lib/network.ts";

const LOOPBACK = ["127.0.0.0/8", "::1/128"];

/** Where clouds hand out credentials to whoever asks. Closed even inside a network that is opened. */
const METADATA = [
  "169.254.169.254/32", "169.254.170.2/32", "169.254.170.23/32", "100.100.100.200/32", "192.0.0.192/32",
  "168.63.129.16/32", "fd00:ec2::254/128", "fd00:ec2::23/128", "fd20:ce::254/128",
]; // prettier-ignore

const SPECIAL_IPV4 = [
  "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
  "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
  "224.0.0.0/4", "240.0.0.0/4",
]; // prettier-ignore

/** Everything public in IPv6 lies in here; loopback, private, link-local, multicast and the yet unassigned do not. */
const GLOBAL_IPV6 = ["2000::/3"];
/** What lies in there and is special all the same: Teredo and other protocols' own, and documentation. */
const SPECIAL_IPV6 = ["2001::/23", "2001:db8::/32", "3fff::/20"];

/** Gateways that lead on to the IPv4 address inside: where it stands, by prefix. */
const GATEWAYS = [
  { prefix: [0x64, 0xff9b, 0, 0, 0, 0], at: 6 },
  { prefix: [0x64, 0xff9b, 1, 0, 0, 0], at: 6 },
  { prefix: [0x2002], at: 1 },
];
const MAPPED = [0, 0, 0, 0, 0, 0xffff];

export interface Opened {
  /** Networks that are open besides the public ones. */
  allow: readonly string[];
  /** Whether this machine may be spoken to. */
  loopback: boolean;
}

/** Which addresses outgoing requests may go to: public ones, and what the operator has opened. */
export class EgressRules {
  readonly #allow: BlockList;
  readonly #metadata = listOfNetworks(METADATA);
  readonly #special = listOfNetworks([...SPECIAL_IPV4, ...SPECIAL_IPV6]);
  readonly #global = listOfNetworks(GLOBAL_IPV6);

  constructor({ allow, loopback }: Opened) {
    this.#allow = listOfNetworks(loopback ? [...allow, ...LOOPBACK] : allow);
  }

  /** False also for what is no address, or names a zone: no public address has one. */
  isOpen(ip: string): boolean {
    if (isIP(ip) === 0 || ip.includes("%")) return false;
    const address = unmapped(ip);
    if (within(this.#metadata, address)) return false;
    return within(this.#allow, address) || this.#isPublic(address);
  }

  #isPublic(address: string): boolean {
    if (isIP(address) === 4) return !within(this.#special, address);
    const inner = behindGateway(address);
    // An opened private network is not the one that a gateway would lead into, so only a public address counts behind it.
    if (inner !== null) return !within(this.#special, inner) && !within(this.#metadata, inner);
    return within(this.#global, address) && !within(this.#special, address);
  }
}

function within(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");
}

/** An IPv4 address written as IPv6 is the IPv4 address: the socket that is made of it goes to the same place. */
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

/** The eight groups of an IPv6 address in any of its spellings. */
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
