import { createServer, isIP, Socket, type AddressInfo, type Server } from "node:net";
import { networkInterfaces } from "node:os";
import { createServer as createSecureServer } from "node:tls";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { EgressRules } from "../../src/egress/addresses.ts";
import { createGuardedClient, EgressRefused } from "../../src/egress/guarded-connect.ts";
import { createResolve, type Resolve } from "../../src/egress/resolve.ts";
import type { ResponseHead } from "../../src/http-client/response-head.ts";
import { readTarget } from "../../src/http-client/write-request.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { readNetworks } from "../../src/lib/network.ts";
import { eventually } from "../support/eventually.ts";
import { MovedClock } from "../support/moved-clock.ts";

const CLOSED = { allow: [], loopback: false };

/** Spellings that URL parsing turns into 127.0.0.0/8 or ::1. */
const LOOPBACK_SPELLINGS = [
  "127.0.0.1", "127.0.0.1.", "127.1", "127.1.", "127.0.1", "127.0.1.", "127.000.000.001", "127.00.0.01",
  "2130706433", "2130706433.", "0x7f000001", "0X7F000001", "0x7f.1", "0x7f.0.1", "0x7f.0x0.0x0.0x1", "0x7f.0.0.1.",
  "017700000001", "0177.1", "0177.0.1", "0177.0.0.1", "0177.0x0.0.01", "0x7F.0.0.0x01", "00000177.0.0.1",
  "0x00000000007f.1", "127.0x000001", "127.0x0.1", "127.0.0x1", "0x7f.00.0.1", "127.0.0.0x1", "127.0.0.01",
  "127.0.0.2", "127.1.2.3", "127.255.255.254", "127.16777214", "127.255.65534", "2147483646", "0x7ffffffe",
  "%31%32%37.0.0.1", "127%2E0%2E0%2E1", "127.0.0.%31",
  "１２７.０.０.１", "127。0。0。1", "127．0．0．1", "127｡0｡0｡1", "①②⑦.⓪.⓪.①", "１２７。１", "０x７f.1", "²130706433",
  "1\u00AD27.0.0.1", "127.0.0\u200B.1", "127.0\u2060.0.1",
  "[::1]", "[0:0:0:0:0:0:0:1]", "[0000:0000:0000:0000:0000:0000:0000:0001]", "[::0001]", "[0::1]", "[::0:1]",
  "[0:0::1]", "[::0.0.0.1]", "[0:0:0:0:0:0:0.0.0.1]", "[::0:0.0.0.1]",
  "[::ffff:127.0.0.1]", "[::FFFF:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:7f00:0001]", "[0:0:0:0:0:ffff:127.0.0.1]",
  "[0:0:0:0:0:ffff:7f00:1]", "[0000:0000:0000:0000:0000:ffff:7f00:0001]", "[::ffff:127.1.2.3]", "[0::ffff:7f01:203]",
  "[::0:ffff:127.0.0.1]",
]; // prettier-ignore

