import { afterEach, describe, expect, test } from "vitest";
import type { Outcome } from "../src/carriers/carrier.ts";
import { platformIdOf } from "../src/carriers/rbm/message-id.ts";
import type { Message } from "../src/model/message.ts";
import type { RcsContent } from "../src/model/rcs.ts";
import { carrierSuite } from "./carrier.suite.ts";
import { eventually } from "./support/eventually.ts";
import { keyFile, RBM_CLIENT_TOKEN, signedCall } from "./support/fake-rbm.ts";
import { openRbmTrial, RCS_TEXT, rcsMessage, type RbmTrial } from "./support/rbm-line.ts";

const CARD: RcsContent = {
  ...RCS_TEXT,
  kind: "card",
  text: "",
  cards: [{ title: "Shoes", description: "", fileUrl: "https://shop.example/1.jpg", suggestions: [] }],
};
const CAROUSEL: RcsContent = { ...CARD, kind: "carousel", cards: [...CARD.cards, ...CARD.cards] };

describe("a line to RCS for Business keeps a carrier's promises", () => {
  carrierSuite(async () => {
    const { carrier, fake, clock, close } = await openRbmTrial();
    return {
      carrier,
      deliverable: () => rcsMessage(clock),
      undeliverable: () => rcsMessage(clock, { recipient: "15550109001" }),
      undeliveredAs: "expired",
      refusable: () => rcsMessage(clock, { recipient: "15550109009" }),
      letReportsCome: () => fake.tell((call) => carrier.called(call)),
      close,
    };
  });
});

