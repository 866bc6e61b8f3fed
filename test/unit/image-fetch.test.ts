import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EgressRules } from "../../src/egress/addresses.ts";
import { createGuardedClient } from "../../src/egress/guarded-connect.ts";
import { createImageFetch, pictureTypeOf, type ImageFetch } from "../../src/egress/image-fetch.ts";
import type { HttpClient } from "../../src/http-client/client.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { eventually } from "../support/eventually.ts";
import { MovedClock } from "../support/moved-clock.ts";

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
const JPEG = Buffer.from("ffd8ffe000104a464946000101000001", "hex");

const answer = (status: string, headers: readonly string[], body: Buffer | string = ""): Buffer =>
  Buffer.concat([Buffer.from([`HTTP/1.1 ${status}`, ...headers, "", ""].join("\r\n")), Buffer.from(body)]);
const ok = (body: Buffer | string, ...headers: string[]): Buffer =>
  answer("200 OK", [`Content-Length: ${body.length}`, ...headers], body);

describe("the fetch of a picture", () => {
  let server: Server;
  let base: string;
  let reply: (socket: Socket) => void;
  let requests: string[];
  let sockets: Set<Socket>;
  let egress: HttpClient;
  let clock: MovedClock;
  let images: ImageFetch;

  beforeEach(async () => {
    requests = [];
    sockets = new Set();
    clock = new MovedClock();
    egress = createGuardedClient({ rules: new EgressRules({ allow: [], loopback: true }), clock: systemClock });
    images = createImageFetch({ egress, clock });
    server = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
      socket.on("data", (data) => {
        requests.push(data.toString("latin1"));
        reply(socket);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    egress.destroy();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  const saying = (bytes: Buffer): void => {
    reply = (socket) => void socket.write(bytes);
  };

  test("a picture is passed on with the type that its bytes prove, and kept for a minute", async () => {
    saying(ok(PNG, "Content-Type: text/html", "Set-Cookie: a=b"));
    expect(await images.fetch(`${base}/a.jpg`)).toEqual({ type: "image/png", bytes: PNG });
    await images.fetch(`${base}/a.jpg`);
    expect(requests).toHaveLength(1);
    expect(requests[0]).not.toMatch(/cookie|referer|authorization/i);
    clock.advance(61_000);
    await images.fetch(`${base}/a.jpg`);
    expect(requests).toHaveLength(2);
  });

  test("requests for the same picture at the same time are one", async () => {
    saying(ok(JPEG));
    const both = await Promise.all([images.fetch(`${base}/b`), images.fetch(`${base}/b`)]);
    expect(both.map((picture) => picture?.type)).toEqual(["image/jpeg", "image/jpeg"]);
    expect(requests).toHaveLength(1);
  });

  test.each([
    ["a page", () => ok("<html><script>alert(1)</script>", "Content-Type: image/png")],
    [
      "an SVG, which can hold scripts",
      () => ok("<svg xmlns='http://www.w3.org/2000/svg'/>", "Content-Type: image/svg+xml"),
    ],
    ["an error", () => answer("500 Internal Server Error", [`Content-Length: ${PNG.length}`], PNG)],
    ["no bytes", () => ok("")],
    ["an announced size above 2 MB", () => answer("200 OK", ["Content-Length: 2097153"], PNG)],
    ["a redirect", () => answer("302 Found", [`Location: ${base}/secret`, "Content-Length: 0"])],
  ])("%s is no picture", async (_, bytes) => {
    saying(bytes());
    expect(await images.fetch(`${base}/x`)).toBeNull();
    expect(requests).toHaveLength(1);
    expect(requests[0]).toContain("GET /x ");
  });

  test("a body without an end stops at the limit, and its connection is closed", async () => {
    reply = (socket) => {
      socket.write(answer("200 OK", ["Transfer-Encoding: chunked"]));
      const part = Buffer.concat([
        Buffer.from("10000\r\n"),
        PNG,
        Buffer.alloc(0x10000 - PNG.length),
        Buffer.from("\r\n"),
      ]);
      const more = (): void => {
        while (!socket.destroyed && socket.write(part));
      };
      socket.on("drain", more);
      more();
    };
    expect(await images.fetch(`${base}/endless`)).toBeNull();
    await eventually(
      () => Promise.resolve(sockets.size),
      (open) => open === 0,
    );
  });

  test("a silent server is abandoned after five seconds", async () => {
    reply = () => {};
    const fetching = images.fetch(`${base}/silent`);
    await eventually(
      () => Promise.resolve(requests.length),
      (count) => count === 1,
    );
    clock.advance(5001);
    expect(await fetching).toBeNull();
    await eventually(
      () => Promise.resolve(sockets.size),
      (open) => open === 0,
    );
  });

  test("more than eight pictures at once are not fetched", async () => {
    reply = () => {};
    const waiting = Array.from({ length: 8 }, (_, n) => images.fetch(`${base}/${n}`));
    await eventually(
      () => Promise.resolve(requests.length),
      (count) => count > 0,
    );
    expect(await images.fetch(`${base}/one-more`)).toBeNull();
    clock.advance(5001);
    await Promise.all(waiting);
  });

  test.each([
    "http://127.0.0.1:1/a.png",
    "http://[::1]:1/a.png",
    "http://169.254.169.254/latest/meta-data",
    "http://10.0.0.1/a.png",
    "http://localhost:1/a.png",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:image/png;base64,iVBORw0KGgo=",
    "//127.0.0.1/a.png",
    "",
  ])("the address %j is not fetched", async (link) => {
    const guarded = createGuardedClient({ rules: new EgressRules({ allow: [], loopback: false }), clock: systemClock });
    expect(await createImageFetch({ egress: guarded, clock: systemClock }).fetch(link)).toBeNull();
    guarded.destroy();
    expect(requests).toEqual([]);
  });
});

test.each([
  [PNG, "image/png"],
  [JPEG, "image/jpeg"],
  [Buffer.from("GIF89a--------"), "image/gif"],
  [Buffer.from("RIFF\n\0\0\0WEBPVP8 "), "image/webp"],
  [Buffer.from("RIFF\n\0\0\0WAVEfmt "), null],
  [Buffer.from("%PDF-1.7 ......"), null],
  [Buffer.alloc(0), null],
])("the first bytes of a file prove its type %#", (bytes, type) => {
  expect(pictureTypeOf(bytes)).toBe(type);
});