/** Literals of every other forbidden network, and of gateways into one. */
const CLOSED_LITERALS = [
  "0.0.0.0", "0", "0x0", "00", "0.0.0.0.", "0.1", "0.0.0.1", "0.255.255.255", "[::]", "[0:0:0:0:0:0:0:0]", "[::0]",
  "[::0.0.0.0]", "[::ffff:0.0.0.0]", "[::ffff:0:0]", "[0::]",
  "10.0.0.0", "10.0.0.1", "10.255.255.255", "0xa.1", "012.1", "167772161", "0x0a000001", "10.1",
  "100.64.0.0", "100.64.0.1", "100.100.100.200", "100.127.255.255", "0x64.0x40.0.1",
  "169.254.0.1", "169.254.169.254", "169.254.169.254.", "2852039166", "0xa9fea9fe", "0xa9.0xfe.0xa9.0xfe",
  "0251.0376.0251.0376", "025177524776", "169.254.43518", "169.16689662", "169.254.170.2", "169.254.170.23",
  "172.16.0.0", "172.16.0.1", "172.31.255.255", "0xac.16.1", "172.1048577",
  "192.0.0.0", "192.0.0.192", "192.0.0.255", "192.0.2.1", "192.0.2.2", "192.88.99.1", "192.168.0.0", "192.168.0.1",
  "192.168.1", "192.168.255.255", "3232235521", "0xc0a80001", "0300.0250.0.1", "030052000001",
  "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "168.63.129.16", "0xa83f8110",
  "224.0.0.1", "239.255.255.250", "240.0.0.1", "254.1.2.3", "255.255.255.255", "4294967295", "0xffffffff",
  "037777777777", "255.16777215",
  "[::2]", "[::127.0.0.1]", "[::7f00:1]", "[::8.8.8.8]", "[::808:808]", "[::169.254.169.254]", "[::10.0.0.1]",
  "[::ffff:10.0.0.1]", "[::ffff:a00:1]", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[::ffff:192.168.0.1]",
  "[::ffff:100.64.0.1]", "[::ffff:172.16.0.1]", "[::ffff:224.0.0.1]", "[::ffff:255.255.255.255]",
  "[::ffff:168.63.129.16]", "[::ffff:0:127.0.0.1]", "[::ffff:0:8.8.8.8]", "[::fffe:127.0.0.1]",
  "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b::10.0.0.1]", "[64:ff9b::169.254.169.254]",
  "[64:ff9b::a9fe:a9fe]", "[64:ff9b::192.168.0.1]", "[64:ff9b::168.63.129.16]", "[64:ff9b::0.0.0.0]",
  "[0064:ff9b:0000:0000:0000:0000:127.0.0.1]", "[64:ff9b::1:7f00:1]", "[64:ff9b:0:1::8.8.8.8]",
  "[64:ff9b:1::127.0.0.1]", "[64:ff9b:1::10.0.0.1]", "[64:ff9b:1::169.254.169.254]", "[64:ff9b:1:1::8.8.8.8]",
  "[64:ff9b:1:7f00:0:100:808:808]", "[64:ff9b:1:a00:0:100::]", "[64:ff9b:2::8.8.8.8]",
  "[2002:7f00:1::]", "[2002:7f00:1::1]", "[2002:7f00:0001:0:0:0:0:0]", "[2002:a00:1::]", "[2002:a9fe:a9fe::]",
  "[2002:c0a8:1::1]", "[2002:ac10:1::]", "[2002:6440:1::]", "[2002:e000:1::]", "[2002::]", "[2002:a83f:8110::]",
  "[2001::]", "[2001::1]", "[2001:0:7f00:1::]", "[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
  "[2001:0:808:808:0:0:80ff:fffe]", "[2001:2::1]", "[2001:10::1]", "[2001:20::1]", "[2001:1ff:ffff::1]",
  "[2001:db8::]", "[2001:db8::1]", "[2001:db8:ffff:ffff:ffff:ffff:ffff:ffff]", "[3fff::1]", "[3fff:fff::1]",
  "[fc00::]", "[fc00::1]", "[fd00::1]", "[fd00::2]", "[fd00:ec2::254]", "[fd00:ec2::23]", "[fd20:ce::254]",
  "[fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]", "[fe80::]", "[fe80::1]", "[fe80::fc:ff:fe00:1]", "[febf::1]",
  "[fec0::1]", "[feff::1]", "[ff00::1]", "[ff01::1]", "[ff02::1]", "[ff02::2]", "[ff05::1:3]", "[ff0e::1]",
  "[100::]", "[100::1]", "[100:0:0:1::1]", "[200::1]", "[400::1]", "[1fff::1]", "[4000::1]", "[5f00::1]", "[6000::1]",
  "[8000::1]", "[e000::1]", "[fe00::1]",
]; // prettier-ignore

/** Invalid hosts, which never reach the client. */
const NO_HOSTS = [
  "[::1%25lo]", "[::1%lo]", "[fe80::1%25eth0]", "[fe80::1%eth0]", "[127.0.0.1]", "[::127.1]", "[::ffff:127.1]",
  "[::ffff:0x7f.1]", "[::ffff:127.0.0.1.]", "[::1", "::1", "[:::1]", "[::1]]", "[1::2::3]", "[::ffff:256.0.0.1]",
  "127.0.0.1.1", "127.0.0.256", "256.1", "4294967296", "0x100000000", "127.0.0.0x100", "1.2.3.08", "0x7g.1.1.1",
  "127.0.0.1%00.example", "127.0.0.1%0a", "127.0.0.1%20", "a b", "ho<st", "ho|st", "ho^st", "%", "",
]; // prettier-ignore

