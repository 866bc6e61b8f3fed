import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { COMMAND_LINE } from "../support/entries.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { openSink, type Sink } from "../support/sink.ts";

interface Listening {
  /** The output so far. */
  printed(): string;
  /** Resolves once it has printed something like that. */
  prints(pattern: RegExp): Promise<RegExpExecArray>;
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; stdout: string; stderr: string }>;
}

/** The command in a process of its own. */
function listen(env: Record<string, string>, ...args: string[]): Listening {
  const child = spawn(process.execPath, [COMMAND_LINE, "listen", ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "close") as Promise<[number | null]>;
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  return {
    printed: () => stdout,
    prints: async (pattern) => {
      await eventually(
        () => `${stdout}${stderr}`,
        () => pattern.test(stdout),
      );
      return pattern.exec(stdout) as RegExpExecArray;
    },
    async stop(signal) {
      if (signal) child.kill(signal);
      const [code] = await ended;
      return { code, stdout, stderr };
    },
  };
}

describe.each(ENGINES)("heliograph listen on %s", (engine) => {
  let testServer: TestServer;
  let sink: Sink;
  beforeAll(async () => {
    testServer = await startTestServer(engine);
    // Events are created only if an endpoint subscribes to them.
    await testServer.request("POST", "/api/dlr-configs", { name: "somewhere else", url: "http://127.0.0.1:9/" });
  });
  afterAll(() => testServer.close());
  beforeEach(async () => {
    sink = await openSink();
  });
  afterEach(() => sink.close());

  const start = (...args: string[]): Listening =>
    listen({ HELIOGRAPH_API_KEY: testServer.key }, "--url", testServer.url, "--forward-to", `${sink.url}/dev`, ...args);

  test("prints and forwards new events, signed with the secret that it prints first", async () => {
    await testServer.settled((await testServer.send()).body.data[0]?.messageId ?? "");
    const listening = start("--account", "default");
    const [, secret = ""] = await listening.prints(/signed with (whsec_\S+)/);
    const ids: string[] = [];
    for (let times = 0; times < 3; times += 1) ids.push((await testServer.send()).body.data[0]?.messageId ?? "");
    const heard = await sink.until(3);
    expect(heard.map(({ body }) => (body as { messageId: string }).messageId).toSorted()).toEqual(ids.toSorted());
    for (const { path, text, headers, body } of heard) {
      expect(path).toBe("/dev");
      expect(new Webhook(secret).verify(text, headers as Record<string, string>)).toEqual(body);
      expect(Object.keys(body as object)).toHaveLength(11);
    }
    sink.respondWith((_heard, response) => response.writeHead(500).end());
    const last = (await testServer.send({ to: "15550109001" })).body.data[0]?.messageId ?? "";
    await listening.prints(new RegExp(`sms delivery_report Failed ${last} -> 500 in \\d+ ms`));
    for (const id of ids)
      expect(listening.printed()).toMatch(new RegExp(`Z sms delivery_report Delivered ${id} -> 200`));
    const { code, stdout } = await listening.stop("SIGINT");
    expect(code).toBe(0);
    expect(stdout.trimEnd().split("\n").at(-1)).toBe("4 forwarded, 3 of them answered with a 2xx.");
  });

  test("continues when the developer's server does not answer", async () => {
    const listening = start();
    await listening.prints(/signed with/);
    sink.respondWith((_heard, response) => response.destroy());
    await testServer.send();
    await listening.prints(/-> no answer/);
    sink.respondWith((_heard, response) => response.writeHead(204).end());
    await testServer.send();
    await listening.prints(/-> 204 in/);
    expect((await listening.stop("SIGTERM")).code).toBe(0);
  });

  test("names the fault of wrong arguments", async () => {
    const wrong: [string, string[], number][] = [
      ["--forward-to is a URL", ["--forward-to", "localhost"], 2],
      ["--url is a URL", ["--url", "localhost"], 2],
      ["The API key is missing or invalid", ["--key", "hg_live_wrong"], 2],
      ["the key is one of the account default, not of acme", ["--account", "acme"], 2],
      ["no server answers at http://127.0.0.1:9", ["--url", "http://127.0.0.1:9"], 1],
    ];
    const outcomes = await Promise.all(wrong.map(([, args]) => start(...args).stop()));
    for (const [index, [words, , code]] of wrong.entries()) {
      expect(outcomes[index]?.stderr).toContain(words);
      expect(outcomes[index]?.code).toBe(code);
    }
    const keyless = await listen({}, "--url", testServer.url, "--forward-to", sink.url).stop();
    expect([keyless.code, keyless.stderr]).toEqual([
      2,
      "heliograph: give an API key as --key or HELIOGRAPH_API_KEY, or keep one: profile add NAME --url URL --key KEY\n",
    ]);
  });
});

describe("heliograph listen", () => {
  let server: Server;
  let cursors: (string | null)[];
  let answers: [number, object][];
  beforeAll(async () => {
    server = createServer((request, response) => {
      cursors.push(new URL(request.url ?? "", "http://x").searchParams.get("cursor"));
      const [status, body] = answers.shift() ?? [200, { data: [], nextCursor: "end" }];
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  test("waits for an unavailable server and continues after the last event", async () => {
    cursors = [];
    answers = [
      [200, { data: [], nextCursor: "one" }],
      [503, { message: "The store is away." }],
      [200, { data: [], nextCursor: "two" }],
    ];
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const listening = listen({}, "--url", url, "--key", "some key", "--forward-to", url);
    await listening.prints(/Waiting for the server: The store is away\./);
    await eventually(
      () => cursors,
      (asked) => asked.includes("end"),
    );
    expect((await listening.stop("SIGINT")).code).toBe(0);
    expect(cursors.slice(0, 5)).toEqual(["now", "one", "one", "two", "end"]);
  });
});
