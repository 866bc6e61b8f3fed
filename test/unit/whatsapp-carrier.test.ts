import { Writable } from "node:stream";
import { afterEach, describe, expect, test } from "vitest";
import type { Outcome } from "../../src/carriers/carrier.ts";
import type { WhatsappCarrierDeps } from "../../src/carriers/whatsapp/carrier.ts";
import { BlockedNumbers } from "../../src/carriers/whatsapp/blocked-numbers.ts";
import { Pairs } from "../../src/carriers/whatsapp/pairs.ts";
import { newId } from "../../src/lib/ids.ts";
import { createLog } from "../../src/lib/log.ts";
import type { InboundMessage } from "../../src/model/inbound.ts";
import type { WhatsappSettings } from "../../src/model/whatsapp-connection.ts";
import { carrierSuite } from "./carrier.suite.ts";
import { RECIPIENTS, type FakeOptions, type Fault } from "../support/fake-whatsapp.ts";
import { MovedClock } from "../support/moved-clock.ts";
import { messageTo, openTrial, SECRETS, templateContent, type Trial } from "../support/whatsapp-trial.ts";

describe("a WhatsApp carrier fulfils the carrier contract", () => {
  carrierSuite(async () => {
    const trial = await openTrial();
    const { carrier, fake } = trial;
    await carrier.stop();
    return {
      carrier,
      deliverable: () => messageTo(RECIPIENTS.deliverable),
      undeliverable: () => messageTo(RECIPIENTS.failed),
      refusable: () => messageTo(RECIPIENTS.refused),
      letReportsCome: () => fake.report(),
      async close() {
        await trial.close();
        if (fake.faults.length > 0) throw new Error(fake.faults.join("; "));
      },
    };
  });
});

