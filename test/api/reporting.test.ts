import { afterEach, describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { HELD_LIST, startHeldServer, type HeldServer } from "../support/held-reports.ts";
import type { ErrorBody } from "../support/test-server.ts";

const RUNNING_MAX = 2;
const NUMBER = "15550100177";

describe.each(ENGINES)("reporting queries on %s", (engine) => {
  let server: HeldServer | null = null;

  async function open(given: Parameters<typeof startHeldServer>[1] = {}): Promise<HeldServer> {
    server = await startHeldServer(engine, given);
    return server;
  }
  afterEach(async () => {
    await server?.close();
    server = null;
  });

  const loadOf = ({ app }: HeldServer) => app.store.reporting.load;
  const untilRunning = (held: HeldServer, count: number) =>
    eventually(
      () => loadOf(held),
      ({ running }) => running === count,
    );
  /** The status, or null if the request was aborted. */
  const list = (held: HeldServer, signal: AbortSignal | null = null): Promise<number | null> =>
    fetch(held.url + HELD_LIST, { headers: { apikey: held.key }, signal }).then(
      ({ status }) => status,
      () => null,
    );

  test("never delay a send, a one-time password, a redirect, or the read of one message", async () => {
    const held = await open();
    const { body: otp } = await held.request<{ data: string }>("POST", "/v1/verify", {
      configId: "default",
      to: NUMBER,
    });
    await held.send({
      to: "15550100178",
      text: "{SORT}",
      shortenUrlData: { shortenUrl: true, targetUrl: ["https://shop.example/sale"] },
    });
    const phone = (number: string) =>
      eventually(
        () => held.onPhone(number),
        ([first]) => first !== undefined,
      );
    const code = /\d{6}/.exec((await phone(NUMBER))[0]?.text ?? "")?.[0];
    const link = (await phone("15550100178"))[0]?.text ?? "";
    await held.hold();
    const lists = Array.from({ length: 5 }, () => list(held));
    await eventually(
      () => loadOf(held),
      ({ running, waiting }) => running === RUNNING_MAX && waiting === 5 - RUNNING_MAX,
    );

    for (const type of ["TRANS", "PROMO", "OTP"]) {
      const { body } = await held.send({ type, to: "15550100179" });
      const messageId = body.data[0]?.messageId ?? "";
      expect((await held.settled(messageId)).status).toBe("Delivered");
    }
    const checked = await held.request("POST", "/v1/verify/validate", { verifyId: otp.data, otp: code });
    expect(checked.status).toBe(200);
    const again = await held.request("POST", "/v1/verify", { configId: "default", to: "15550100180" });
    expect(again.status).toBe(200);
    const redirect = await fetch(link, { redirect: "manual" });
    expect(redirect.headers.get("location")).toBe("https://shop.example/sale");
    expect((await fetch(`${held.url}/readyz`)).status).toBe(200);
    expect(loadOf(held)).toMatchObject({ running: RUNNING_MAX, waiting: 3 });

    await held.release();
    expect(await Promise.all(lists)).toEqual([200, 200, 200, 200, 200]);
  });

  test.each([false, true])("end when their client leaves (connection thread: %s)", async (connectionThread) => {
    const held = await open({ connectionThread });
    await held.hold();
    const leaving = new AbortController();
    const lists = Array.from({ length: 3 }, () => list(held, leaving.signal));
    await eventually(
      () => loadOf(held),
      ({ waiting }) => waiting === 1,
    );
    leaving.abort();
    expect(await Promise.all(lists)).toEqual([null, null, null]);
    await eventually(
      () => loadOf(held),
      ({ clientLeft, waiting }) => clientLeft === 3 && waiting === 0,
    );
    // SQLite cannot stop a statement: it keeps its turn until it ends, or until the time limit.
    if (engine === "postgres") await untilRunning(held, 0);
    await held.release();
    await untilRunning(held, 0);
    expect(await list(held)).toBe(200);
  });

  test("get 503 QUERY_TIMED_OUT after the time limit, and free their place for others", async () => {
    const held = await open({ env: { HELIOGRAPH_REPORTING_TIMEOUT_SECONDS: "1" } });
    await held.hold();
    const slow = await held.request<{ error: ErrorBody }>("GET", HELD_LIST);
    expect(slow.status).toBe(503);
    expect(slow.body.error).toMatchObject({ code: "QUERY_TIMED_OUT", message: expect.stringContaining("1 s") });
    // The turn is free although the table is still locked, or the thread still stopped.
    await untilRunning(held, 0);
    await held.release();
    // On a busy machine the next list may take longer than the time limit too.
    await eventually(
      () => list(held),
      (status) => status === 200,
    );
    const metrics = await (await fetch(`${held.url}/metrics`)).text();
    expect(metrics).toMatch(/^heliograph_reporting_queries_cancelled_total\{reason="timed_out"\} [1-9]/m);
    expect(metrics).toContain("heliograph_reporting_queries_waiting 0\n");
  });

  test("get 503 QUERY_QUEUE_FULL with Retry-After when too many wait", async () => {
    const held = await open();
    await held.hold();
    const lists = Array.from({ length: RUNNING_MAX + 200 }, () => list(held));
    await eventually(
      () => loadOf(held),
      ({ waiting }) => waiting === 200,
    );
    const refused = await held.request<{ error: ErrorBody }>("GET", HELD_LIST);
    expect(refused.status).toBe(503);
    expect(refused.body.error.code).toBe("QUERY_QUEUE_FULL");
    expect(refused.headers.get("retry-after")).toBe("2");
    await held.release();
    expect((await Promise.all(lists)).filter((status) => status !== 200)).toEqual([]);
  });
});
