import { describe, expect, test } from "vitest";
import { isWritable } from "../../src/http/health.ts";
import { StorageUnavailable } from "../../src/store/store.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { startTestServer } from "../support/test-server.ts";

const never = (): Promise<void> => new Promise(() => {});

describe("the readiness probe", () => {
  test("fails while a write hangs and none has succeeded recently", async () => {
    expect(await isWritable({ ping: never })).toBe(false);
  });

  test("succeeds while a write hangs shortly after a successful one", async () => {
    const store = { ping: async () => {} };
    expect(await isWritable(store)).toBe(true);
    store.ping = never;
    expect(await isWritable(store)).toBe(true);
  });

  test("is shared by simultaneous requests", async () => {
    let pings = 0;
    const answer = Promise.withResolvers<void>();
    const store = {
      ping: () => {
        pings += 1;
        return answer.promise;
      },
    };
    const asked = [isWritable(store), isWritable(store)];
    answer.resolve();
    expect(await Promise.all(asked)).toEqual([true, true]);
    expect(pings).toBe(1);
  });

  test("fails if the store is unavailable, and throws any other error", async () => {
    const failing = (error: Error) => ({
      ping: async () => {
        throw error;
      },
    });
    expect(await isWritable(failing(new StorageUnavailable("away")))).toBe(false);
    await expect(isWritable(failing(new Error("a fault of ours")))).rejects.toThrow("a fault of ours");
  });
});

describe("/metrics", () => {
  const KEY = "prometheus-reads-this-1";
  const ask = (url: string, headers: Record<string, string>, method = "GET") =>
    fetch(`${url}/metrics`, { method, headers });

  test("is public unless a key is set", async () => {
    const server = await startTestServer("sqlite");
    const answer = await ask(server.url, {});
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain("heliograph_");
    await server.close();
  });

  test.each(["api,dispatch,callbacks", "dispatch"])(
    "with a key needs it as a bearer token, on a node of %s",
    async (roles) => {
      const server = await startTestServer("sqlite", { env: { HELIOGRAPH_METRICS_KEY: KEY, HELIOGRAPH_ROLES: roles } });
      const wrong = [
        {},
        { authorization: KEY },
        { authorization: `Basic ${KEY}` },
        { authorization: "Bearer" },
        { authorization: `Bearer ${KEY}x` },
        { authorization: `Bearer ${KEY.slice(1)}` },
        { apikey: server.key },
        { apikey: KEY },
      ] as Record<string, string>[];
      for (const headers of wrong) {
        const refused = await ask(server.url, headers);
        expect([headers, refused.status]).toEqual([headers, 401]);
        expect(refused.headers.get("www-authenticate")).toBe('Bearer realm="metrics"');
        const text = await refused.text();
        expect(text).toContain("UNAUTHORIZED");
        expect(text).not.toContain("heliograph_");
      }
      expect((await ask(server.url, {}, "HEAD")).status).toBe(401);
      const read = await ask(server.url, { authorization: `Bearer ${KEY}` });
      expect(read.status).toBe(200);
      expect(await read.text()).toContain("heliograph_");
      for (const path of ["/healthz", "/readyz"]) expect((await fetch(server.url + path)).status).toBe(200);
      await server.close();
    },
  );
});

test("the metrics show a carrier that cannot be reached as down, until it is removed", async () => {
  const server = await startTestServer("sqlite");
  const states = async (): Promise<string[]> => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    return text.split("\n").filter((line) => line.startsWith("heliograph_carrier_up{"));
  };
  expect(await states()).toEqual([]);
  const smpp = { host: "127.0.0.1", port: await freePort(), systemId: "heliograph", password: "secret" };
  const { body } = await server.request<{ id: string }>("POST", "/api/carriers", {
    name: "north",
    adapter: "smpp",
    smpp,
  });
  await eventually(states, (lines) => lines.join() === 'heliograph_carrier_up{carrier="1/north"} 0');
  await server.request("DELETE", `/api/carriers/${body.id}`);
  expect(await eventually(states, (lines) => lines.length === 0)).toEqual([]);
  await server.close();
});
