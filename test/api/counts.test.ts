import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

describe.each(ENGINES)("counts on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(engine);
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
});