describe("a line to RCS for Business", () => {
  let trial: RbmTrial | null = null;
  const open = async (...given: Parameters<typeof openRbmTrial>): Promise<RbmTrial> => {
    trial = await openRbmTrial(...given);
    await trial.carrier.start(trial.take);
    return trial;
  };
  afterEach(async () => {
    await trial?.close();
    trial = null;
  });
  const message = (changes: Partial<Message> = {}): Message => {
    if (!trial) throw new Error("nothing is open");
    return rcsMessage(trial.clock, changes);
  };
  /** Without checks before it, so that the answers to messages are what is seen. */
  const UNCHECKED = { settings: { capabilityCheck: false } };

  test("hands a message to its bot's agent, under an id that follows from ours, and tells what went over the line", async () => {
    const { carrier, fake } = await open();
    const sent = message();
    const platformId = platformIdOf(sent);
    const outcome = await carrier.submit(sent);
    expect(outcome).toEqual({
      kind: "taken",
      carrierMessageId: platformId,
      exchange: `agentMessages to=********0100 from=shop agent=shop-agent kind=text -> taken ${platformId}`,
    });
    expect(fake.taken).toEqual([
      {
        number: "15550100100",
        agentId: "shop-agent",
        messageId: platformId,
        body: {
          contentMessage: { text: "Your order is on its way." },
          messageTrafficType: "TRANSACTION",
          ttl: "3600s",
        },
      },
    ]);
    expect(fake.faults).toEqual([]);
  });

  test("refuses what is no RCS message, so that another line may have it", async () => {
    const { carrier, fake } = await open();
    const content = { text: "Hi", encoding: "gsm7", flash: false } as const;
    expect(await carrier.submit(message({ content, channel: "sms" }))).toMatchObject({
      kind: "refused",
      fault: "carrier",
      code: "NOT_RCS",
    });
    expect(fake.asked.token).toBe(0);
  });

  describe.each<[string, Parameters<typeof whimFor>[0], object, object]>([
    ["400", { status: 400, error: "INVALID_ARGUMENT" }, { kind: "refused", fault: "message", code: "INVALID_ARGUMENT" }, { up: true }],
    ["403", { status: 403, error: "PERMISSION_DENIED" }, { kind: "refused", fault: "carrier", code: "PERMISSION_DENIED" }, { up: true }],
    ["404", { status: 404, error: "NOT_FOUND" }, { kind: "refused", fault: "message", code: "NOT_FOUND", description: "The number is not on RCS" }, { up: true }],
    ["404 that is not the platform's", { status: 404, raw: "<h1>Not here</h1>" }, { kind: "refused", fault: "carrier", code: "HTTP_404" }, { up: true }],
    ["409 for an id that it has", { status: 409, error: "ALREADY_EXISTS" }, { kind: "taken" }, { up: true }],
    ["429", { status: 429, error: "RESOURCE_EXHAUSTED" }, { kind: "busy" }, { up: true, capacity: 0 }],
    ["429 with a time", { status: 429, error: "RESOURCE_EXHAUSTED", headers: { "retry-after": "7" } }, { kind: "busy", retryAfterMs: 7000 }, { up: true, capacity: 0 }],
    ["500", { status: 500, error: "INTERNAL" }, { kind: "unknown" }, { up: true }],
    ["503", { status: 503, raw: "" }, { kind: "unknown" }, { up: true }],
    ["302", { status: 302, raw: "", headers: { location: "http://elsewhere.example" } }, { kind: "refused", fault: "carrier", code: "HTTP_302" }, { up: true }],
    ["200 of something else", { status: 200, raw: "<h1>Welcome</h1>" }, { kind: "unknown" }, { up: true }],
    ["401 again and again", { status: 401, error: "UNAUTHENTICATED" }, { kind: "down" }, { up: false }],
  ])("takes an answer of %s", (_answer, whim, expected, line) => {
    test("for what it means", async () => {
      const { carrier, fake } = await open(UNCHECKED);
      fake.whim = whimFor(whim);
      expect(await carrier.submit(message())).toMatchObject(expected);
      expect({ up: carrier.isUp(), capacity: carrier.capacity }).toMatchObject(line);
    });
  }); // prettier-ignore

  test("tells why the platform refused, without the number that it repeats", async () => {
    const { carrier, fake } = await open(UNCHECKED);
    const words = "Bad text\nfor phones/+15550100100, see the manual. ".repeat(9);
    fake.whim = ({ what }) => (what === "send" ? { status: 400, error: "INVALID_ARGUMENT", message: words } : null);
    const { description } = (await carrier.submit(message())) as { description: string };
    expect(description).toMatch(/^The platform refuses the message: Bad text for phones\/…, see the manual\. Bad/);
    expect(description.length).toBeLessThan(250);
  });

  test("is down where nobody answers at its address, and nothing was sent", async () => {
    const { carrier } = await open({ settings: { baseUrl: "http://127.0.0.1:1" } });
    expect(await carrier.submit(message())).toMatchObject({ kind: "down" });
  });

  test.each(["cut before", "cut after"] as const)(
    "leaves a message in doubt when the line breaks (%s it is read), and sends it once however often it is handed over",
    async (whim) => {
      const { carrier, fake } = await open(UNCHECKED);
      const sent = message();
      fake.whim = ({ what, times }) => (what === "send" && times === 1 ? whim : null);
      const carrierMessageId = platformIdOf(sent);
      expect(await carrier.submit(sent)).toMatchObject({ kind: "unknown", carrierMessageId });
      expect(await carrier.submit(sent)).toMatchObject({ kind: "taken", carrierMessageId });
      expect(fake.taken).toHaveLength(1);
      expect(fake.repeated).toHaveLength(whim === "cut after" ? 1 : 0);
    },
  );

  test("leaves a promotion in doubt as well, and says that to hand it over again is safe", async () => {
    const { carrier, fake } = await open(UNCHECKED);
    expect(carrier.repeatsSafely).toBe(true);
    const sent = message({ routeClass: "PROMO" });
    fake.whim = ({ what, times }) => (what === "send" && times === 1 ? "cut after" : null);
    expect(await carrier.submit(sent)).toMatchObject({ kind: "unknown" });
    expect(await carrier.submit(sent)).toMatchObject({ kind: "taken" });
    expect([fake.taken.length, fake.repeated.length]).toEqual([1, 1]);
  });

  test.each(["TRANS", "PROMO"] as const)(
    "is left alone for a while when nearly all of %s fails",
    async (routeClass) => {
      const { carrier, fake, clock } = await open(UNCHECKED);
      fake.whim = ({ what }) => (what === "send" ? { status: 503, error: "UNAVAILABLE" } : null);
      for (let tries = 0; tries < 10; tries += 1) await carrier.submit(message({ routeClass }));
      expect(carrier.isUp()).toBe(false);
      clock.advance(30_000);
      expect(carrier.isUp()).toBe(true);
    },
  );

  test("gives up on an answer after its time, and leaves the message in doubt", async () => {
    const { carrier, fake, clock } = await open(UNCHECKED);
    fake.whim = ({ what }) => (what === "send" ? "silence" : null);
    const submitted = carrier.submit(message());
    await eventually(
      () => fake.asked.send,
      (count) => count === 1,
    );
    clock.advance(30_000);
    expect(await submitted).toMatchObject({ kind: "unknown", description: expect.stringContaining("30 s") });
  });

  test("goes slower after it was told to", async () => {
    const { carrier, fake } = await open({ ...UNCHECKED, needs: { messagesPerSecond: () => 100 } });
    fake.whim = ({ what }) => (what === "send" ? { status: 429, error: "RESOURCE_EXHAUSTED" } : null);
    await carrier.submit(message());
    expect(carrier.messagesPerSecond).toBe(50);
  });

  describe("asks for a token", () => {
    test("once, however many messages wait for it", async () => {
      const { carrier, fake } = await open();
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => carrier.submit(message())));
      expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(["taken"]));
      expect([fake.asked.token, fake.taken.length]).toEqual([1, 20]);
    });

    test("again five minutes before it ends, and nobody waits for that", async () => {
      const { carrier, fake, clock } = await open({ ...UNCHECKED, tokenSeconds: 3600 });
      await carrier.submit(message());
      clock.advance(3_299_000);
      await carrier.submit(message());
      expect(fake.asked.token).toBe(1);
      clock.advance(1000);
      fake.whim = ({ what, times }) => (what === "token" && times === 2 ? "silence" : null);
      expect(await carrier.submit(message())).toMatchObject({ kind: "taken" });
      await eventually(
        () => fake.asked.token,
        (count) => count === 2,
      );
      await carrier.submit(message());
      expect(fake.asked.token).toBe(2);
    });

    test("once more when the platform does not take it, and hands the message over with the new one", async () => {
      const { carrier, fake } = await open(UNCHECKED);
      await carrier.submit(message());
      fake.forgetTokens();
      const outcomes = await Promise.all([carrier.submit(message()), carrier.submit(message())]);
      expect(outcomes).toMatchObject([{ kind: "taken" }, { kind: "taken" }]);
      expect([fake.asked.token, fake.asked.send, fake.taken.length]).toEqual([2, 5, 3]);
    });

    test("and takes nothing more until somebody helps, when its key has ended", async () => {
      const { carrier, fake, clock, logged } = await open();
      fake.whim = ({ what }) =>
        what === "token" ? { status: 400, raw: '{"error":"invalid_grant","error_description":"secret words"}' } : null;
      const outcome = await carrier.submit(message());
      expect(outcome).toMatchObject({ kind: "down", description: expect.stringContaining("invalid_grant") });
      expect(carrier.isUp()).toBe(false);
      expect(carrier.state()).toMatchObject({ errors: { invalid_grant: 1 }, pausedUntil: clock.now() + 60_000 });
      expect(JSON.stringify([outcome, logged])).not.toContain("secret words");
      fake.whim = () => null;
      clock.advance(60_000);
      expect(carrier.isUp()).toBe(true);
      expect(await carrier.submit(message())).toMatchObject({ kind: "taken" });
    });

    test.each([{ status: 500, raw: "" }, { status: 200, raw: "{}" }, "cut before"] as const)(
      "and waits where there is none to be had: %j",
      async (whim) => {
        const { carrier, fake } = await open();
        fake.whim = ({ what }) => (what === "token" ? whim : null);
        expect(await carrier.submit(message())).toMatchObject({ kind: "down" });
        expect(carrier.isUp()).toBe(true);
        expect(fake.asked.send).toBe(0);
      },
    );

    test("and asks no more than once in five seconds after a failure", async () => {
      const { carrier, fake, clock } = await open();
      fake.whim = ({ what, times }) => (what === "token" && times === 1 ? { status: 500, raw: "" } : null);
      await carrier.submit(message());
      await carrier.submit(message());
      expect(fake.asked.token).toBe(1);
      clock.advance(5000);
      expect(await carrier.submit(message())).toMatchObject({ kind: "taken" });
    });
  });

  describe("asks first whether it reaches the phone", () => {
    test("and refuses at once where it does not, so that its text can go", async () => {
      const { carrier, fake } = await open();
      const outcome = await carrier.submit(message({ recipient: "15550109009" }));
      expect(outcome).toMatchObject({ kind: "refused", fault: "message", code: "NOT_FOUND" });
      expect([fake.asked.capabilities, fake.asked.send]).toEqual([1, 0]);
    });

    test("once in its time for each phone, yes or no, and once for all that wait", async () => {
      const { carrier, fake, clock } = await open({ settings: { capabilityHours: 2 } });
      const both = (): Promise<Outcome[]> =>
        Promise.all(
          ["15550100100", "15550109009", "15550100100", "15550109009"].map((recipient) =>
            carrier.submit(message({ recipient })),
          ),
        );
      await both();
      clock.advance(7_199_999);
      await both();
      expect([fake.asked.capabilities, fake.asked.send]).toEqual([2, 4]);
      clock.advance(1);
      await both();
      expect(fake.asked.capabilities).toBe(4);
    });

    test("and remembers that a message found nobody", async () => {
      const { carrier, fake } = await open();
      fake.whim = ({ what }) => (what === "send" ? { status: 404, error: "NOT_FOUND" } : null);
      await carrier.submit(message());
      await carrier.submit(message());
      expect([fake.asked.capabilities, fake.asked.send]).toEqual([1, 1]);
    });

    test("and refuses what the phone cannot show", async () => {
      const { carrier, fake } = await open();
      fake.features = ["REVOCATION", "RICHCARD_STANDALONE"];
      expect(await carrier.submit(message({ content: CARD }))).toMatchObject({ kind: "taken" });
      expect(await carrier.submit(message({ content: CAROUSEL }))).toMatchObject({
        kind: "refused",
        fault: "message",
        code: "FEATURE_MISSING",
      });
    });

    test.each([
      { status: 500, raw: "" },
      { status: 403, error: "PERMISSION_DENIED" },
      { status: 404, raw: "" },
      "cut after",
    ] as const)("and sends all the same where it does not know: %j", async (whim) => {
      const { carrier, fake } = await open();
      fake.whim = ({ what }) => (what === "capabilities" ? whim : null);
      expect(await carrier.submit(message())).toMatchObject({ kind: "taken" });
    });

    test("and is slower when it asks too much", async () => {
      const { carrier, fake } = await open();
      fake.whim = ({ what }) => (what === "capabilities" ? { status: 429, error: "RESOURCE_EXHAUSTED" } : null);
      expect(await carrier.submit(message())).toMatchObject({ kind: "busy" });
      expect(fake.asked.send).toBe(0);
    });
  });

  test("calls a message back by the id that it was sent under, also with a token that has ended", async () => {
    const { carrier, fake } = await open(UNCHECKED);
    const sent = message();
    await carrier.submit(sent);
    fake.forgetTokens();
    await carrier.revoke(sent);
    expect(fake.revoked).toEqual([platformIdOf(sent)]);
  });

  test("cannot always call back, and says so without failing", async () => {
    const { carrier, fake, logged } = await open(UNCHECKED);
    fake.whim = ({ what }) => (what === "revoke" ? "cut before" : null);
    await carrier.revoke(message());
    expect(logged.join("")).toContain("could not be called back");
  });

  test("cannot be made with a key that is none, and tells nothing of it", async () => {
    const secrets = { serviceAccount: '{"private_key":"top secret"}', clientToken: RBM_CLIENT_TOKEN };
    const making = openRbmTrial({ needs: { secrets } });
    await expect(making).rejects.toThrow("it has no client_email");
  });

  test("says when an agent may not send, and not for every message", async () => {
    const { carrier, fake, logged, clock } = await open(UNCHECKED);
    fake.whim = ({ what }) => (what === "send" ? { status: 403, error: "PERMISSION_DENIED" } : null);
    for (let count = 0; count < 5; count += 1) await carrier.submit(message());
    clock.advance(60_000);
    await carrier.submit(message());
    expect(logged.filter((line) => line.includes("lets an agent"))).toHaveLength(2);
  });

  test("has no number, text, key or token in its log, whatever goes wrong", async () => {
    const { carrier, fake, logged, clock } = await open({ settings: { capabilityHours: 1 } });
    const content = { ...RCS_TEXT, text: "canary-text" };
    const echo = "phones/+15550100100 said canary-text ya29.canary";
    const whims = [400, 401, 403, 404, 429, 500].map((status) => ({ status, error: "SOME_ERROR", message: echo }));
    for (const what of ["token", "capabilities", "send", "revoke"])
      for (const whim of [...whims, "cut before", "cut after"] as const) {
        fake.whim = (asking) => (asking.what === what ? whim : null);
        await carrier.submit(message({ content, recipient: "15550100100" }));
        await carrier.revoke(message({ content }));
        // What was remembered would keep the next question from being asked.
        clock.advance(3_600_000);
      }
    expect(Math.min(...Object.values(fake.asked))).toBeGreaterThan(whims.length);
    for (const event of ["canary-text", { text: "canary-text" }, { eventType: "canary-text" }])
      await carrier.called(signedCall(event));
    const key = JSON.parse(keyFile("")) as { private_key: string };
    const all = logged.join("");
    expect(logged.length).toBeGreaterThan(3);
    for (const canary of [
      "canary",
      "15550100100",
      "ya29",
      RBM_CLIENT_TOKEN,
      key.private_key.slice(30, 60),
      "assertion",
    ])
      expect(all).not.toContain(canary);
  });
});

type Whim = ReturnType<RbmTrial["fake"]["whim"]>;
const whimFor =
  (whim: Whim): RbmTrial["fake"]["whim"] =>
  ({ what }) =>
    what === "send" ? whim : null;