const PUBLIC_ADDRESSES = [
  "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "93.184.216.34", "100.63.255.255", "100.128.0.0",
  "126.255.255.255", "128.0.0.0", "168.63.129.15", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0",
  "191.255.255.255", "192.0.1.0", "192.0.3.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0",
  "223.255.255.255", "2001:200::1", "2001:4860:4860::8888", "2001:db7:ffff::1", "2001:db9::1", "2606:4700::1111",
  "2a00:1450::1", "2620:4f:8000::1", "3ffe::1", "3fff:1000::1", "::ffff:8.8.8.8", "::ffff:808:808",
  "64:ff9b::8.8.8.8", "64:ff9b::808:808", "64:ff9b:1::8.8.8.8", "2002:808:808::1",
]; // prettier-ignore

/** The host after URL parsing, without brackets. */
const hostOf = (spelling: string): string => new URL(`http://${spelling}/`).hostname.replaceAll(/^\[|\]$/g, "");

const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));

describe("egress rules", () => {
  const rules = new EgressRules(CLOSED);

  test.each(PUBLIC_ADDRESSES)("%s is allowed", (ip) => {
    expect(rules.isOpen(ip)).toBe(true);
  });

  test("every forbidden literal is refused", () => {
    const literals = [...LOOPBACK_SPELLINGS, ...CLOSED_LITERALS].map(hostOf);
    expect(literals.filter((ip) => isIP(ip) === 0)).toEqual([]);
    expect(literals.filter((ip) => rules.isOpen(ip))).toEqual([]);
  });

  test.each([
    "",
    "localhost",
    "127.1",
    "0177.0.0.1",
    "8.8.8.8.",
    " 8.8.8.8",
    "[2606:4700::1]",
    "2606:4700::1%lo",
    "::1%lo",
  ])("%j is not an allowed address", (ip) => {
    expect(rules.isOpen(ip)).toBe(false);
    expect(new EgressRules({ allow: ["0.0.0.0/0", "::/0"], loopback: true }).isOpen(ip)).toBe(false);
  });

  test("an IPv4 address gets the same decision in every IPv6 form", () => {
    fc.assert(
      fc.property(fc.ipV4(), (ip) => {
        const [a = 0, b = 0, c = 0, d = 0] = ip.split(".").map(Number);
        const [high, low] = [(a * 256 + b).toString(16), (c * 256 + d).toString(16)];
        const wrapped = [
          `::ffff:${ip}`, `::FFFF:${high}:${low}`, `0:0:0:0:0:ffff:${ip}`, `64:ff9b::${ip}`, `64:ff9b::${high}:${low}`,
          `64:ff9b:1::${ip}`, `2002:${high}:${low}::`, `2002:${high}:${low}:1:2:3:4:5`,
        ]; // prettier-ignore
        expect(wrapped.filter((form) => rules.isOpen(form) !== rules.isOpen(ip))).toEqual([]);
      }),
    );
  });

  test("an IPv6 address gets the same decision in every notation", () => {
    fc.assert(
      fc.property(fc.ipV6(), (ip) => {
        expect(rules.isOpen(ip)).toBe(rules.isOpen(hostOf(`[${ip}]`)));
      }),
    );
  });

  test("the loopback switch allows loopback and nothing else", () => {
    const open = new EgressRules({ allow: [], loopback: true });
    expect(LOOPBACK_SPELLINGS.map(hostOf).filter((ip) => !open.isOpen(ip))).toEqual([]);
    expect(CLOSED_LITERALS.map(hostOf).filter((ip) => open.isOpen(ip))).toEqual([]);
  });

  test("an allowed network is allowed, also written as IPv6, and its neighbours are not", () => {
    const open = new EgressRules({
      allow: ["10.1.0.0/16", "192.168.7.7", "fd12::/16", "64:ff9b:1::/48"],
      loopback: false,
    });
    const opened = ["10.1.0.0", "10.1.255.255", "::ffff:10.1.2.3", "192.168.7.7", "fd12:1::1", "64:ff9b:1:1::a00:1"];
    const closed = ["10.0.255.255", "10.2.0.0", "::ffff:10.2.0.0", "192.168.7.8", "fd13::1", "127.0.0.1", "::1"];
    expect(opened.filter((ip) => !open.isOpen(ip))).toEqual([]);
    expect(closed.filter((ip) => open.isOpen(ip))).toEqual([]);
  });

  test("an allowed network is refused through a gateway, behind which it is another network", () => {
    const open = new EgressRules({ allow: ["10.0.0.0/8"], loopback: true });
    const through = ["64:ff9b::10.0.0.1", "2002:a00:1::1", "64:ff9b::127.0.0.1", "2002:7f00:1::1", "::127.0.0.1"];
    expect(through.filter((ip) => open.isOpen(ip))).toEqual([]);
  });

  test("cloud metadata addresses are refused inside an allowed network", () => {
    const open = new EgressRules({ allow: ["0.0.0.0/0", "::/0"], loopback: true });
    expect(open.isOpen("10.0.0.1") && open.isOpen("fd00::1")).toBe(true);
    const places = ["169.254.169.254", "::ffff:169.254.169.254", "168.63.129.16", "100.100.100.200", "fd00:ec2::254"];
    expect(places.filter((ip) => open.isOpen(ip))).toEqual([]);
  });

  test("a list of networks may contain spaces, and is refused if one entry is invalid", () => {
    expect(readNetworks("10.0.0.0/8, fd00::/8,192.168.1.1")).toEqual(["10.0.0.0/8", "fd00::/8", "192.168.1.1"]);
    for (const written of [
      "",
      "10.0.0.0/33",
      "10.0.0.0/8,",
      "localhost",
      "fe80::1%eth0/64",
      "10.0.0.0/8/8",
      "::/129",
    ]) {
      expect(readNetworks(written)).toBeUndefined();
    }
    expect(() => new EgressRules({ allow: ["10.0.0.0/33"], loopback: false })).toThrow(/"10.0.0.0\/33" is no network/);
  });
});

