import { createServer, type AddressInfo } from "node:net";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EgressRules } from "../src/egress/addresses.ts";
import { HttpClient } from "../src/egress/http-client.ts";
import { systemClock } from "../src/lib/clock.ts";
import { Courier, type Ending, type ReturnReason } from "../src/webhooks/courier.ts";
import { push } from "../src/webhooks/push.ts";
import { eventually } from "./support/eventually.ts";
import { MovedClock } from "./support/moved-clock.ts";

interface Errand {
  endpointKey: string;
  orderKey: string;
  id: string;
}
type Options = ConstructorParameters<typeof Courier<Errand>>[0]["options"];

const errand = (endpointKey: string, orderKey: string, id = `${endpointKey}/${orderKey}`): Errand => ({
  endpointKey,
  orderKey,
  id,
});
const errands = (endpointKey: string, count: number, from = 0): Errand[] =>
  Array.from({ length: count }, (_, n) => errand(endpointKey, String(from + n)));

/** Lets everything happen that needs no more than turns of the event loop. */
const turn = async (): Promise<void> => {
  for (let n = 0; n < 3; n += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe("a place at an endpoint", () => {
  test("is free as soon as the endpoint has answered, however long it takes to write that down", async () => {
    const written = Promise.withResolvers<void>();
    const started: string[] = [];
    const courier = new Courier<Errand>({
      clock: new MovedClock(),
      async deliver({ id }, onAnswered) {
        started.push(id);
        onAnswered();
        await written.promise;
        return "delivered";
      },
      onReturned: () => {},
    });
    for (const job of errands("a", 100)) courier.offer(job);
    courier.offer(errand("a", "0", "a second of the same order"));
    await turn();
    expect(started).toHaveLength(100);
    expect(courier.health("a").inFlight).toBe(0);
    expect(courier.size, "what is not written down is still held").toBe(101);
    written.resolve();
    await turn();
    expect(started.at(-1), "order is kept until then").toBe("a second of the same order");
    expect(courier.size).toBe(0);
  });
});

/** A courier whose deliveries end when the test says so. */
function courierUnderTest(options: Options = {}) {
  const clock = new MovedClock();
  const underWay = new Map<string, { errand: Errand; end: (outcome: Ending) => void; fail: (error: Error) => void }>();
  const started: string[] = [];
  const returned: { id: string; reason: ReturnReason }[] = [];
  let atOnce = 0;
  let made = 0;
  const courier = new Courier<Errand>({
    clock,
    options,
    deliver(job) {
      started.push(job.id);
      return new Promise<Ending>((resolve, reject) => {
        const close = (): void => void underWay.delete(job.id);
        const end = (outcome: Ending): void => (close(), resolve(outcome));
        const fail = (error: Error): void => (close(), reject(error));
        underWay.set(job.id, { errand: job, end, fail });
        atOnce = Math.max(atOnce, underWay.size);
      });
    },
    onReturned: (jobs, reason) => returned.push(...jobs.map(({ id }) => ({ id, reason }))),
  });
  const offerAll = (jobs: readonly Errand[]): number => jobs.filter((job) => courier.offer(job)).length;
  const end = async (outcome: Ending, ...ids: string[]): Promise<void> => {
    for (const id of ids) underWay.get(id)?.end(outcome);
    await turn();
  };
  const endAll = (outcome: Ending): Promise<void> => end(outcome, ...underWay.keys());
  /** Rounds in which everything in flight ends so and the endpoint is kept supplied. */
  const rounds = async (count: number, outcome: Ending, endpointKey = "a", msEach = 0): Promise<void> => {
    for (let n = 0; n < count; n += 1) {
      offerAll(errands(endpointKey, 300, (made += 300)));
      if (msEach > 0) clock.advance(msEach);
      await endAll(outcome);
    }
  };
  return { clock, courier, underWay, started, returned, offerAll, end, endAll, rounds, mostAtOnce: () => atOnce };
}

describe("the window of an endpoint", () => {
  test("begins with ten in flight", async () => {
    const { courier, offerAll, underWay } = courierUnderTest();
    expect(offerAll(errands("a", 50))).toBe(50);
    expect(underWay.size).toBe(10);
    expect(courier.health("a")).toEqual({
      inFlight: 10,
      allowed: 10,
      waiting: 40,
      breaker: "closed",
      openForMs: 0,
      last: null,
    });
  });

  test("widens while the endpoint answers fast and well, to 128 and no further", async () => {
    const { courier, rounds, offerAll, underWay, mostAtOnce, started } = courierUnderTest();
    await rounds(1, "delivered");
    expect(courier.health("a").allowed).toBeGreaterThan(10);
    expect(courier.health("a").allowed).toBeLessThan(20);
    await rounds(40, "delivered");
    offerAll(errands("a", 1000, 1_000_000));
    expect([courier.health("a").allowed, underWay.size, mostAtOnce()]).toEqual([128, 128, 128]);
    expect(new Set(started).size).toBe(started.length);
  });

  test("does not widen for an endpoint that never needed all of it", async () => {
    const { courier, offerAll, endAll } = courierUnderTest();
    for (let n = 0; n < 200; n += 1) {
      offerAll(errands("a", 5, n * 5));
      await endAll("delivered");
    }
    expect(courier.health("a").allowed).toBe(10);
  });

  test("does not widen for answers that take more than a second", async () => {
    const { courier, rounds } = courierUnderTest();
    await rounds(20, "delivered", "a", 1001);
    expect(courier.health("a").allowed).toBe(10);
  });

  test("goes back to ten while answers take five seconds or more, and no further", async () => {
    const { courier, rounds } = courierUnderTest();
    await rounds(40, "delivered");
    expect(courier.health("a").allowed).toBe(128);
    await rounds(20, "delivered", "a", 5000);
    expect(courier.health("a").allowed).toBe(10);
  });

  test("narrows to two while the endpoint fails", async () => {
    const { courier, offerAll, end, started } = courierUnderTest();
    offerAll(errands("a", 60));
    await end("failed", "a/0");
    expect(courier.health("a").allowed).toBe(5);
    await end("failed", "a/1", "a/2", "a/3");
    expect(courier.health("a").allowed).toBe(2);
    await end("delivered", "a/4", "a/5");
    expect([courier.health("a").inFlight, started.length]).toEqual([4, 10]);
    await end("delivered", "a/6", "a/7", "a/8");
    expect([courier.health("a").inFlight, started.length]).toEqual([3, 12]);
  });
});

describe("order", () => {
  test("a job waits for the one before it of the same order, and no other does", async () => {
    const { offerAll, end, started } = courierUnderTest();
    offerAll([errand("a", "m", "m1"), errand("a", "m", "m2"), errand("a", "n", "n1"), errand("a", "m", "m3")]);
    expect(started).toEqual(["m1", "n1"]);
    await end("delivered", "n1");
    expect(started).toEqual(["m1", "n1"]);
    await end("delivered", "m1");
    expect(started).toEqual(["m1", "n1", "m2"]);
    await end("delivered", "m2");
    expect(started).toEqual(["m1", "n1", "m2", "m3"]);
    await end("delivered", "m3");
    expect(offerAll([errand("a", "m", "m4")])).toBe(1);
    expect(started.at(-1)).toBe("m4");
  });

  test("the same order at another endpoint is another order", () => {
    const { offerAll, started } = courierUnderTest();
    offerAll([errand("a", "m", "a1"), errand("b", "m", "b1")]);
    expect(started).toEqual(["a1", "b1"]);
  });

  test("when one fails, those behind it are handed back without an attempt", async () => {
    const { courier, offerAll, end, started, returned } = courierUnderTest();
    offerAll([errand("a", "m", "m1"), errand("a", "m", "m2"), errand("a", "m", "m3"), errand("a", "n", "n1")]);
    await end("failed", "m1");
    expect(returned).toEqual([
      { id: "m2", reason: "one before it failed" },
      { id: "m3", reason: "one before it failed" },
    ]);
    expect([started, courier.size]).toEqual([["m1", "n1"], 1]);
  });

  test("one that is not tried after all tells nothing of its endpoint, and those behind it are handed back", async () => {
    const { courier, offerAll, end, endAll, returned } = courierUnderTest();
    offerAll([errand("a", "m", "m1"), errand("a", "m", "m2"), errand("a", "n", "n1")]);
    await end("delivered", "n1");
    const before = courier.health("a");
    await end("untried", "m1");
    expect(returned).toEqual([{ id: "m2", reason: "one before it failed" }]);
    expect(courier.health("a")).toEqual({ ...before, inFlight: 0, waiting: 0 });
    offerAll(errands("a", 10));
    await endAll("untried");
    expect(courier.health("a")).toMatchObject({ breaker: "closed", allowed: 10, last: { outcome: "delivered" } });
    expect(courier.size).toBe(0);
  });

  test("a delivery that throws counts as a failure, and keeps nobody waiting", async () => {
    const { courier, offerAll, underWay, returned } = courierUnderTest();
    offerAll([errand("a", "m", "m1"), errand("a", "m", "m2")]);
    underWay.get("m1")?.fail(new Error("the store is away"));
    await turn();
    expect(returned).toEqual([{ id: "m2", reason: "one before it failed" }]);
    expect([courier.size, courier.health("a").last?.outcome]).toEqual([0, "failed"]);
  });

  test("whatever comes and however it ends, nothing overtakes, nothing is lost and nothing is left", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ endpoint: fc.nat(2), order: fc.nat(4) }), { minLength: 1, maxLength: 120 }),
        fc.infiniteStream(fc.record({ choice: fc.nat(), outcome: fc.constantFrom("delivered", "delivered", "failed", "untried"), ms: fc.constantFrom(0, 1, 9000, 31_000) })),
        async (wanted, events) => {
          const { clock, courier, underWay, started, returned, end } = courierUnderTest({ jobsMax: 60 });
          const place = new Map<string, number>();
          const offered: string[] = [];
          for (const [n, { endpoint, order }] of wanted.entries()) {
            const job = errand(`e${endpoint}`, `o${order}`, `e${endpoint} o${order} #${n}`);
            place.set(job.id, n);
            if (courier.offer(job)) offered.push(job.id);
            if (n % 3 === 2) await step();
          }
          while (courier.size > 0) await step();
          async function step(): Promise<void> {
            const { choice, outcome, ms } = events.next().value;
            const ids = [...underWay.keys()];
            clock.advance(ms);
            await end(outcome as Ending, ids[choice % Math.max(1, ids.length)] ?? "");
            const orders = [...underWay.values()].map(({ errand: job }) => `${job.endpointKey} ${job.orderKey}`);
            expect(new Set(orders).size).toBe(orders.length);
          }
          const ended = [...started, ...returned.map(({ id }) => id)];
          expect(ended.toSorted()).toEqual(offered.toSorted());
          for (const key of new Set(started.map((id) => id.split("#")[0]))) {
            const places = started.filter((id) => id.startsWith(String(key))).map((id) => place.get(id) ?? 0);
            expect(places).toEqual(places.toSorted((a, b) => a - b));
          }
          expect(underWay.size).toBe(0);
        },
      ),
      { numRuns: 60 },
    );
  }); // prettier-ignore
});