describe("a WhatsApp carrier", () => {
  let trial: Trial | null = null;
  afterEach(async () => {
    await trial?.close();
    trial = null;
  });
  const open = async (
    changes: Partial<WhatsappCarrierDeps> = {},
    options: Partial<FakeOptions> = {},
    settings: Partial<WhatsappSettings> = {},
  ): Promise<Trial> => {
    trial = await openTrial(changes, options, settings);
    return trial;
  };
  const submitWith = async (fault: Fault, attempts = 0): Promise<{ outcome: Outcome; up: boolean; trial: Trial }> => {
    const opened = await open();
    opened.fake.next(fault);
    const outcome = await opened.carrier.submit(messageTo(RECIPIENTS.deliverable, { attempts }));
    return { outcome, up: opened.carrier.isUp(), trial: opened };
  };

  test("a message is accepted under the platform's id, and the exchange is recorded without text and numbers", async () => {
    const { carrier, fake } = await open();
    const outcome = await carrier.submit(messageTo());
    expect(outcome).toEqual({
      kind: "taken",
      carrierMessageId: fake.taken[0]?.id,
      exchange: `POST /v26.0/106540352242922/messages to=********9000 from=+15550783881 template=order_update -> HTTP 200 taken ${fake.taken[0]?.id}`,
    });
    expect(fake.faults).toEqual([]);
  });

  test.each(["held_for_quality_assessment", "paused", "something new"])("%s is accepted", async (word) => {
    const { outcome } = await submitWith({ kind: "taken as", word });
    expect(outcome.kind).toBe("taken");
  });

  test("the phone number id of the number's record precedes that of the connection", async () => {
    const { carrier, fake } = await open(
      { phoneNumberOf: (from) => (from === "+15550783881" ? "555000111" : null) },
      { phoneNumberIds: ["555000111"] },
    );
    expect((await carrier.submit(messageTo())).kind).toBe("taken");
    expect(fake.taken[0]?.path).toBe("/v26.0/555000111/messages");
  });

  test("without a phone number id the message is refused, so that another carrier is tried", async () => {
    const { carrier, fake } = await open({}, {}, { phoneNumberId: null });
    expect(await carrier.submit(messageTo())).toMatchObject({
      kind: "refused",
      fault: "carrier",
      code: "NO_PHONE_NUMBER_ID",
    });
    expect(fake.requests).toBe(0);
  });

  test("a read mark goes to the number that the message came to, and names the platform's refusal", async () => {
    const { fake, carrier } = await open();
    const at = 1_767_225_600_000;
    const inbound: InboundMessage = {
      accountId: 1,
      id: newId(at),
      channel: "chatapp",
      from: RECIPIENTS.deliverable,
      to: "+15550783881",
      content: { kind: "text", text: "Hello" },
      answers: null,
      at,
      origin: { carrier: "1/wa", carrierMessageId: "wamid.in" },
    };
    expect(await carrier.markRead?.(inbound, { typing: true })).toEqual({ kind: "marked" });
    expect(fake.marks).toEqual([
      { messaging_product: "whatsapp", status: "read", message_id: "wamid.in", typing_indicator: { type: "text" } },
    ]);
    fake.next({ kind: "error", code: 131047 });
    expect(await carrier.markRead?.(inbound, { typing: false })).toMatchObject({
      kind: "failed",
      description: expect.stringMatching(/^The platform refused the mark: ./),
    });
    fake.next({ kind: "cut", when: "before" });
    expect(await carrier.markRead?.(inbound, { typing: false })).toMatchObject({ kind: "failed" });
    expect(fake.marks).toHaveLength(1);
  });

  test("a reseller may use another header, and neither version nor number in the path", async () => {
    const authentication = { header: "d360-api-key", value: SECRETS.token };
    const { carrier, fake } = await open(
      {},
      { authentication, prefix: "", phoneNumberInPath: false },
      {
        version: null,
        phoneNumberId: null,
        phoneNumberInPath: false,
        authentication: { header: "D360-API-KEY", scheme: "" },
      },
    );
    expect((await carrier.submit(messageTo())).kind).toBe("taken");
    expect([fake.taken[0]?.path, fake.faults]).toEqual(["/messages", []]);
  });

  const busy = (retryAfterMs?: number): object => ({ kind: "busy", retryAfterMs });
  const refused = (fault: string): object => ({ kind: "refused", fault });
  const DOWN = { kind: "down" };
  test.each<[code: number, outcome: object, up: boolean]>([
    [0, DOWN, false], [3, DOWN, false], [10, DOWN, false], [190, DOWN, false], [200, DOWN, false], [299, DOWN, false],
    [368, DOWN, false], [131031, DOWN, false], [131042, DOWN, false],
    [131037, DOWN, true], [131045, DOWN, true], [131048, DOWN, true], [133010, DOWN, true], [133016, DOWN, true],
    [1, busy(), true], [2, busy(), true], [4, busy(60_000), true], [80007, busy(60_000), true], [130429, busy(), true],
    [131000, busy(), true], [131016, busy(), true], [131056, busy(6000), true], [131057, busy(60_000), true],
    [133004, busy(), true], [135000, busy(), true],
    [130472, refused("carrier"), true], [130497, refused("carrier"), true], [131026, refused("carrier"), true],
    [131030, refused("carrier"), true], [131049, refused("carrier"), true], [132001, refused("carrier"), true],
    [132015, refused("carrier"), true], [132016, refused("carrier"), true], [100, refused("carrier"), true],
    [987_654, refused("carrier"), true],
    [131008, refused("message"), true], [131009, refused("message"), true], [131021, refused("message"), true],
    [131047, refused("message"), true], [131050, refused("message"), true], [131051, refused("message"), true],
    [131052, refused("message"), true], [131053, refused("message"), true], [131062, refused("message"), true],
    [131063, refused("message"), true], [131064, refused("message"), true], [132000, refused("message"), true],
    [132005, refused("message"), true], [132007, refused("message"), true], [132008, refused("message"), true],
    [132012, refused("message"), true], [132068, refused("message"), true], [132069, refused("message"), true],
    [137000, refused("message"), true],
  ])("error %i is classified as %j, with the connection up: %s", async (code, expected, isUp) => {
    const { outcome, up } = await submitWith({ kind: "error", code });
    const { retryAfterMs, code: written = String(code) } = outcome as { retryAfterMs?: number; code?: string };
    expect({ ...outcome, retryAfterMs }).toMatchObject(expected);
    expect([up, written]).toEqual([isUp, String(code)]);
  }); // prettier-ignore

  test("an error that may be about the message is given up after eight attempts", async () => {
    const { outcome } = await submitWith({ kind: "error", code: 131000 }, 8);
    expect(outcome).toMatchObject({ kind: "refused", fault: "carrier", code: "131000" });
  });

  test("the platform's details are described without numbers and tokens", async () => {
    const details = `body: 1 value for 2 variables, +15550109000, ${SECRETS.token}\u0000`;
    const { outcome } = await submitWith({ kind: "error", code: 132000, details });
    expect(outcome).toMatchObject({
      description:
        "The message has another number of values than its template has variables: body: 1 value for 2 variables, …, …",
    });
  });

  test.each<[Fault, string, boolean]>([
    [{ kind: "status", status: 500 }, "unknown", true],
    [{ kind: "status", status: 502 }, "unknown", true],
    [{ kind: "status", status: 503 }, "unknown", true],
    [{ kind: "status", status: 200 }, "unknown", true],
    [{ kind: "status", status: 200, text: "{}" }, "unknown", true],
    [{ kind: "status", status: 200, text: '{"messages":[{"id":7}]}' }, "unknown", true],
    [{ kind: "status", status: 400 }, "refused", true],
    [{ kind: "status", status: 401 }, "down", false],
    [{ kind: "status", status: 403 }, "down", false],
    [{ kind: "status", status: 404 }, "down", false],
    [{ kind: "status", status: 302, headers: { location: "http://127.0.0.1:9/" } }, "down", false],
    [{ kind: "status", status: 429 }, "busy", true],
    [{ kind: "status", status: 408 }, "unknown", true],
    [{ kind: "error", code: 131000, status: 400 }, "busy", true],
    [{ kind: "error", code: 131000, status: 500 }, "unknown", true],
    [{ kind: "error", code: 135000, status: 500 }, "unknown", true],
    [{ kind: "error", code: 2, status: 503 }, "unknown", true],
    [{ kind: "error", code: 987_654, status: 500 }, "unknown", true],
    [{ kind: "error", code: 131026, status: 500 }, "refused", true],
    [{ kind: "cut", when: "after" }, "unknown", true],
  ])("after %j the outcome is %s", async (fault, kind, isUp) => {
    const { outcome, up } = await submitWith(fault);
    expect([outcome.kind, up]).toEqual([kind, isUp]);
  });

  test("a connection that breaks before it is read never counts as not accepted", async () => {
    const { outcome } = await submitWith({ kind: "cut", when: "before" });
    expect(outcome.kind).toBe("unknown");
  });

  test("a response time-out leaves the outcome unknown", async () => {
    const clock = new MovedClock();
    const { carrier, fake } = await open({ clock });
    fake.next({ kind: "silent" });
    const submitting = carrier.submit(messageTo());
    while (fake.taken.length === 0) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(30_000);
    expect(await submitting).toMatchObject({ kind: "unknown" });
  });

  test("without a server the carrier is down, and the message was not accepted", async () => {
    const { carrier } = await open({}, {}, { baseUrl: "http://127.0.0.1:1" });
    expect(await carrier.submit(messageTo())).toMatchObject({ kind: "down" });
  });

  test("Retry-After pauses the whole connection", async () => {
    const { carrier, fake } = await open({ clock: new MovedClock() });
    fake.next({ kind: "error", code: 130429, headers: { "retry-after": "7" } });
    expect(await carrier.submit(messageTo())).toMatchObject({ kind: "busy", retryAfterMs: 7000 });
    expect(carrier.capacity).toBe(0);
    expect((carrier.state?.().pausedUntil ?? 0) - new MovedClock().now()).toBe(7000);
  });

  test("throttling reduces the rate for a while", async () => {
    const { carrier, fake } = await open({ clock: new MovedClock(), messagesPerSecond: () => 80 });
    expect(carrier.messagesPerSecond).toBe(80);
    fake.next({ kind: "error", code: 130429 });
    await carrier.submit(messageTo());
    expect(carrier.messagesPerSecond).toBe(40);
  });

  test("an expired token halts the connection, with retries after a backoff", async () => {
    const clock = new MovedClock();
    const { carrier, fake } = await open({ clock });
    fake.next({ kind: "error", code: 190, status: 401 });
    await carrier.submit(messageTo());
    expect(carrier.isUp()).toBe(false);
    expect(carrier.state?.().lastError).toMatchObject({ code: "190" });
    clock.advance(60_000);
    expect(carrier.isUp()).toBe(true);
    expect((await carrier.submit(messageTo())).kind).toBe("taken");
  });

  test("a blocked number backs off alone, and other numbers continue", async () => {
    const clock = new MovedClock();
    const ids: Record<string, string> = { "+15550100101": "555000111", "+15550100102": "555000222" };
    const phoneNumberIds = Object.values(ids);
    const { carrier, fake } = await open({ clock, phoneNumberOf: (from) => ids[from] ?? null }, { phoneNumberIds });
    const submitFrom = (sender: string) => carrier.submit(messageTo(RECIPIENTS.deliverable, { sender }));
    for (const holdMs of [60_000, 120_000, 240_000]) {
      fake.next({ kind: "error", code: 131048 });
      const before = fake.requests;
      expect(await submitFrom("+15550100101")).toMatchObject({
        kind: "down",
        description: expect.stringContaining("spam"),
      });
      clock.advance(holdMs - 1);
      expect(await submitFrom("+15550100101")).toMatchObject({
        kind: "down",
        description: expect.stringContaining("spam"),
      });
      expect(fake.requests - before).toBe(1);
      expect((await submitFrom("+15550100102")).kind).toBe("taken");
      expect(carrier.isUp()).toBe(true);
      clock.advance(1);
    }
    expect((await submitFrom("+15550100101")).kind).toBe("taken");
    expect(carrier.state?.().lastError).toMatchObject({ code: "131048" });
  });

  test("many refusals of one number do not open the circuit breaker", async () => {
    const { carrier, fake } = await open();
    fake.next(...Array.from({ length: 20 }, (): Fault => ({ kind: "error", code: 133010 })));
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => carrier.submit(messageTo())));
    expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(["down"]));
    expect([carrier.isUp(), fake.requests]).toEqual([true, 20]);
  });

  test("the number of tracked blocked numbers is limited", () => {
    const held = new BlockedNumbers(2);
    for (const number of ["a", "b", "c"]) held.refused(number, "stopped", 0);
    expect(["a", "b", "c"].map((number) => held.reasonFor(number, 1000))).toEqual([null, "stopped", "stopped"]);
    held.taken("b");
    expect(held.reasonFor("b", 1000)).toBeNull();
  });

  test("a recipient that got too many messages backs off alone", async () => {
    const clock = new MovedClock();
    const { carrier, fake } = await open({ clock });
    const pair: Fault = { kind: "error", code: 131056 };
    fake.next(pair);
    expect(await carrier.submit(messageTo())).toMatchObject({ kind: "busy", retryAfterMs: 6000 });
    clock.advance(2000);
    expect(await carrier.submit(messageTo())).toEqual({ kind: "busy", retryAfterMs: 4000 });
    expect(fake.requests).toBe(1);
    expect((await carrier.submit(messageTo(RECIPIENTS.readAtOnce))).kind).toBe("taken");
    expect((await carrier.submit(messageTo(RECIPIENTS.deliverable, { sender: "+15550100199" }))).kind).toBe("taken");
    let leftMs = 4000;
    for (const waitMs of [24_000, 96_000, 384_000, 1_536_000, 3_600_000, 3_600_000]) {
      clock.advance(leftMs);
      fake.next(pair);
      expect(await carrier.submit(messageTo())).toMatchObject({ kind: "busy", retryAfterMs: waitMs });
      leftMs = waitMs;
    }
  });

  test("after the wait, one message at a time is sent to the recipient", async () => {
    const clock = new MovedClock();
    const { carrier, fake } = await open({ clock });
    fake.next({ kind: "error", code: 131056 });
    await carrier.submit(messageTo());
    clock.advance(6000);
    const outcomes = await Promise.all([carrier.submit(messageTo()), carrier.submit(messageTo())]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(["taken", "busy"]);
    expect(fake.requests).toBe(2);
    clock.advance(6000);
    fake.next({ kind: "error", code: 131056 });
    expect(await carrier.submit(messageTo())).toMatchObject({ kind: "busy", retryAfterMs: 6000 });
  });

  test("refusals of messages in flight together count once", async () => {
    const clock = new MovedClock();
    const { carrier, fake } = await open({ clock });
    fake.next({ kind: "error", code: 131056 }, { kind: "error", code: 131056 });
    const outcomes = await Promise.all([carrier.submit(messageTo()), carrier.submit(messageTo())]);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ kind: "busy", retryAfterMs: 6000 });
    clock.advance(6000);
    expect((await carrier.submit(messageTo())).kind).toBe("taken");
  });

  test("the number of tracked recipients is limited, and idle ones are dropped", () => {
    const pairs = new Pairs(2);
    for (const key of ["a", "b", "c"]) pairs.refused(key, 0, 0);
    expect(["a", "b", "c"].map((key) => pairs.take(key, 1000))).toEqual([0, 5000, 5000]);
    expect(pairs.take("b", 100_000)).toBe(0);
    expect(pairs.refused("b", 100_000, 100_000)).toBe(6000);
  });

  test("stop refuses new messages and waits for outstanding responses", async () => {
    const { carrier, fake } = await open();
    const submitting = carrier.submit(messageTo());
    const stopping = carrier.stop();
    expect(await carrier.submit(messageTo())).toEqual({ kind: "busy" });
    await stopping;
    expect((await submitting).kind).toBe("taken");
    expect(fake.taken).toHaveLength(1);
  });

  test("outcomes, state and log contain no secret, number or text", async () => {
    const lines: string[] = [];
    const destination = new Writable({
      write(chunk: Buffer, _encoding, done) {
        lines.push(chunk.toString());
        done();
      },
    });
    const { carrier, fake, call } = await open({ log: createLog("debug", destination) });
    const outcomes: Outcome[] = [];
    const content = templateContent({ params: ["canary-value"], text: "canary-text" });
    const submit = async (fault?: Fault): Promise<void> => {
      if (fault) fake.next(fault);
      outcomes.push(await carrier.submit(messageTo(RECIPIENTS.deliverable, { content })));
    };
    const details = `${SECRETS.token} ${RECIPIENTS.deliverable}`;
    await submit();
    for (const code of [131026, 132000, 131000, 130429, 190]) await submit({ kind: "error", code, details });
    await submit({ kind: "status", status: 500, text: SECRETS.token });
    await submit({ kind: "cut", when: "after" });
    const message = {
      from: "15550109000",
      id: "wamid.x",
      timestamp: "1790000000",
      type: "text",
      text: { body: "canary" },
    };
    const failed = {
      id: "wamid.y",
      status: "failed",
      timestamp: "1790000000",
      errors: [{ code: 131042, title: "canary" }],
    };
    await call(
      fake.sign({
        entry: [{ changes: [{ field: "messages", value: { messages: [message, 7], statuses: [failed, 7] } }] }],
      }),
    );
    const shown = JSON.stringify([outcomes, carrier.state?.(), lines]);
    expect(lines.length).toBeGreaterThan(2);
    for (const secret of [...Object.values(SECRETS), "canary", RECIPIENTS.deliverable])
      expect(shown).not.toContain(secret);
  });
});