interface WayOut {
  ask(url: string): Promise<number>;
  /** Number of origins with state. */
  origins(): number;
  destroy(): unknown;
}

type WayOutDeps = Parameters<typeof createGuardedClient>[0];

function clientOut(deps: WayOutDeps): WayOut {
  const client = createGuardedClient(deps);
  return {
    ask: (url) =>
      new Promise((resolve, reject) => {
        const target = readTarget(url);
        if (!target) throw new Error("is no address of the web");
        let status = 0;
        const caller = {
          isWaiting: () => true,
          onConnected: () => {},
          onHead: (head: ResponseHead) => (status = head.status),
          onBody: () => {},
          onEnd: () => resolve(status),
          onFailure: reject,
        };
        client.send(target, { method: "GET", headers: {}, body: null }, caller);
      }),
    origins: () => client.origins,
    destroy: () => client.destroy(),
  };
}

describe("the guarded client", () => {
  /** Listens on every address of this machine and records the address that was reached. */
  let canary: Server;
  let port: number;
  let reached: string[];
  /** Every address that a socket of this process tried to connect to. */
  let tried: string[];
  const waysOut: WayOut[] = [];

  beforeAll(async () => {
    canary = createServer((socket) => {
      reached.push(String(socket.localAddress).replace(/^::ffff:/, ""));
      socket.on("error", () => {});
      socket.once("data", (data) => {
        const location = `http://127.0.0.1:${port}/inside`;
        const status = data.includes(" /moved") ? `302 Found\r\nLocation: ${location}` : "204 No Content";
        socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
      });
    });
    await new Promise<void>((resolve) => canary.listen(0, resolve));
    ({ port } = canary.address() as AddressInfo);
    const connect = Socket.prototype.connect;
    vi.spyOn(Socket.prototype, "connect").mockImplementation(function (this: Socket, ...args: unknown[]) {
      this.on("connectionAttempt", (address: string) => tried.push(address));
      return Reflect.apply(connect, this, args) as Socket;
    });
  });
  beforeEach(() => {
    reached = [];
    tried = [];
  });
  afterEach(async () => {
    await Promise.all(waysOut.splice(0).map((egress) => egress.destroy()));
  });
  afterAll(async () => {
    vi.restoreAllMocks();
    await new Promise((resolve) => canary.close(resolve));
  });

  function wayOutWith(
    opened: { allow?: string[]; loopback?: boolean },
    resolve?: Resolve,
    clock = systemClock,
  ): WayOut {
    const rules = new EgressRules({ allow: opened.allow ?? [], loopback: opened.loopback ?? false });
    const egress = clientOut({ rules, clock, ...(resolve ? { resolve } : {}) });
    waysOut.push(egress);
    return egress;
  }

  const answering =
    (...addresses: string[]): Resolve =>
    async () =>
      addresses.map((address) => ({ address }));

  const statusOf = (egress: WayOut, url: string): Promise<number> => egress.ask(url);

  /** The outcome of one request as a word. */
  const outcomeOf = (egress: WayOut, url: string): Promise<string> =>
    statusOf(egress, url).then(
      (status) => `${status}`,
      (error: unknown) => (error instanceof Error ? error.name : String(error)),
    );

  /** The error message. Handles the rejection at once, so that it is never unhandled. */
  const reasonOf = (outcome: Promise<unknown>): Promise<string> =>
    outcome.then(
      () => "it did not fail",
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );

  const formsOf = (host: string): string[] => [
    `http://${host}:${port}/`,
    `https://${host}:${port}/`,
    `http://example.com@${host}:${port}/`,
    `http://example.com:80@${host}:${port}/#@example.com/`,
  ];

  test("with loopback allowed, every spelling of a loopback address connects", async () => {
    const egress = wayOutWith({ loopback: true });
    const own = ownAddresses();
    const reachable = LOOPBACK_SPELLINGS.filter((spelling) => {
      const host = hostOf(spelling);
      return own.includes(host) || (host === "::ffff:7f00:1" && own.includes("::1"));
    });
    expect(reachable.length).toBeGreaterThan(35);
    for (const host of reachable) {
      expect([host, await outcomeOf(egress, `http://${host}:${port}/`)]).toEqual([host, "204"]);
    }
    expect(reached.length).toBe(reachable.length);
    expect(tried.length).toBe(reachable.length);
  });

  test("no spelling of a forbidden address connects", async () => {
    const egress = wayOutWith({});
    const rules = new EgressRules(CLOSED);
    const own = ownAddresses().filter((ip) => !rules.isOpen(ip));
    const ownHosts = own.map((ip) => (isIP(ip) === 6 ? `[${ip}]` : ip));
    const urls = [...LOOPBACK_SPELLINGS, ...CLOSED_LITERALS, ...ownHosts].flatMap(formsOf);
    expect(urls.length).toBeGreaterThan(900);
    for (const url of urls) expect([url, await outcomeOf(egress, url)]).toEqual([url, "EgressRefused"]);
    expect([reached, tried]).toEqual([[], []]);
  });

  test("an invalid host connects nowhere", async () => {
    const egress = wayOutWith({}, answering("127.0.0.1"));
    for (const host of NO_HOSTS)
      expect([host, await outcomeOf(egress, `http://${host}:${port}/`)]).not.toContain("204");
    for (const scheme of ["ftp", "file", "gopher", "ws", "unix", "data", "javascript", "dict", "ldap"]) {
      expect(await outcomeOf(egress, `${scheme}://127.0.0.1:${port}/`)).not.toBe("204");
    }
    expect([reached, tried]).toEqual([[], []]);
  });

  test("a misleading URL is checked by its real host", async () => {
    const egress = wayOutWith({}, answering("127.0.0.1"));
    const at = `127.0.0.1:${port}`;
    const urls = [
      `http://example.com@${at}/`, `http://example.com%40x@${at}/`, `http://example.com%2f@${at}/`, `http://a:b@${at}/`,
      `http://example.com:443@${at}/`, `http://@${at}/`, `http://:@${at}/`, `http://93.184.216.34@${at}/`,
      `http:\\\\${at}\\`, `http:/${at}/`, `http:${at}/`, `http:///${at}/`, `http://///${at}/`, ` http://${at}/ `,
      `\thttp://${at}/\n`, `ht\ntp://127.0.\t0.1:${port}/`, `HTTP://${at}/`, `hTTpS://${at}/`, `http://${at}?@example.com/`,
      `http://${at}#@example.com/`, `http://${at}\\@example.com/`, `http://${at}/@example.com`, `http://${at};example.com/`,
      `http://127.0.0.1:0${port}/`, `http://127.0.0.1:${port}/../..//example.com`, `http://localhost:${port}/`,
      `http://foo@example.com@${at}/`, `http://example.com:80%20@${at}/`, `http://[::1]:${port}/@example.com`,
    ]; // prettier-ignore
    const outcomes = await Promise.all(urls.map((url) => outcomeOf(egress, url)));
    expect(outcomes.filter((outcome) => /^\d/.test(outcome))).toEqual([]);
    expect(outcomes.filter((outcome) => outcome === "EgressRefused").length).toBeGreaterThan(25);
    expect([reached, tried]).toEqual([[], []]);
  });

  /** Host names whose DNS answers an attacker controls. */
  const NAMES = [
    "inside.example", "INSIDE.example", "inside.example.", "127.0.0.1.nip.example", "7f000001.rbndr.example",
    "xn--bcher-kva.example", "bücher.example", "ⓔxample.com", "пример.example", "例え.example", "a_b.example",
    "localhost", "LOCALHOST", "localhost.", "foo.localhost", "localhost.localdomain", "ip6-localhost",
    "metadata.google.internal", "instance-data", "kubernetes.default.svc", "host.docker.internal", "printer.local",
    "intranet", "0x7f.example", "1.1.1.1.example", "-a.example", `${"a".repeat(63)}.example`,
  ]; // prettier-ignore

  test("no name that resolves to a forbidden address connects, in any form of DNS answer", async () => {
    const inside = [
      ["127.0.0.1"], ["::1"], ["127.0.0.1", "::1"], ["::ffff:127.0.0.1"], ["::ffff:7f00:1"], ["::127.0.0.1"], ["0.0.0.0"],
      ["::"], ["64:ff9b::7f00:1"], ["64:ff9b:1::7f00:1"], ["2002:7f00:1::"], ["2001:0:7f00:1::"], ["::1%lo"],
      ["fe80::1%lo"], ["fe80::fc:ff:fe00:1%eth0"], ["169.254.169.254"], ["fd00:ec2::254"], ["10.0.0.1", "192.168.0.1"],
      ["192.0.2.2"], ["fd00::2"], ["100.64.0.1"], ["127.1"], ["0x7f000001"], ["0177.0.0.1"], ["127.0.0.1."], ["localhost"],
      ["inside.example"], [""], [],
    ]; // prettier-ignore
    let asked = 0;
    for (const answers of inside) {
      const egress = wayOutWith({}, async (host) => {
        asked += 1;
        return answering(...answers)(host);
      });
      for (const url of NAMES.flatMap((name) => [`http://${name}:${port}/`, `https://${name}:${port}/`])) {
        expect([url, answers, await outcomeOf(egress, url)]).toEqual([url, answers, "EgressRefused"]);
      }
    }
    expect(asked).toBe(inside.length * NAMES.length * 2);
    expect([reached, tried]).toEqual([[], []]);
  });

  test("localhost is refused, and allowed when loopback is", async () => {
    expect(await outcomeOf(wayOutWith({}), `http://localhost:${port}/`)).toBe("EgressRefused");
    expect(tried).toEqual([]);
    expect(await outcomeOf(wayOutWith({ loopback: true }), `http://localhost:${port}/`)).toBe("204");
  });

  test("only the allowed addresses of a mixed DNS answer are tried", async () => {
    const mixtures = [
      ["127.0.0.2", "127.0.0.1"], ["127.0.0.1", "127.0.0.2"], ["::1", "127.0.0.1"], ["127.0.0.1", "::1"],
      ["10.0.0.1", "::1", "127.0.0.1", "::ffff:127.0.0.3"], ["0.0.0.0", "127.0.0.1", "::"],
    ]; // prettier-ignore
    for (const answers of mixtures) {
      const egress = wayOutWith({ allow: ["127.0.0.1/32"] }, answering(...answers));
      expect(await outcomeOf(egress, `http://mixed.example:${port}/`)).toBe("204");
    }
    expect(new Set([...reached, ...tried])).toEqual(new Set(["127.0.0.1"]));
  });

  test("DNS rebinding between check and connection has no effect", async () => {
    const turns = ["127.0.0.1", "127.0.0.2", "::1", "127.0.0.1", "0.0.0.0", "127.0.0.1"];
    let asked = 0;
    const egress = wayOutWith({ allow: ["127.0.0.1/32"] }, async () => [{ address: turns[asked++] ?? "" }]);
    const outcomes = [];
    for (const _ of turns) outcomes.push(await outcomeOf(egress, `http://rebind.example:${port}/`));
    expect(outcomes).toEqual(["204", "EgressRefused", "EgressRefused", "204", "EgressRefused", "204"]);
    expect(asked).toBe(turns.length);
    expect([reached, tried]).toEqual([Array(3).fill("127.0.0.1"), Array(3).fill("127.0.0.1")]);
  });

  test("a redirect is a response and is not followed", async () => {
    const egress = wayOutWith({ allow: ["127.0.0.1/32"] }, answering("127.0.0.1"));
    expect(await statusOf(egress, `http://moving.example:${port}/moved`)).toBe(302);
    expect(tried).toEqual(["127.0.0.1"]);
  });

  test("only a few of a name's thousands of addresses are tried", async () => {
    const many = Array.from({ length: 4000 }, (_, n) => `127.${1 + (n >> 8)}.${n & 255}.1`);
    // No server listens on port 1.
    const egress = wayOutWith({ loopback: true }, answering(...many));
    expect(await outcomeOf(egress, "http://many.example:1/")).not.toBe("204");
    expect(tried.length).toBeGreaterThan(0);
    expect(tried.length).toBeLessThanOrEqual(16);
  });

  test("SNI has no trailing dot, and is empty for addresses", async () => {
    const asked: string[] = [];
    const hellos: (string | false | null)[] = [];
    const secure = createSecureServer({
      SNICallback: (name, done) => {
        asked.push(name);
        done(new Error("no certificate here"));
      },
    });
    secure.on("tlsClientError", (_error, socket) => hellos.push(socket.servername));
    await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve));
    const { port: securePort } = secure.address() as AddressInfo;
    const egress = wayOutWith({ loopback: true }, answering("127.0.0.1"));
    for (const host of ["hooks.example", "dotted.example.", "BÜCHER.example", "127.0.0.1"]) {
      expect(await outcomeOf(egress, `https://${host}:${securePort}/`)).not.toMatch(/^\d/);
    }
    await eventually(
      () => hellos.length,
      (count) => count === 4,
    );
    expect(tried).toEqual(Array(4).fill("127.0.0.1"));
    expect(asked).toEqual(["hooks.example", "dotted.example", "xn--bcher-kva.example"]);
    await new Promise((resolve) => secure.close(resolve));
  });

  test("a DNS lookup times out", async () => {
    const clock = new MovedClock();
    let asked = 0;
    const egress = wayOutWith({}, () => new Promise(() => (asked += 1)), clock);
    const outcome = reasonOf(statusOf(egress, `http://slow.example:${port}/`));
    await eventually(
      () => asked,
      (count) => count === 1,
    );
    clock.advance(3000);
    expect(await outcome).toContain("slow.example was not resolved within 3000 ms");
  });

  test("a server that never completes TLS is given up after five seconds", async () => {
    const clock = new MovedClock();
    const mute = createServer((socket) => {
      socket
        .on("error", () => {})
        .on("close", () => (closed += 1))
        .resume();
      taken += 1;
    });
    let taken = 0;
    let closed = 0;
    await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
    const egress = wayOutWith({ loopback: true }, undefined, clock);
    const outcome = reasonOf(statusOf(egress, `https://127.0.0.1:${(mute.address() as AddressInfo).port}/`));
    await eventually(
      () => taken,
      (count) => count === 1,
    );
    clock.advance(5000);
    expect(await outcome).toBe("127.0.0.1 took no connection within 5000 ms");
    await eventually(
      () => closed,
      (count) => count === 1,
    );
    await new Promise((resolve) => mute.close(resolve));
  });

  test("a failed lookup reports the resolver's error", async () => {
    const egress = wayOutWith({}, () =>
      Promise.reject(Object.assign(new Error("no such name"), { code: "ENOTFOUND" })),
    );
    await expect(statusOf(egress, `http://nowhere.example:${port}/`)).rejects.toThrow("no such name");
  });

  test("a refusal names the setting but not the address", async () => {
    const egress = wayOutWith({}, answering("10.77.88.99"));
    const refusal = await statusOf(egress, "http://intranet.example/").catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(EgressRefused);
    expect((refusal as EgressRefused).message).toBe(
      "intranet.example leads to no address that outgoing requests may go to; HELIOGRAPH_EGRESS_ALLOW opens networks",
    );
  });

  /** A server that keeps its connections and counts them. */
  async function keepingServer(answer: (socket: Socket) => void) {
    const open = new Set<Socket>();
    const asked: string[] = [];
    const keeping = createServer((socket) => {
      open.add(socket);
      socket.on("error", () => {}).on("close", () => open.delete(socket));
      socket.on("data", (data) => {
        asked.push(data.toString("latin1"));
        answer(socket);
      });
    });
    await new Promise<void>((resolve) => keeping.listen(0, "127.0.0.1", resolve));
    const close = (): Promise<unknown> => new Promise((resolve) => keeping.close(resolve));
    return { port: (keeping.address() as AddressInfo).port, open, asked, close };
  }
  const YES = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nKeep-Alive: timeout=30\r\n\r\n";

  test("one host can have two hundred connections at once", async () => {
    const server = await keepingServer(() => {});
    const egress = wayOutWith({ loopback: true });
    const outcomes = Promise.all(
      Array.from({ length: 200 }, () => outcomeOf(egress, `http://127.0.0.1:${server.port}/`)),
    );
    await eventually(
      () => server.asked.length,
      (count) => count === 200,
    );
    expect(server.open.size).toBe(200);
    for (const socket of server.open) socket.write(YES);
    expect(new Set(await outcomes)).toEqual(new Set(["200"]));
    await egress.destroy();
    await server.close();
  });

  test("idle connections to many hosts are kept up to a limit, and closed beyond it", async () => {
    const server = await keepingServer((socket) => socket.write(YES));
    const rules = new EgressRules({ allow: [], loopback: true });
    const egress = clientOut({ rules, clock: systemClock, resolve: answering("127.0.0.1"), keptMax: 5 });
    const ask = (n: number): Promise<string> => outcomeOf(egress, `http://host-${n}.example:${server.port}/`);
    for (let n = 0; n < 20; n += 1) {
      expect(await ask(n)).toBe("200");
      await eventually(
        () => server.open.size,
        (count) => count === Math.min(n + 1, 5),
      );
    }
    const kept = server.asked.filter((written) => written.includes("connection: keep-alive"));
    expect([kept.length, server.asked.length]).toEqual([5, 20]);
    // Closed connections free slots.
    for (const socket of server.open) socket.destroy();
    await eventually(
      () => egress.origins(),
      (count) => count === 0,
    );
    await ask(0);
    expect(server.asked.at(-1)).toContain("connection: keep-alive");
    await egress.destroy();
    await server.close();
  });

  test("refused hosts leave no state behind", async () => {
    const egress = wayOutWith({}, answering("127.0.0.1"));
    const hosts = Array.from({ length: 500 }, (_, n) => `http://host-${n}.example:${port}/`);
    const outcomes = await Promise.all(hosts.map((url) => outcomeOf(egress, url)));
    expect(new Set(outcomes)).toEqual(new Set(["EgressRefused"]));
    await eventually(
      () => egress.origins(),
      (count) => count === 0,
    );
  });
});

describe("resolving", () => {
  test("concurrent lookups of a host are shared", async () => {
    let asked = 0;
    const resolve = createResolve(async () => {
      asked += 1;
      return [{ address: "127.0.0.1" }];
    });
    await Promise.all([resolve("a.example"), resolve("a.example"), resolve("b.example")]);
    expect(asked).toBe(2);
    await resolve("a.example");
    expect(asked).toBe(3);
  });

  test("pending lookups are limited, and their slots are freed when they end", async () => {
    const hanging: (() => void)[] = [];
    const resolve = createResolve(() => new Promise((answer) => hanging.push(() => answer([]))));
    const waiting = Array.from({ length: 64 }, (_, n) => resolve(`host-${n}.example`));
    await expect(resolve("late.example")).rejects.toThrow("late.example was not resolved: 64 others are waiting");
    expect(hanging.length).toBe(64);
    for (const answer of hanging) answer();
    await Promise.all(waiting);
    void resolve("late.example");
    expect(hanging.length).toBe(65);
  });
});