describe("the breaker of an endpoint", () => {
  /** An endpoint that has just failed ten times of ten. */
  async function opened() {
    const made = courierUnderTest();
    made.offerAll(errands("a", 10));
    await made.endAll("failed");
    return made;
  }

  test("opens at seven failures of ten, and what waits is handed back", async () => {
    const { courier, offerAll, end, returned, started } = courierUnderTest();
    offerAll(errands("a", 10));
    await end("delivered", "a/0", "a/1", "a/2");
    await end("failed", "a/3", "a/4", "a/5", "a/6", "a/7", "a/8");
    expect(courier.health("a").breaker).toBe("closed");
    offerAll([...errands("a", 3, 100), errand("a", "9", "behind")]);
    await end("failed", "a/9");
    expect(courier.health("a")).toMatchObject({ breaker: "open", openForMs: 30_000, allowed: 0, waiting: 0, inFlight: 1 });
    expect(returned).toEqual([
      { id: "behind", reason: "one before it failed" },
      { id: "a/101", reason: "the endpoint fails" },
      { id: "a/102", reason: "the endpoint fails" },
    ]);
    expect(started.at(-1)).toBe("a/100");
  }); // prettier-ignore

  test("stays closed while fewer than seven of ten fail, and before there were ten", async () => {
    const { courier, offerAll, end } = courierUnderTest();
    offerAll(errands("a", 9));
    await end("failed", ...errands("a", 9).map(({ id }) => id));
    expect(courier.health("a").breaker).toBe("closed");
    for (let n = 0; n < 5; n += 1) {
      offerAll([errand("a", "good", `good-${n}`)]);
      await end("delivered", `good-${n}`);
    }
    offerAll([errand("a", "bad", "bad")]);
    await end("failed", "bad");
    expect(courier.health("a").breaker).toBe("closed");
  });

  test("forgets failures after five minutes", async () => {
    const { clock, courier, offerAll, end } = courierUnderTest();
    offerAll(errands("a", 9));
    await end("failed", ...errands("a", 9).map(({ id }) => id));
    clock.advance(301_000);
    offerAll([errand("a", "late", "late")]);
    await end("failed", "late");
    expect(courier.health("a").breaker).toBe("closed");
  });

  test("takes nothing for half a minute, and names itself to whoever fetches", async () => {
    const { clock, courier, offerAll, started } = await opened();
    expect(courier.refusing()).toEqual(["a"]);
    clock.advance(29_999);
    expect(offerAll(errands("a", 1, 500))).toBe(0);
    expect(started.length).toBe(10);
    clock.advance(1);
    expect(courier.refusing()).toEqual([]);
    expect(offerAll(errands("a", 1, 500))).toBe(1);
    expect(courier.health("a")).toMatchObject({ breaker: "probing", inFlight: 1 });
  });

  test("probes one at a time, holds little meanwhile, and closes after five successes with a window of two", async () => {
    const { clock, courier, offerAll, endAll, underWay } = await opened();
    clock.advance(30_000);
    expect(offerAll(errands("a", 50, 500))).toBe(32);
    for (let n = 0; n < 4; n += 1) {
      expect(underWay.size).toBe(1);
      await endAll("delivered");
      expect(courier.health("a").breaker).toBe("probing");
    }
    await endAll("delivered");
    expect(courier.health("a")).toMatchObject({ breaker: "closed", allowed: 2, inFlight: 2 });
  });

  test("opens again at the first probe that fails", async () => {
    const { clock, courier, offerAll, endAll, returned } = await opened();
    clock.advance(30_000);
    offerAll(errands("a", 3, 500));
    const before = returned.length;
    await endAll("failed");
    expect(courier.health("a")).toMatchObject({ breaker: "open", openForMs: 30_000, waiting: 0 });
    expect(returned.slice(before).map(({ id }) => id)).toEqual(["a/501", "a/502"]);
  });

  test("begins with a clean sheet when it has closed", async () => {
    const { clock, courier, offerAll, endAll } = await opened();
    clock.advance(30_000);
    offerAll(errands("a", 6, 500));
    for (let n = 0; n < 5; n += 1) await endAll("delivered");
    await endAll("failed");
    expect(courier.health("a").breaker).toBe("closed");
  });

  test("what was under way when it opened changes nothing", async () => {
    const { clock, courier, offerAll, end, rounds, underWay } = courierUnderTest();
    await rounds(40, "delivered");
    clock.advance(301_000);
    offerAll(errands("a", 128, 1_000_000));
    const ids = [...underWay.keys()];
    await end("failed", ...ids.slice(0, 10));
    expect(courier.health("a")).toMatchObject({ breaker: "open", openForMs: 30_000, inFlight: 118 });
    clock.advance(1000);
    await end("failed", ...ids.slice(10, 100));
    await end("delivered", ...ids.slice(100));
    expect(courier.health("a")).toMatchObject({ breaker: "open", openForMs: 29_000, inFlight: 0 });
  });

  test("an order that was under way when it opened is still kept when it has closed", async () => {
    const { clock, courier, offerAll, end, rounds, started, underWay } = courierUnderTest();
    await rounds(4, "delivered");
    while (underWay.size > 0) await end("delivered", ...underWay.keys());
    clock.advance(301_000);
    offerAll([errand("a", "slow", "slow-1"), errand("a", "slow", "slow-2"), ...errands("a", 17, 1_000_000)]);
    const others = [...underWay.keys()].filter((id) => id !== "slow-1");
    await end("failed", ...others.slice(0, 10));
    expect(courier.health("a")).toMatchObject({ breaker: "open", inFlight: 8, waiting: 0 });
    clock.advance(30_000);
    offerAll([errand("a", "slow", "slow-3")]);
    await end("delivered", ...others.slice(10));
    expect(courier.health("a")).toMatchObject({ breaker: "closed", inFlight: 1, waiting: 1 });
    await end("delivered", "slow-1");
    expect(started.at(-1)).toBe("slow-3");
  });
});

