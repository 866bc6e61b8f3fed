import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { MovedClock } from "../support/moved-clock.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

describe.each(ENGINES)("counts on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    // A busy machine must not end a count early.
    server = await startTestServer(engine, { clock: new MovedClock(Date.now()) });
  });
  afterAll(() => server.close());

  const count = async (path: string): Promise<unknown> => (await server.request("GET", path)).body;

  test("opt-outs are counted once per number, and no longer once they are removed", async () => {
    expect(await count("/api/optout-count")).toEqual({ count: 0, more: false });
    await server.request("POST", "/api/optouts", { numbers: ["15550830001", "+1 555 083 0001", "15550830002"] });
    expect(await count("/api/optout-count")).toEqual({ count: 2, more: false });
    await server.request("DELETE", "/api/optouts/15550830001");
    expect(await count("/api/optout-count")).toEqual({ count: 1, more: false });
  });

  test("opt-outs are counted up to a limit", async () => {
    const numbers = Array.from({ length: 4 }, (_, n) => String(15_550_831_000 + n));
    await server.request("POST", "/api/optouts", { numbers });
    expect(await server.app.store.countOptOuts(1, 3)).toBe(3);
  });

  test("messages are counted by the filters of the list, over several pages", async () => {
    const to = Array.from({ length: 620 }, (_, n) => String(15_550_840_000 + n));
    await server.send({ to, campaignName: "counted" });
    await server.send({ to: ["15550841000", "15550841001"], campaignName: "other" });
    expect(await count("/api/message-count?campaignName=counted")).toEqual({ count: 620, more: false });
    expect(await count("/api/message-count")).toEqual({ count: 622, more: false });
    expect(await count("/api/message-count?recipient=15550841001")).toEqual({ count: 1, more: false });
    expect(await count("/api/message-count?campaignName=none")).toEqual({ count: 0, more: false });
    const { status, body } = await server.request("GET", "/api/message-count?status=gone&recipient=x");
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toMatch(/"status".*"recipient"/);
  });

  test("messages are counted up to 10,000", async () => {
    for (let sent = 0; sent < 10_001; sent += 1000) {
      const to = Array.from({ length: 1000 }, (_, n) => String(15_550_850_000 + sent + n));
      await server.send({ to, campaignName: "many", sendAt: Date.now() + 3_600_000 });
    }
    expect(await count("/api/message-count?campaignName=many")).toEqual({ count: 10_000, more: true });
  });

  test("a test key counts test messages only", async () => {
    const { body } = await server.asOwner<{ key: string }>("POST", "/api/keys", {
      name: "counter",
      scopes: ["read"],
      mode: "test",
    });
    const asTest = async (path: string): Promise<unknown> =>
      (await server.request("GET", path, undefined, { apikey: body.key })).body;
    expect(await asTest("/api/message-count")).toEqual({ count: 0, more: false });
    expect(await asTest("/api/message-count?test=false")).toEqual({ count: 0, more: false });
  });
});
