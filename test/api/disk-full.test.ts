import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const GB = 1_000_000_000;

describe("a SQLite server whose disk fills up", () => {
  let server: TestServer;
  let freeBytes = 50 * GB;
  beforeAll(async () => {
    const readDiskSpace = async () => ({ freeBytes, totalBytes: 100 * GB });
    server = await startTestServer("sqlite", { readDiskSpace });
  });
  afterAll(() => server.close());

  const readiness = async (): Promise<unknown> => (await server.request("GET", "/readyz")).body;
  const fill = async (free: number, status: string): Promise<void> => {
    freeBytes = free;
    await eventually(readiness, (body) => (body as { status: string }).status === status);
  };

  test("refuses sends and codes with 503 STORAGE_FULL, goes on with receipts and reads, and accepts again with space", async () => {
    const before = await server.send({ to: "15550100001" });
    expect(before.status).toBe(200);
    await fill(GB / 10, "disk full");
    const refused = await server.send({ to: "15550100002" });
    expect([refused.status, refused.body.error?.code, refused.headers.get("retry-after")]).toEqual([
      503,
      "STORAGE_FULL",
      "60",
    ]);
    const code = await server.request<{ error: { code: string } }>("POST", "/v1/verify", {
      to: "15550100003",
      configId: "default",
    });
    expect([code.status, code.body.error.code]).toEqual([503, "STORAGE_FULL"]);
    // Messages accepted before go on to their end.
    expect((await server.settled(before.body.data[0]?.messageId ?? "")).status).toBe("Delivered");
    const { body } = await server.asOwner("GET", "/api/system");
    expect((body as { warnings: { code: string; message: string }[] }).warnings).toEqual([
      { code: "STORAGE_FULL", message: expect.stringContaining("has 100 MB of free space") },
    ]);
    expect(await (await fetch(`${server.url}/metrics`)).text()).toContain("heliograph_disk_full 1\n");
    await fill(50 * GB, "ready");
    expect((await server.send({ to: "15550100002" })).status).toBe(200);
  });
});