describe("bounds", () => {
  test("an endpoint of which nothing is known holds so many for each that it may have in flight", async () => {
    const { courier, offerAll } = courierUnderTest();
    expect(offerAll(errands("a", 500))).toBe(320);
    expect(courier.refusing()).toEqual(["a"]);
    expect(offerAll(errands("b", 1))).toBe(1);
  });

  test("an endpoint that answers well holds as much as is left for others, and one that fails very little", async () => {
    const { courier, offerAll, end } = courierUnderTest();
    offerAll(errands("a", 20));
    await end("delivered", "a/0");
    offerAll(errands("a", 30_000, 100));
    expect(courier.size).toBe(10_000);
    await end("failed", "a/1", "a/2", "a/3", "a/4");
    expect(courier.refusing()).toEqual(["a"]);
    offerAll(errands("b", 20));
    await end("failed", "b/0", "b/1", "b/2", "b/3");
    offerAll(errands("b", 500, 100));
    expect(courier.health("b")).toMatchObject({ waiting: 58, inFlight: 6 });
  });

  test("no endpoint holds more than its bound", async () => {
    const { courier, rounds, offerAll } = courierUnderTest({ jobsPerEndpoint: 400 });
    await rounds(40, "delivered");
    offerAll(errands("a", 1000, 1_000_000));
    expect(courier.size).toBe(400);
  });

  test("all together hold no more than theirs, and the first ones leave room for the last", () => {
    const { courier, offerAll } = courierUnderTest({ jobsMax: 400 });
    const held = Array.from({ length: 30 }, (_, n) => offerAll(errands(`e${n}`, 200)));
    expect(courier.size).toBeLessThanOrEqual(400);
    expect(held[0]).toBeGreaterThan(20);
    expect(held.filter((count) => count === 0)).toEqual([]);
    for (let n = 0; n < 1000; n += 1) offerAll(errands(`f${n}`, 200));
    expect(courier.size).toBe(400);
  });

  test("what is in flight together is shared when it becomes much, and an endpoint always has one", () => {
    const { courier, offerAll, underWay } = courierUnderTest({ inFlightMax: 200 });
    for (let n = 0; n < 60; n += 1) offerAll(errands(`e${n}`, 50));
    const inFlight = Array.from({ length: 60 }, (_, n) => courier.health(`e${n}`).inFlight);
    expect(inFlight[0]).toBe(10);
    expect(Math.min(...inFlight)).toBe(1);
    expect(underWay.size).toBeLessThan(200 + 60);
  });

  test("those that were held back by many others go on, in their order, with the next that comes", async () => {
    const { courier, offerAll, end, started } = courierUnderTest({ inFlightMax: 160 });
    for (let n = 0; n < 200; n += 1) offerAll(errands(`e${n}`, 1));
    offerAll(errands("a", 12));
    expect(courier.health("a")).toMatchObject({ inFlight: 1, waiting: 11 });
    await end("delivered", ...Array.from({ length: 200 }, (_, n) => `e${n}/0`));
    offerAll(errands("a", 1, 12));
    expect(courier.health("a")).toMatchObject({ inFlight: 10, waiting: 3 });
    expect(started.slice(-10)).toEqual(errands("a", 10).map(({ id }) => id));
  });

  test("places are free again when jobs have ended, and all that was taken is carried", async () => {
    const { courier, offerAll, endAll, started } = courierUnderTest({ jobsMax: 400 });
    let taken = 0;
    for (let n = 0; n < 50; n += 1) {
      taken += offerAll(errands("a", 40, n * 1000)) + offerAll(errands("b", 40, n * 1000));
      await endAll("delivered");
    }
    while (courier.size > 0) await endAll("delivered");
    expect(started.length).toBe(taken);
    expect(taken).toBeGreaterThan(1000);
  });

  test("quiet endpoints are forgotten in the end, and busy ones never", async () => {
    const { courier, offerAll, end } = courierUnderTest();
    offerAll([errand("busy", "m")]);
    offerAll([errand("quiet", "q", "q")]);
    await end("delivered", "q");
    expect(courier.health("quiet").last).not.toBeNull();
    for (let n = 0; n < 10_000; n += 1) {
      offerAll([errand(`e${n}`, "x", `x${n}`)]);
      if (n % 100 === 99) await end("delivered", ...Array.from({ length: 100 }, (_, k) => `x${n - k}`));
    }
    expect(courier.health("quiet").last).toBeNull();
    expect(courier.health("busy").inFlight).toBe(1);
  });
});

