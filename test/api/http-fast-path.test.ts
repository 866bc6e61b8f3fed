import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { newKeySecret } from "../../src/model/api-key.ts";
import { AdmissionController } from "../../src/pipeline/accept/admission-controller.ts";
import { Random } from "../fuzz/random.ts";
import { play, rawCase, type RawOutcome } from "../fuzz/raw.ts";
import { startTestServer, type ErrorBody, type TestServer } from "../support/test-server.ts";

/** Fixed, so that a failure reproduces. */
const SEED = Number(process.env["FUZZ_SEED"] ?? 20_261_118);
const CASES = 400;

const key = newKeySecret("live");
let fast: TestServer;
let plain: TestServer;
beforeAll(async () => {
  const env = { HELIOGRAPH_API_KEY: key, HELIOGRAPH_BASE_URL: "http://sms.example" };
  fast = await startTestServer("sqlite", { connectionThread: true, env });
  plain = await startTestServer("sqlite", {
    connectionThread: true,
    env: { ...env, HELIOGRAPH_HTTP_FAST_PATH: "off" },
  });
});
afterAll(async () => {
  await fast?.close();
  await plain?.close();
});
afterEach(() => void vi.restoreAllMocks());

const withoutIds = (text: string): string =>
  text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<id>")
    .replaceAll(/[A-Za-z0-9+/]{22}==/g, "<nonce>");

/** Everything received until the server closes. */
async function exchange(url: string, bytes: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let received = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => (received += chunk));
  socket.on("error", () => undefined);
  socket.write(bytes);
  await once(socket, "close");
  return withoutIds(received).replaceAll(/^date: .*\r$/gim, "date: <date>\r");
}

const body = JSON.stringify({ sender: "HELIOG", to: "15550100100", text: "Hello", type: "TRANS" });

function send(...headers: string[]): string {
  const head = ["host: x", `apikey: ${key}`, "content-type: application/json", `content-length: ${body.length}`];
  return `POST /v1/sms HTTP/1.1\r\n${[...head, ...headers, "connection: close"].join("\r\n")}\r\n\r\n${body}`;
}

describe("without the fast path", () => {
  test.each([
    ["a send", send()],
    ["a send with a wrong key", send().replace(key, "hg_live_wrong")],
    ["a send of another type", send().replace("application/json", "text/plain")],
    ["a send of another charset", send().replace("application/json", "application/json; charset=latin1")],
    ["a send with invalid JSON", send().replace('{"sender"', '["sender"')],
    ["a send that is not UTF-8", Buffer.from(send().replace("Hello", "Gr\u00fc\u00dfe"), "latin1")],
    ["a send in an unknown encoding", send("content-encoding: br")],
    ["a send with faults", send().replace('"TRANS"', '"TRAIN"')],
    ["a send with an empty idempotency key", send("idempotency-key:")],
    ["a short link", "GET /s/aB3defg HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"],
    ["a short link at the root", "GET /aB3defg HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"],
    ["another method", "GET /v1/sms HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"],
    ["no host", "GET /healthz HTTP/1.1\r\n\r\n"],
    ["noise", "\u0001\u0002\r\n\r\n"],
  ])("%s gets the same response bytes", async (_name, bytes) => {
    const [one, other] = await Promise.all([exchange(fast.url, bytes), exchange(plain.url, bytes)]);
    expect(one).toMatch(/^HTTP\/1\.1 \d{3} /);
    expect(other.toLowerCase().split("\r\n").toSorted()).toEqual(one.toLowerCase().split("\r\n").toSorted());
  });

  test(`${CASES} generated raw requests (seed ${SEED}) get the same responses`, async () => {
    const comparable = ({ answers, rest }: RawOutcome) => ({
      answers: answers.map((answer) => [answer.status, withoutIds(answer.body)]),
      rest,
    });
    const both = (index: number) =>
      Promise.all(
        [fast, plain].map(async ({ url }) =>
          comparable(await play(rawCase(Random.of(SEED, index), key), new URL(url))),
        ),
      );
    const different: object[] = [];
    let answered = 0;
    const compare = async (index: number, triesLeft: number): Promise<void> => {
      const [one, other] = await both(index);
      if (JSON.stringify(one) === JSON.stringify(other)) return void (answered += one?.answers.length ?? 0);
      // Some cases wait only briefly for a response, which a busy machine can miss; a real difference repeats.
      if (triesLeft > 0) return compare(index, triesLeft - 1);
      different.push({ index, name: rawCase(Random.of(SEED, index), key).name, one, other });
    };
    for (let from = 0; from < CASES; from += 10)
      await Promise.all(Array.from({ length: 10 }, (_, at) => compare(from + at, 8)));
    expect(different).toEqual([]);
    expect(answered).toBeGreaterThan(CASES / 2);
  });

  test("a burst of pipelined sends gets its responses in order", async () => {
    const burst = send().replace("connection: close\r\n", "");
    const received = await exchange(plain.url, burst.repeat(100) + send());
    expect([...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status)).toEqual(
      Array.from({ length: 101 }, () => "200"),
    );
  });
});

describe.each([
  ["the fast path", () => fast],
  ["Node's HTTP server", () => plain],
])("on %s", (_name, server) => {
  test("a send through an untrusted proxy raises the warning", async () => {
    const answer = await exchange(server().url, send("x-forwarded-for: 192.0.2.1"));
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    const { status, body: system } = await server().request<{ warnings: { code: string }[] }>(
      "GET",
      "/api/system",
      undefined,
      { apikey: key },
    );
    expect([status, system.warnings.map(({ code }) => code)]).toEqual([
      200,
      expect.arrayContaining(["UNTRUSTED_PROXY"]),
    ]);
  });

  test("a send of a refused type is refused before its body is parsed", async () => {
    vi.spyOn(AdmissionController.prototype, "isRefusing").mockImplementation((routeClass) => routeClass === "PROMO");
    const ask = (text: string, headers = {}) => server().request<{ error: ErrorBody }>("POST", "/v1/sms", text, { apikey: key, ...headers });
    // Invalid JSON shows whether the body was parsed.
    const refused = await ask('{"type":"PROMO",');
    expect([refused.status, refused.body.error.code]).toEqual([503, "OVERLOADED"]);
    for (const parsed of [await ask('{"type":"TRANS",'), await ask('{"type":"PROMO","sendAt"'), await ask('{"type":"PROMO",', { "idempotency-key": "a" })])
      expect([parsed.status, parsed.body.error.code]).toEqual([400, "INVALID_JSON"]);
  }); // prettier-ignore
});
