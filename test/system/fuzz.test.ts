import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { campaign } from "../fuzz/campaign.ts";
import { openTarget } from "../fuzz/target.ts";
import { freshDatabase } from "../support/databases.ts";
import { ENGINES } from "../support/engines.ts";
import { repetitions } from "../support/repetitions.ts";
import { startTestServer, type ErrorBody, type TestServer, type MessageBody } from "../support/test-server.ts";

const MEMORY_MAX_MB = 700;

/** The same every time, so that a failure is the change's own; `npm run fuzz` goes looking with new ones. */
const seed = Number(process.env["FUZZ_SEED"] ?? 747_850_741);

describe(`requests made from seed ${seed}`, () => {
  test(
    "arbitrary requests get a documented response, and refused ones store nothing",
    { timeout: 600_000 },
    async () => {
      const counts = { requests: repetitions(600, 9_000), rawRequests: repetitions(150, 1_000) };
      expect(await attack(undefined, counts)).toEqual({ ...UNHARMED, ...counts });
    },
  );

  test("arbitrary requests do no harm on PostgreSQL either", { timeout: 600_000 }, async () => {
    const database = await freshDatabase(inject("postgresUrl"));
    const counts = { requests: repetitions(200, 2_700), rawRequests: repetitions(50, 300) };
    expect(await attack(database.url, counts)).toEqual({ ...UNHARMED, ...counts });
    await database.drop();
  });
});

const UNHARMED = { violations: [], errorsLogged: [], death: null, swollen: false, readBack: true };

async function attack(databaseUrl: string | undefined, counts: { requests: number; rawRequests: number }) {
  const target = await openTarget(databaseUrl);
  try {
    const { requests, rawRequests, violations, readBack } = await campaign(target, { seed, ...counts });
    return {
      requests,
      rawRequests,
      violations,
      errorsLogged: target
        .output()
        .split("\n")
        .filter((line) => /"level":"(error|fatal)"/.test(line)),
      death: target.death(),
      swollen: (target.rssMb() ?? 0) > MEMORY_MAX_MB,
      readBack: readBack > counts.requests / 1000,
    };
  } finally {
    await target.close();
  }
}

describe.each(ENGINES)("defects that earlier seeds found, on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(engine);
  });
  afterAll(() => server.close());

  test("HEAD for an event stream does not block the next request", async () => {
    const head = `HEAD /api/simulator/events HTTP/1.1\r\nhost: x\r\napikey: ${server.key}\r\n\r\n`;
    const behind = "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    const answers = await exchange(server.url, head + behind);
    expect(answers.match(/^HTTP\/1\.1 \d{3}/gm)).toEqual(["HTTP/1.1 405", "HTTP/1.1 200"]);
  });

  test.each(["OPTIONS", "HEAD", "PROPFIND", "QUERY", "TRACE", "PUT"])(
    "%s on a send is 405 and names POST",
    async (method) => {
      const answers = await exchange(server.url, `${method} /v1/sms HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
      expect(answers).toMatch(/^HTTP\/1\.1 405 /);
      expect(answers).toMatch(/^allow: POST\r$/m);
    },
  );

  test.each(["/v1/%zz", "/api/keys/%ff", `/v1/messages/${"a".repeat(201)}`])(
    "an address that cannot be read (%s) is refused in our words",
    async (path) => {
      const { status, body, headers } = await server.request<{ error: ErrorBody }>("GET", path);
      expect([status, body.error.code]).toEqual([404, "ROUTE_NOT_FOUND"]);
      expect(headers.get("request-id")).toBe(body.error.requestId);
    },
  );

  test("a receipt's id that no store counts up to is none", async () => {
    for (const id of ["2147483648", "15550100100", "999999999999999"]) {
      expect((await server.request("GET", `/api/receipts?cursor=${id}`)).status).toBe(400);
      expect((await server.request("POST", "/api/receipts/replay", { cursor: id })).status).toBe(400);
      expect((await server.request("POST", `/api/receipts/${id}/replay`)).status).toBe(404);
    }
    expect((await server.request("GET", "/api/receipts?cursor=2147483647")).status).toBe(200);
  });

  test("a path that leads nowhere is 404, whatever the body and its type", async () => {
    for (const headers of [{ "content-type": "text/plain" }, { "content-type": "application/json" }])
      expect((await server.request("POST", "/no-thing", "{", headers)).status).toBe(404);
  });

  test("a body of null is refused and not taken for a missing one", async () => {
    for (const [method, path] of [
      ["PATCH", "/api/account"],
      ["PUT", "/api/simulator/chaos"],
    ] as const)
      expect((await server.request(method, path, "null")).status).toBe(400);
  });

  test("only known chaos settings are stored", async () => {
    const { body } = await server.request<object>(
      "PUT",
      "/api/simulator/chaos",
      '{"constructor":1,"__proto__":{"delayMs":1},"toString":"x","delayMs":0}',
    );
    expect(Object.keys(body).toSorted()).toEqual([
      "delayMs", "deliveredPercent", "down", "duplicatePercent", "lostAnswerPercent", "refusedPercent", "reorderPercent", "throttledPercent",
    ]); // prettier-ignore
  });

  test("a malformed number that looks like a good one does not take its place", async () => {
    const { body } = await server.send({ to: ["\u000115550100222", "15550100222"] });
    const [malformed, good] = await Promise.all(body.data.map(({ messageId }) => server.message(messageId)));
    expect(malformed).toMatchObject({ recipient: "15550100222", state: "rejected" });
    expect(good?.recipient).toBe("15550100222");
    expect(good?.state).not.toBe("rejected");
  });

  test("a shortened malformed number reads back as in the response", async () => {
    const { body } = await server.send({ to: [`${"x".repeat(29)}🎉`, "15550100100"] });
    const read = await server.message(body.data[0]?.messageId ?? "");
    expect(read.recipient).toBe(body.data[0]?.recipient);
  });

  test("a listing from a time that no id can hold is empty, and one up to it is not", async () => {
    await server.send();
    const list = async (query: string): Promise<number> =>
      (await server.request<{ data: MessageBody[] }>("GET", `/v1/messages?${query}`)).body.data.length;
    expect(await list("from=281474976710656")).toBe(0);
    expect(await list("to=281474976710656")).toBeGreaterThan(0);
  });

  test.each(["/v1/messages?campaignName=a%00b", "/v1/messages?channel=%00", "/api/simulator/phones?cursor=%00"])(
    "a NUL in a query (%s) is 400",
    async (path) => {
      expect((await server.request("GET", path)).status).toBe(400);
    },
  );
});

/** Writes bytes to the server and gives all that comes back until it closes the line. */
function exchange(url: string, bytes: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let received = "";
  const socket = connect({ host: new URL(url).hostname, port: Number(new URL(url).port) }, () => socket.write(bytes));
  socket.setTimeout(120_000, () => socket.destroy(new Error(`the line stayed open after ${received}`)));
  socket.setEncoding("utf8").on("data", (chunk: string) => (received += chunk));
  socket.on("error", reject).on("close", () => resolve(received));
  return promise;
}
