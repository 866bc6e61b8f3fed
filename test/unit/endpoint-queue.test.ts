import { createServer, type AddressInfo } from "node:net";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EgressRules } from "../../src/egress/addresses.ts";
import { createGuardedClient } from "../../src/egress/guarded-connect.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { EndpointQueue, type Ending, type ReturnReason } from "../../src/webhooks/endpoint-queue.ts";
import { push } from "../../src/webhooks/transport/transport.ts";
import { eventually } from "../support/eventually.ts";
import { MovedClock } from "../support/moved-clock.ts";

interface Job {
  endpointKey: string;
  orderKey: string;
  id: string;
}
type Options = ConstructorParameters<typeof EndpointQueue<Job>>[0]["options"];

const jobOf = (endpointKey: string, orderKey: string, id = `${endpointKey}/${orderKey}`): Job => ({
  endpointKey,
  orderKey,
  id,
});
const jobsOf = (endpointKey: string, count: number, from = 0): Job[] =>
  Array.from({ length: count }, (_, n) => jobOf(endpointKey, String(from + n)));

/** Lets everything happen that needs no more than turns of the event loop. */
const turn = async (): Promise<void> => {
  for (let n = 0; n < 3; n += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe("a request slot of an endpoint", () => {
  test("is free as soon as the endpoint has answered, before the result is committed", async () => {
    const written = Promise.withResolvers<void>();
    const started: string[] = [];
    const queue = new EndpointQueue<Job>({
      clock: new MovedClock(),
      async deliver({ id }, onAnswered) {
        started.push(id);
        onAnswered();
        await written.promise;
        return "delivered";
      },
      onReturned: () => {},
    });
    for (const job of jobsOf("a", 100)) queue.offer(job);
    queue.offer(jobOf("a", "0", "a second of the same order"));
    await turn();
    expect(started).toHaveLength(100);
    expect(queue.health("a").inFlight).toBe(0);
    expect(queue.size, "what is not written down is still held").toBe(101);
    written.resolve();
    await turn();
    expect(started.at(-1), "order is kept until then").toBe("a second of the same order");
    expect(queue.size).toBe(0);
  });
});

/** A queue whose deliveries end when the test says so. */
function queueUnderTest(options: Options = {}) {
  const clock = new MovedClock();
  const underWay = new Map<string, { job: Job; end: (outcome: Ending) => void; fail: (error: Error) => void }>();
  const started: string[] = [];
  const returned: { id: string; reason: ReturnReason }[] = [];
  let atOnce = 0;
  let made = 0;
  const queue = new EndpointQueue<Job>({
    clock,
    options,
    deliver(job) {
      started.push(job.id);
      return new Promise<Ending>((resolve, reject) => {
        const close = (): void => void underWay.delete(job.id);
        const end = (outcome: Ending): void => (close(), resolve(outcome));
        const fail = (error: Error): void => (close(), reject(error));
        underWay.set(job.id, { job: job, end, fail });
        atOnce = Math.max(atOnce, underWay.size);
      });
    },
    onReturned: (jobs, reason) => returned.push(...jobs.map(({ id }) => ({ id, reason }))),
  });
  const offerAll = (jobs: readonly Job[]): number => jobs.filter((job) => queue.offer(job)).length;
  const end = async (outcome: Ending, ...ids: string[]): Promise<void> => {
    for (const id of ids) underWay.get(id)?.end(outcome);
    await turn();
  };
  const endAll = (outcome: Ending): Promise<void> => end(outcome, ...underWay.keys());
  /** Rounds in which everything in flight ends so and the endpoint is kept supplied. */
  const rounds = async (count: number, outcome: Ending, endpointKey = "a", msEach = 0): Promise<void> => {
    for (let n = 0; n < count; n += 1) {
      offerAll(jobsOf(endpointKey, 300, (made += 300)));
      if (msEach > 0) clock.advance(msEach);
      await endAll(outcome);
    }
  };
  return { clock, queue, underWay, started, returned, offerAll, end, endAll, rounds, mostAtOnce: () => atOnce };
}

describe("the window of an endpoint", () => {
  test("starts at ten requests", async () => {
    const { queue, offerAll, underWay } = queueUnderTest();
    expect(offerAll(jobsOf("a", 50))).toBe(50);
    expect(underWay.size).toBe(10);
    expect(queue.health("a")).toEqual({
      inFlight: 10,
      allowed: 10,
      waiting: 40,
      breaker: "closed",
      openForMs: 0,
      last: null,
    });
  });

  test("grows to at most 128 while the endpoint answers fast", async () => {
    const { queue, rounds, offerAll, underWay, mostAtOnce, started } = queueUnderTest();
    await rounds(1, "delivered");
    expect(queue.health("a").allowed).toBeGreaterThan(10);
    expect(queue.health("a").allowed).toBeLessThan(20);
    await rounds(40, "delivered");
    offerAll(jobsOf("a", 1000, 1_000_000));
    expect([queue.health("a").allowed, underWay.size, mostAtOnce()]).toEqual([128, 128, 128]);
    expect(new Set(started).size).toBe(started.length);
  });

  test("does not grow while it is not full", async () => {
    const { queue, offerAll, endAll } = queueUnderTest();
    for (let n = 0; n < 200; n += 1) {
      offerAll(jobsOf("a", 5, n * 5));
      await endAll("delivered");
    }
    expect(queue.health("a").allowed).toBe(10);
  });

  test("does not grow while answers take more than a second", async () => {
    const { queue, rounds } = queueUnderTest();
    await rounds(20, "delivered", "a", 1001);
    expect(queue.health("a").allowed).toBe(10);
  });

  test("shrinks to ten while answers take five seconds or more", async () => {
    const { queue, rounds } = queueUnderTest();
    await rounds(40, "delivered");
    expect(queue.health("a").allowed).toBe(128);
    await rounds(20, "delivered", "a", 5000);
    expect(queue.health("a").allowed).toBe(10);
  });

  test("shrinks to two while the endpoint fails", async () => {
    const { queue, offerAll, end, started } = queueUnderTest();
    offerAll(jobsOf("a", 60));
    await end("failed", "a/0");
    expect(queue.health("a").allowed).toBe(5);
    await end("failed", "a/1", "a/2", "a/3");
    expect(queue.health("a").allowed).toBe(2);
    await end("delivered", "a/4", "a/5");
    expect([queue.health("a").inFlight, started.length]).toEqual([4, 10]);
    await end("delivered", "a/6", "a/7", "a/8");
    expect([queue.health("a").inFlight, started.length]).toEqual([3, 12]);
  });
});

describe("order", () => {
  test("a job waits only for the previous job with its order key", async () => {
    const { offerAll, end, started } = queueUnderTest();
    offerAll([jobOf("a", "m", "m1"), jobOf("a", "m", "m2"), jobOf("a", "n", "n1"), jobOf("a", "m", "m3")]);
    expect(started).toEqual(["m1", "n1"]);
    await end("delivered", "n1");
    expect(started).toEqual(["m1", "n1"]);
    await end("delivered", "m1");
    expect(started).toEqual(["m1", "n1", "m2"]);
    await end("delivered", "m2");
    expect(started).toEqual(["m1", "n1", "m2", "m3"]);
    await end("delivered", "m3");
    expect(offerAll([jobOf("a", "m", "m4")])).toBe(1);
    expect(started.at(-1)).toBe("m4");
  });

  test("order keys of different endpoints are independent", () => {
    const { offerAll, started } = queueUnderTest();
    offerAll([jobOf("a", "m", "a1"), jobOf("b", "m", "b1")]);
    expect(started).toEqual(["a1", "b1"]);
  });

  test("after a failure, the jobs behind it are returned without an attempt", async () => {
    const { queue, offerAll, end, started, returned } = queueUnderTest();
    offerAll([jobOf("a", "m", "m1"), jobOf("a", "m", "m2"), jobOf("a", "m", "m3"), jobOf("a", "n", "n1")]);
    await end("failed", "m1");
    expect(returned).toEqual([
      { id: "m2", reason: "one before it failed" },
      { id: "m3", reason: "one before it failed" },
    ]);
    expect([started, queue.size]).toEqual([["m1", "n1"], 1]);
  });

  test("an untried job does not count for the endpoint, and the jobs behind it are returned", async () => {
    const { queue, offerAll, end, endAll, returned } = queueUnderTest();
    offerAll([jobOf("a", "m", "m1"), jobOf("a", "m", "m2"), jobOf("a", "n", "n1")]);
    await end("delivered", "n1");
    const before = queue.health("a");
    await end("untried", "m1");
    expect(returned).toEqual([{ id: "m2", reason: "one before it failed" }]);
    expect(queue.health("a")).toEqual({ ...before, inFlight: 0, waiting: 0 });
    offerAll(jobsOf("a", 10));
    await endAll("untried");
    expect(queue.health("a")).toMatchObject({ breaker: "closed", allowed: 10, last: { outcome: "delivered" } });
    expect(queue.size).toBe(0);
  });

  test("a delivery that throws counts as a failure and frees its slot", async () => {
    const { queue, offerAll, underWay, returned } = queueUnderTest();
    offerAll([jobOf("a", "m", "m1"), jobOf("a", "m", "m2")]);
    underWay.get("m1")?.fail(new Error("the store is away"));
    await turn();
    expect(returned).toEqual([{ id: "m2", reason: "one before it failed" }]);
    expect([queue.size, queue.health("a").last?.outcome]).toEqual([0, "failed"]);
  });

  test("for any sequence of jobs and outcomes, none overtakes, none is lost and none stays in memory", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ endpoint: fc.nat(2), order: fc.nat(4) }), { minLength: 1, maxLength: 120 }),
        fc.infiniteStream(fc.record({ choice: fc.nat(), outcome: fc.constantFrom("delivered", "delivered", "failed", "untried"), ms: fc.constantFrom(0, 1, 9000, 31_000) })),
        async (wanted, events) => {
          const { clock, queue, underWay, started, returned, end } = queueUnderTest({ jobsMax: 60 });
          const place = new Map<string, number>();
          const offered: string[] = [];
          for (const [n, { endpoint, order }] of wanted.entries()) {
            const next = jobOf(`e${endpoint}`, `o${order}`, `e${endpoint} o${order} #${n}`);
            place.set(next.id, n);
            if (queue.offer(next)) offered.push(next.id);
            if (n % 3 === 2) await step();
          }
          while (queue.size > 0) await step();
          async function step(): Promise<void> {
            const { choice, outcome, ms } = events.next().value;
            const ids = [...underWay.keys()];
            clock.advance(ms);
            await end(outcome as Ending, ids[choice % Math.max(1, ids.length)] ?? "");
            const orders = [...underWay.values()].map(({ job }) => `${job.endpointKey} ${job.orderKey}`);
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
    const made = queueUnderTest();
    made.offerAll(jobsOf("a", 10));
    await made.endAll("failed");
    return made;
  }

  test("opens at seven failures of ten, and waiting jobs are returned", async () => {
    const { queue, offerAll, end, returned, started } = queueUnderTest();
    offerAll(jobsOf("a", 10));
    await end("delivered", "a/0", "a/1", "a/2");
    await end("failed", "a/3", "a/4", "a/5", "a/6", "a/7", "a/8");
    expect(queue.health("a").breaker).toBe("closed");
    offerAll([...jobsOf("a", 3, 100), jobOf("a", "9", "behind")]);
    await end("failed", "a/9");
    expect(queue.health("a")).toMatchObject({ breaker: "open", openForMs: 30_000, allowed: 0, waiting: 0, inFlight: 1 });
    expect(returned).toEqual([
      { id: "behind", reason: "one before it failed" },
      { id: "a/101", reason: "the endpoint fails" },
      { id: "a/102", reason: "the endpoint fails" },
    ]);
    expect(started.at(-1)).toBe("a/100");
  }); // prettier-ignore

  test("stays closed while fewer than seven of ten fail, and before there were ten", async () => {
    const { queue, offerAll, end } = queueUnderTest();
    offerAll(jobsOf("a", 9));
    await end("failed", ...jobsOf("a", 9).map(({ id }) => id));
    expect(queue.health("a").breaker).toBe("closed");
    for (let n = 0; n < 5; n += 1) {
      offerAll([jobOf("a", "good", `good-${n}`)]);
      await end("delivered", `good-${n}`);
    }
    offerAll([jobOf("a", "bad", "bad")]);
    await end("failed", "bad");
    expect(queue.health("a").breaker).toBe("closed");
  });

  test("forgets failures after five minutes", async () => {
    const { clock, queue, offerAll, end } = queueUnderTest();
    offerAll(jobsOf("a", 9));
    await end("failed", ...jobsOf("a", 9).map(({ id }) => id));
    clock.advance(301_000);
    offerAll([jobOf("a", "late", "late")]);
    await end("failed", "late");
    expect(queue.health("a").breaker).toBe("closed");
  });

  test("refuses jobs for half a minute", async () => {
    const { clock, queue, offerAll, started } = await opened();
    clock.advance(29_999);
    expect(offerAll(jobsOf("a", 1, 500))).toBe(0);
    expect(started.length).toBe(10);
    clock.advance(1);
    expect(offerAll(jobsOf("a", 1, 500))).toBe(1);
    expect(queue.health("a")).toMatchObject({ breaker: "probing", inFlight: 1 });
  });

  test("probes with one request at a time and closes after five successes with a window of two", async () => {
    const { clock, queue, offerAll, endAll, underWay } = await opened();
    clock.advance(30_000);
    expect(offerAll(jobsOf("a", 50, 500))).toBe(32);
    for (let n = 0; n < 4; n += 1) {
      expect(underWay.size).toBe(1);
      await endAll("delivered");
      expect(queue.health("a").breaker).toBe("probing");
    }
    await endAll("delivered");
    expect(queue.health("a")).toMatchObject({ breaker: "closed", allowed: 2, inFlight: 2 });
  });

  test("opens again at the first probe that fails", async () => {
    const { clock, queue, offerAll, endAll, returned } = await opened();
    clock.advance(30_000);
    offerAll(jobsOf("a", 3, 500));
    const before = returned.length;
    await endAll("failed");
    expect(queue.health("a")).toMatchObject({ breaker: "open", openForMs: 30_000, waiting: 0 });
    expect(returned.slice(before).map(({ id }) => id)).toEqual(["a/501", "a/502"]);
  });

  test("forgets earlier failures when it closes", async () => {
    const { clock, queue, offerAll, endAll } = await opened();
    clock.advance(30_000);
    offerAll(jobsOf("a", 6, 500));
    for (let n = 0; n < 5; n += 1) await endAll("delivered");
    await endAll("failed");
    expect(queue.health("a").breaker).toBe("closed");
  });

  test("ignores results of requests that started before it opened", async () => {
    const { clock, queue, offerAll, end, rounds, underWay } = queueUnderTest();
    await rounds(40, "delivered");
    clock.advance(301_000);
    offerAll(jobsOf("a", 128, 1_000_000));
    const ids = [...underWay.keys()];
    await end("failed", ...ids.slice(0, 10));
    expect(queue.health("a")).toMatchObject({ breaker: "open", openForMs: 30_000, inFlight: 118 });
    clock.advance(1000);
    await end("failed", ...ids.slice(10, 100));
    await end("delivered", ...ids.slice(100));
    expect(queue.health("a")).toMatchObject({ breaker: "open", openForMs: 29_000, inFlight: 0 });
  });

  test("keeps the order of a message across an open period", async () => {
    const { clock, queue, offerAll, end, rounds, started, underWay } = queueUnderTest();
    await rounds(4, "delivered");
    while (underWay.size > 0) await end("delivered", ...underWay.keys());
    clock.advance(301_000);
    offerAll([jobOf("a", "slow", "slow-1"), jobOf("a", "slow", "slow-2"), ...jobsOf("a", 17, 1_000_000)]);
    const others = [...underWay.keys()].filter((id) => id !== "slow-1");
    await end("failed", ...others.slice(0, 10));
    expect(queue.health("a")).toMatchObject({ breaker: "open", inFlight: 8, waiting: 0 });
    clock.advance(30_000);
    offerAll([jobOf("a", "slow", "slow-3")]);
    await end("delivered", ...others.slice(10));
    expect(queue.health("a")).toMatchObject({ breaker: "closed", inFlight: 1, waiting: 1 });
    await end("delivered", "slow-1");
    expect(started.at(-1)).toBe("slow-3");
  });
});

describe("bounds", () => {
  test("an endpoint without history holds 32 jobs per allowed request", async () => {
    const { offerAll } = queueUnderTest();
    expect(offerAll(jobsOf("a", 500))).toBe(320);
    expect(offerAll(jobsOf("b", 1))).toBe(1);
  });

  test("an endpoint that delivers may fill half the memory, a failing one very little", async () => {
    const { queue, offerAll, end } = queueUnderTest();
    offerAll(jobsOf("a", 20));
    await end("delivered", "a/0");
    offerAll(jobsOf("a", 30_000, 100));
    expect(queue.size).toBe(10_000);
    await end("failed", "a/1", "a/2", "a/3", "a/4");
    expect(offerAll(jobsOf("a", 1, 90_000))).toBe(0);
    offerAll(jobsOf("b", 20));
    await end("failed", "b/0", "b/1", "b/2", "b/3");
    offerAll(jobsOf("b", 500, 100));
    expect(queue.health("b")).toMatchObject({ waiting: 58, inFlight: 6 });
  });

  test("an endpoint holds no more jobs than its limit", async () => {
    const { queue, rounds, offerAll } = queueUnderTest({ jobsPerEndpoint: 400 });
    await rounds(40, "delivered");
    offerAll(jobsOf("a", 1000, 1_000_000));
    expect(queue.size).toBe(400);
  });

  test("all endpoints together stay within the limit, and each gets a share", () => {
    const { queue, offerAll } = queueUnderTest({ jobsMax: 400 });
    const held = Array.from({ length: 30 }, (_, n) => offerAll(jobsOf(`e${n}`, 200)));
    expect(queue.size).toBeLessThanOrEqual(400);
    expect(held[0]).toBeGreaterThan(20);
    expect(held.filter((count) => count === 0)).toEqual([]);
    for (let n = 0; n < 1000; n += 1) offerAll(jobsOf(`f${n}`, 200));
    expect(queue.size).toBe(400);
  });

  test("the total of requests in flight is shared, and each endpoint may always have one", () => {
    const { queue, offerAll, underWay } = queueUnderTest({ inFlightMax: 200 });
    for (let n = 0; n < 60; n += 1) offerAll(jobsOf(`e${n}`, 50));
    const inFlight = Array.from({ length: 60 }, (_, n) => queue.health(`e${n}`).inFlight);
    expect(inFlight[0]).toBe(10);
    expect(Math.min(...inFlight)).toBe(1);
    expect(underWay.size).toBeLessThan(200 + 60);
  });

  test("jobs that waited for the shared limit start in order with the next offer", async () => {
    const { queue, offerAll, end, started } = queueUnderTest({ inFlightMax: 160 });
    for (let n = 0; n < 200; n += 1) offerAll(jobsOf(`e${n}`, 1));
    offerAll(jobsOf("a", 12));
    expect(queue.health("a")).toMatchObject({ inFlight: 1, waiting: 11 });
    await end("delivered", ...Array.from({ length: 200 }, (_, n) => `e${n}/0`));
    offerAll(jobsOf("a", 1, 12));
    expect(queue.health("a")).toMatchObject({ inFlight: 10, waiting: 3 });
    expect(started.slice(-10)).toEqual(jobsOf("a", 10).map(({ id }) => id));
  });

  test("finished jobs free their slots, and every accepted job is delivered", async () => {
    const { queue, offerAll, endAll, started } = queueUnderTest({ jobsMax: 400 });
    let taken = 0;
    for (let n = 0; n < 50; n += 1) {
      taken += offerAll(jobsOf("a", 40, n * 1000)) + offerAll(jobsOf("b", 40, n * 1000));
      await endAll("delivered");
    }
    while (queue.size > 0) await endAll("delivered");
    expect(started.length).toBe(taken);
    expect(taken).toBeGreaterThan(1000);
  });

  test("idle endpoints are forgotten beyond the limit, busy ones never", async () => {
    const { queue, offerAll, end } = queueUnderTest();
    offerAll([jobOf("busy", "m")]);
    offerAll([jobOf("quiet", "q", "q")]);
    await end("delivered", "q");
    expect(queue.health("quiet").last).not.toBeNull();
    for (let n = 0; n < 10_000; n += 1) {
      offerAll([jobOf(`e${n}`, "x", `x${n}`)]);
      if (n % 100 === 99) await end("delivered", ...Array.from({ length: 100 }, (_, k) => `x${n - k}`));
    }
    expect(queue.health("quiet").last).toBeNull();
    expect(queue.health("busy").inFlight).toBe(1);
  });
});

describe("bulkheads", () => {
  test("fifty hanging endpoints delay none of fifty healthy ones", async () => {
    const clock = new MovedClock();
    const delivered = new Map<string, number>();
    const returned: string[] = [];
    let failed = 0;
    const queue = new EndpointQueue<Job>({
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
    for (let n = 0; n < 50; n += 1) taken += jobsOf(`bad-${n}`, 500).filter((job) => queue.offer(job)).length;
    expect(taken).toBeGreaterThan(50 * 200);
    const isIn = (job: Job): boolean => queue.offer(job);
    const waiting = Array.from({ length: 50 }, (_, n) => jobsOf(`good-${n}`, 500)).flat();
    for (let left = waiting; left.length > 0; await turn()) left = left.filter((job) => !isIn(job));
    await turn();
    // No time has passed: every good endpoint has had everything before any bad one has answered at all.
    expect([clock.monotonic(), failed]).toEqual([0, 0]);
    expect([...delivered.values()]).toEqual(Array(50).fill(500));
    expect(queue.size).toBe(taken);

    clock.advance(15_000);
    await turn();
    // Each had begun one more before the last of its ten failures was known.
    expect([failed, queue.size]).toEqual([500, 50]);
    expect(returned.length).toBe(taken - 550);
    expect(new Set(returned).size).toBe(50);
  });

  test("fifty hanging endpoints delay none of fifty healthy ones over real connections to one host", async () => {
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
    const agent = createGuardedClient({ rules: new EgressRules({ allow: [], loopback: true }), clock: systemClock });
    const reasons = new Set<string>();
    let delivered = 0;
    const queue = new EndpointQueue<Job>({
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
    for (let n = 0; n < 50; n += 1) for (const job of jobsOf(`bad-${n}`, 20)) queue.offer(job);
    for (let n = 0; n < 50; n += 1) for (const job of jobsOf(`good-${n}`, 20)) queue.offer(job);
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
        () => queue.size,
        (size) => size === left,
      );
    }
    expect(reasons).toEqual(new Set(["bad: no answer within 15 s"]));
    agent.destroy();
    await new Promise((resolve) => server.close(resolve));
  }); // prettier-ignore
});

describe("stopping", () => {
  test("returns waiting jobs, accepts no more, and resolves when requests in flight have ended", async () => {
    const { queue, offerAll, end, endAll, returned, started } = queueUnderTest();
    offerAll([...jobsOf("a", 12), jobOf("a", "0", "behind"), ...jobsOf("b", 2, 50)]);
    let stopped = false;
    const stopping = queue.stop().then(() => (stopped = true));
    expect(returned).toEqual(["a/10", "a/11", "behind"].map((id) => ({ id, reason: "the node stops" })));
    expect(offerAll(jobsOf("c", 1))).toBe(0);
    await end("delivered", "a/0", "a/1");
    expect([stopped, started.length]).toEqual([false, 12]);
    await endAll("delivered");
    await stopping;
    expect([queue.size, started.length]).toEqual([0, 12]);
  });

  test("resolves at once without requests in flight, also when called twice", async () => {
    const { queue } = queueUnderTest();
    await Promise.all([queue.stop(), queue.stop()]);
    expect(queue.offer(jobOf("a", "m"))).toBe(false);
  });

  test("refuses jobs offered while waiting ones are returned", async () => {
    const offers: boolean[] = [];
    const queue: EndpointQueue<Job> = new EndpointQueue<Job>({
      clock: new MovedClock(),
      deliver: () => new Promise(() => {}),
      onReturned: (jobs) => offers.push(...jobs.map((job) => queue.offer(job))),
    });
    for (const job of jobsOf("a", 11)) queue.offer(job);
    void queue.stop();
    expect(offers).toEqual([false]);
  });

  test("waits no longer than the request time-out", async () => {
    const { clock, queue, offerAll } = queueUnderTest();
    offerAll(jobsOf("a", 1));
    let stopped = false;
    const stopping = queue.stop().then(() => (stopped = true));
    clock.advance(15_000);
    await turn();
    expect(stopped).toBe(false);
    clock.advance(500);
    await stopping;
  });
});