describe("bulkheads", () => {
  test("fifty endpoints that hang slow down none of fifty that do not", async () => {
    const clock = new MovedClock();
    const delivered = new Map<string, number>();
    const returned: string[] = [];
    let failed = 0;
    const courier = new Courier<Errand>({
      clock,
      deliver: ({ endpointKey }) => {
        if (endpointKey.startsWith("bad")) {
          return new Promise((resolve) => clock.after(15_000, () => ((failed += 1), resolve("failed"))));
        }
        delivered.set(endpointKey, (delivered.get(endpointKey) ?? 0) + 1);
        return Promise.resolve("delivered");
      },
      onReturned: (jobs) => returned.push(...jobs.map(({ endpointKey }) => endpointKey)),
    });
    let taken = 0;
    for (let n = 0; n < 50; n += 1) taken += errands(`bad-${n}`, 500).filter((job) => courier.offer(job)).length;
    expect(taken).toBeGreaterThan(50 * 200);
    const isIn = (job: Errand): boolean => courier.offer(job);
    const waiting = Array.from({ length: 50 }, (_, n) => errands(`good-${n}`, 500)).flat();
    for (let left = waiting; left.length > 0; await turn()) left = left.filter((job) => !isIn(job));
    await turn();
    // No time has passed: every good endpoint has had everything before any bad one has answered at all.
    expect([clock.monotonic(), failed]).toEqual([0, 0]);
    expect([...delivered.values()]).toEqual(Array(50).fill(500));
    expect(courier.size).toBe(taken);

    clock.advance(15_000);
    await turn();
    // Each had begun one more before the last of its ten failures was known.
    expect([failed, courier.size]).toEqual([500, 50]);
    expect(returned.length).toBe(taken - 550);
    expect([new Set(returned).size, courier.refusing().length]).toEqual([50, 50]);
  });

  test("the same over real connections to one host", async () => {
    const clock = new MovedClock();
    const seen = new Map<string, number>();
    const server = createServer((socket) => {
      socket.on("error", () => {}).on("data", (data) => {
        const path = data.toString("latin1").split(" ")[1] ?? "";
        seen.set(path, (seen.get(path) ?? 0) + 1);
        if (path.startsWith("/good")) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const agent = new HttpClient({ rules: new EgressRules({ allow: [], loopback: true }), clock: systemClock });
    const reasons = new Set<string>();
    let delivered = 0;
    const courier = new Courier<Errand>({
      clock,
      async deliver({ endpointKey, id }) {
        const url = `${base}/${endpointKey}`;
        const result = await push(agent, clock, { method: "POST", url, headers: {}, body: id });
        if (result.kind === "failed") reasons.add(`${endpointKey.split("-")[0]}: ${result.reason}`);
        else delivered += 1;
        return result.kind;
      },
      onReturned: () => {},
    });
    for (let n = 0; n < 50; n += 1) for (const job of errands(`bad-${n}`, 20)) courier.offer(job);
    for (let n = 0; n < 50; n += 1) for (const job of errands(`good-${n}`, 20)) courier.offer(job);
    await eventually(
      () => delivered,
      (count) => count === 1000,
    );
    expect(reasons).toEqual(new Set());
    expect([...seen].filter(([path]) => path.startsWith("/good")).map(([, count]) => count)).toEqual(Array(50).fill(20));
    await eventually(
      () => [...seen].filter(([path]) => path.startsWith("/bad")).map(([, count]) => count),
      (counts) => counts.length === 50 && counts.every((count) => count === 10),
    );
    for (const left of [50, 0]) {
      clock.advance(15_000);
      await eventually(
        () => courier.size,
        (size) => size === left,
      );
    }
    expect(reasons).toEqual(new Set(["bad: no answer within 15 s"]));
    agent.destroy();
    await new Promise((resolve) => server.close(resolve));
  }); // prettier-ignore
});

describe("stopping", () => {
  test("hands back what waits, takes nothing more, and resolves when what is in flight has ended", async () => {
    const { courier, offerAll, end, endAll, returned, started } = courierUnderTest();
    offerAll([...errands("a", 12), errand("a", "0", "behind"), ...errands("b", 2, 50)]);
    let stopped = false;
    const stopping = courier.stop().then(() => (stopped = true));
    expect(returned).toEqual(["a/10", "a/11", "behind"].map((id) => ({ id, reason: "the courier stops" })));
    expect(offerAll(errands("c", 1))).toBe(0);
    await end("delivered", "a/0", "a/1");
    expect([stopped, started.length]).toEqual([false, 12]);
    await endAll("delivered");
    await stopping;
    expect([courier.size, started.length]).toEqual([0, 12]);
  });

  test("is done at once when nothing is in flight, and may be asked for twice", async () => {
    const { courier } = courierUnderTest();
    await Promise.all([courier.stop(), courier.stop()]);
    expect(courier.offer(errand("a", "m"))).toBe(false);
  });

  test("offers made while jobs are handed back are refused", async () => {
    const offers: boolean[] = [];
    const courier: Courier<Errand> = new Courier<Errand>({
      clock: new MovedClock(),
      deliver: () => new Promise(() => {}),
      onReturned: (jobs) => offers.push(...jobs.map((job) => courier.offer(job))),
    });
    for (const job of errands("a", 11)) courier.offer(job);
    void courier.stop();
    expect(offers).toEqual([false]);
  });

  test("does not wait longer than an attempt may take", async () => {
    const { clock, courier, offerAll } = courierUnderTest();
    offerAll(errands("a", 1));
    let stopped = false;
    const stopping = courier.stop().then(() => (stopped = true));
    clock.advance(15_000);
    await turn();
    expect(stopped).toBe(false);
    clock.advance(500);
    await stopping;
  });
});
