/** Chunks of one direction of a TCP connection. */
export interface Captured {
  from: "client" | "server";
  octets: Buffer;
}

const CLIENT_PORT = 40_000;
const ETHERNET = Buffer.from("0200000000020200000000010800", "hex");
/** Longer chunks become several packets: an IPv4 packet has at most 65,535 octets. */
const SEGMENT_MAX = 60_000;

/** A capture file of a connection to a port, for tools that read pcap. */
export function pcapOf(port: number, captured: readonly Captured[]): Buffer {
  const header = Buffer.alloc(24);
  header.writeUInt32LE(0xa1b2_c3d4, 0);
  header.writeUInt16LE(2, 4);
  header.writeUInt16LE(4, 6);
  header.writeUInt32LE(262_144, 16);
  // Ethernet.
  header.writeUInt32LE(1, 20);
  const records: Buffer[] = [header];
  const next = { client: 1, server: 1 };
  for (const { from, octets } of captured) {
    for (let at = 0; at < octets.length; at += SEGMENT_MAX) {
      const piece = octets.subarray(at, at + SEGMENT_MAX);
      const to = from === "client" ? "server" : "client";
      const ports = from === "client" ? ([CLIENT_PORT, port] as const) : ([port, CLIENT_PORT] as const);
      const tcp = tcpSegment(ports, next[from], next[to], piece);
      const packet = Buffer.concat([ETHERNET, ipv4Header(from, tcp.length), tcp]);
      records.push(recordHeader(records.length, packet.length), packet);
      next[from] += piece.length;
    }
  }
  return Buffer.concat(records);
}

function recordHeader(index: number, length: number): Buffer {
  const header = Buffer.alloc(16);
  header.writeUInt32LE(1_767_225_600 + index, 0);
  header.writeUInt32LE(length, 8);
  header.writeUInt32LE(length, 12);
  return header;
}

function ipv4Header(from: Captured["from"], payloadLength: number): Buffer {
  const header = Buffer.alloc(20);
  header.writeUInt8(0x45, 0);
  header.writeUInt16BE(20 + payloadLength, 2);
  header.writeUInt8(64, 8);
  // TCP.
  header.writeUInt8(6, 9);
  const [client, server] = [0x0a00_0001, 0x0a00_0002];
  header.writeUInt32BE(from === "client" ? client : server, 12);
  header.writeUInt32BE(from === "client" ? server : client, 16);
  let sum = 0;
  for (let at = 0; at < 20; at += 2) sum += header.readUInt16BE(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  header.writeUInt16BE(~sum & 0xffff, 10);
  return header;
}

/** The checksum is omitted, as with checksum offloading. */
function tcpSegment([from, to]: readonly [number, number], sequence: number, ack: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(20);
  header.writeUInt16BE(from, 0);
  header.writeUInt16BE(to, 2);
  header.writeUInt32BE(sequence, 4);
  header.writeUInt32BE(ack, 8);
  // Header of five words; PSH and ACK.
  header.writeUInt16BE(0x5018, 12);
  header.writeUInt16BE(0xffff, 14);
  return Buffer.concat([header, payload]);
}
