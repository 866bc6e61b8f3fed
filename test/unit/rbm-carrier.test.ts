import { afterEach, describe, expect, test } from "vitest";
import type { Outcome } from "../../src/carriers/carrier.ts";
import type { InboundMessage } from "../../src/model/inbound.ts";
import { followPath } from "../../src/model/http-pick.ts";
import { platformIdOf } from "../../src/carriers/rbm/message-id.ts";
import type { Message } from "../../src/model/message.ts";
import type { RcsContent } from "../../src/model/rcs.ts";
import { carrierSuite } from "./carrier.suite.ts";
import { eventually } from "../support/eventually.ts";
import { keyFile, RBM_CLIENT_TOKEN, signedCall } from "../support/fake-rbm.ts";
import { openRbmTrial, RCS_TEXT, rcsMessage, type RbmTrial } from "../support/rbm-connection.ts";

const CARD: RcsContent = {
  ...RCS_TEXT,
  kind: "card",
  text: "",
  cards: [{ title: "Shoes", description: "", fileUrl: "https://shop.example/1.jpg", suggestions: [] }],
};
const CAROUSEL: RcsContent = { ...CARD, kind: "carousel", cards: [...CARD.cards, ...CARD.cards] };

describe("an RBM carrier fulfils the carrier contract", () => {
  carrierSuite(async () => {
    const { carrier, fake, clock, close } = await openRbmTrial();
    return {
      carrier,
      deliverable: () => rcsMessage(clock),
      undeliverable: () => rcsMessage(clock, { recipient: "15550109001" }),
      undeliveredAs: "expired",
      refusable: () => rcsMessage(clock, { recipient: "15550109009" }),
      letReportsCome: () => fake.sendEvents((call) => carrier.handleWebhook(call)),
      close,
    };
  });
});

describe("an RBM carrier", () => {
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
  /** Without capability checks, so that only message responses matter. */
  const UNCHECKED = { settings: { capabilityCheck: false } };

  test("a message is sent by its bot's agent under a derived id, and the exchange is recorded", async () => {
    const { carrier, fake } = await open();
    const sent = message();
    const platformId = platformIdOf(sent);
    const outcome = await carrier.submit(sent);
    expect(outcome).toEqual({
      kind: "taken",
      carrierMessageId: platformId,
      exchange: `agentMessages to=********0100 from=shop agent=shop-agent kind=text -> taken ${platformId}`,
    });
    expect(fake.accepted).toEqual([
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

  test("a message of another channel is refused, so that another carrier may take it", async () => {
    const { carrier, fake } = await open();
    const content = { text: "Hi", encoding: "gsm7", flash: false } as const;
    expect(await carrier.submit(message({ content, channel: "sms" }))).toMatchObject({
      kind: "refused",
      fault: "carrier",
      code: "NOT_RCS",
    });
    expect(fake.requests.token).toBe(0);
  });

  describe.each<[string, Parameters<typeof sendFault>[0], object, object]>([
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
  ])("a response of %s", (_answer, fault, expected, line) => {
    test("a response is classified", async () => {
      const { carrier, fake } = await open(UNCHECKED);
      fake.faultFor = sendFault(fault);
      expect(await carrier.submit(message())).toMatchObject(expected);
      expect({ up: carrier.isUp(), capacity: carrier.capacity }).toMatchObject(line);
    });
  }); // prettier-ignore

  test("a refusal is described without the phone number", async () => {
    const { carrier, fake } = await open(UNCHECKED);
    const words = "Bad text\nfor phones/+15550100100, see the manual. ".repeat(9);
    fake.faultFor = ({ what }) => (what === "send" ? { status: 400, error: "INVALID_ARGUMENT", message: words } : null);
    const { description } = (await carrier.submit(message())) as { description: string };
    expect(description).toMatch(/^The platform refuses the message: Bad text for phones\/…, see the manual\. Bad/);
    expect(description.length).toBeLessThan(250);
  });

  test("without a server the carrier is down and nothing was sent", async () => {
    const { carrier } = await open({ settings: { baseUrl: "http://127.0.0.1:1" } });
    expect(await carrier.submit(message())).toMatchObject({ kind: "down" });
  });

  test.each(["cut before", "cut after"] as const)(
    "a broken connection (%s it is read) leaves the outcome unknown, and a repetition is sent once",
    async (fault) => {
      const { carrier, fake } = await open(UNCHECKED);
      const sent = message();
      fake.faultFor = ({ what, times }) => (what === "send" && times === 1 ? fault : null);
      const carrierMessageId = platformIdOf(sent);
      expect(await carrier.submit(sent)).toMatchObject({ kind: "unknown", carrierMessageId });
      expect(await carrier.submit(sent)).toMatchObject({ kind: "taken", carrierMessageId });
      expect(fake.accepted).toHaveLength(1);
      expect(fake.repeated).toHaveLength(fault === "cut after" ? 1 : 0);
    },
  );

  test("a promotion in doubt is reported as safe to repeat", async () => {
    const { carrier, fake } = await open(UNCHECKED);
    expect(carrier.repeatsSafely).toBe(true);
    const sent = message({ routeClass: "PROMO" });
    fake.faultFor = ({ what, times }) => (what === "send" && times === 1 ? "cut after" : null);
    expect(await carrier.submit(sent)).toMatchObject({ kind: "unknown" });
    expect(await carrier.submit(sent)).toMatchObject({ kind: "taken" });
    expect([fake.accepted.length, fake.repeated.length]).toEqual([1, 1]);
  });

  test.each(["TRANS", "PROMO"] as const)(
    "the circuit breaker opens when nearly all of %s fails",
    async (routeClass) => {
      const { carrier, fake, clock } = await open(UNCHECKED);
      fake.faultFor = ({ what }) => (what === "send" ? { status: 503, error: "UNAVAILABLE" } : null);
      for (let tries = 0; tries < 10; tries += 1) await carrier.submit(message({ routeClass }));
      expect(carrier.isUp()).toBe(false);
      clock.advance(30_000);
      expect(carrier.isUp()).toBe(true);
    },
  );

  test("a response time-out leaves the outcome unknown", async () => {
    const { carrier, fake, clock } = await open(UNCHECKED);
    fake.faultFor = ({ what }) => (what === "send" ? "silence" : null);
    const submitted = carrier.submit(message());
    await eventually(
      () => fake.requests.send,
      (count) => count === 1,
    );
    clock.advance(30_000);
    expect(await submitted).toMatchObject({ kind: "unknown", description: expect.stringContaining("30 s") });
  });

  test("throttling reduces the rate", async () => {
    const { carrier, fake } = await open({ ...UNCHECKED, deps: { messagesPerSecond: () => 100 } });
    fake.faultFor = ({ what }) => (what === "send" ? { status: 429, error: "RESOURCE_EXHAUSTED" } : null);
    await carrier.submit(message());
    expect(carrier.messagesPerSecond).toBe(50);
  });

  describe("access tokens", () => {
    test("concurrent messages share one token request", async () => {
      const { carrier, fake } = await open();
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => carrier.submit(message())));
      expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(["taken"]));
      expect([fake.requests.token, fake.accepted.length]).toEqual([1, 20]);
    });

    test("a token is renewed five minutes before it expires, in the background", async () => {
      const { carrier, fake, clock } = await open({ ...UNCHECKED, tokenSeconds: 3600 });
      await carrier.submit(message());
      clock.advance(3_299_000);
      await carrier.submit(message());
      expect(fake.requests.token).toBe(1);
      clock.advance(1000);
      fake.faultFor = ({ what, times }) => (what === "token" && times === 2 ? "silence" : null);
      expect(await carrier.submit(message())).toMatchObject({ kind: "taken" });
      await eventually(
        () => fake.requests.token,
        (count) => count === 2,
      );
      await carrier.submit(message());
      expect(fake.requests.token).toBe(2);
    });

    test("a rejected token is renewed once, and the message is sent with the new one", async () => {
      const { carrier, fake } = await open(UNCHECKED);
      await carrier.submit(message());
      fake.forgetTokens();
      const outcomes = await Promise.all([carrier.submit(message()), carrier.submit(message())]);
      expect(outcomes).toMatchObject([{ kind: "taken" }, { kind: "taken" }]);
      expect([fake.requests.token, fake.requests.send, fake.accepted.length]).toEqual([2, 5, 3]);
    });

    test("a revoked key halts the connection until an operator acts", async () => {
      const { carrier, fake, clock, logged } = await open();
      fake.faultFor = ({ what }) =>
        what === "token" ? { status: 400, raw: '{"error":"invalid_grant","error_description":"secret words"}' } : null;
      const outcome = await carrier.submit(message());
      expect(outcome).toMatchObject({ kind: "down", description: expect.stringContaining("invalid_grant") });
      expect(carrier.isUp()).toBe(false);
      expect(carrier.state()).toMatchObject({ errors: { invalid_grant: 1 }, pausedUntil: clock.now() + 60_000 });
      expect(JSON.stringify([outcome, logged])).not.toContain("secret words");
      fake.faultFor = () => null;
      clock.advance(60_000);
      expect(carrier.isUp()).toBe(true);
      expect(await carrier.submit(message())).toMatchObject({ kind: "taken" });
    });

    test.each([{ status: 500, raw: "" }, { status: 200, raw: "{}" }, "cut before"] as const)(
      "without a token the carrier waits: %j",
      async (fault) => {
        const { carrier, fake } = await open();
        fake.faultFor = ({ what }) => (what === "token" ? fault : null);
        expect(await carrier.submit(message())).toMatchObject({ kind: "down" });
        expect(carrier.isUp()).toBe(true);
        expect(fake.requests.send).toBe(0);
      },
    );

    test("a failed token request is retried after five seconds at the earliest", async () => {
      const { carrier, fake, clock } = await open();
      fake.faultFor = ({ what, times }) => (what === "token" && times === 1 ? { status: 500, raw: "" } : null);
      await carrier.submit(message());
      await carrier.submit(message());
      expect(fake.requests.token).toBe(1);
      clock.advance(5000);
      expect(await carrier.submit(message())).toMatchObject({ kind: "taken" });
    });
  });

  describe("capability checks", () => {
    test("an unreachable phone is refused at once, so that the SMS fallback can be sent", async () => {
      const { carrier, fake } = await open();
      const outcome = await carrier.submit(message({ recipient: "15550109009" }));
      expect(outcome).toMatchObject({ kind: "refused", fault: "message", code: "NOT_FOUND" });
      expect([fake.requests.capabilities, fake.requests.send]).toEqual([1, 0]);
    });

    test("capabilities are looked up once per phone and cache time, and concurrent lookups are shared", async () => {
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
      expect([fake.requests.capabilities, fake.requests.send]).toEqual([2, 4]);
      clock.advance(1);
      await both();
      expect(fake.requests.capabilities).toBe(4);
    });

    test("a NOT_FOUND response updates the cache", async () => {
      const { carrier, fake } = await open();
      fake.faultFor = ({ what }) => (what === "send" ? { status: 404, error: "NOT_FOUND" } : null);
      await carrier.submit(message());
      await carrier.submit(message());
      expect([fake.requests.capabilities, fake.requests.send]).toEqual([1, 1]);
    });

    test("content that the phone cannot show is refused", async () => {
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
      ["ACTION_DIAL", { type: "dial", text: "Call", data: "c", number: "+15550100199" }],
      ["ACTION_OPEN_URL", { type: "url", text: "Open", data: "o", url: "https://shop.example" }],
      ["ACTION_VIEW_LOCATION", { type: "viewLocation", text: "Go", data: "g", latitude: 1, longitude: 2, label: "" }],
      ["ACTION_SHARE_LOCATION", { type: "shareLocation", text: "Here", data: "h" }],
      [
        "ACTION_CREATE_CALENDAR_EVENT",
        { type: "calendar", text: "Save", data: "s", title: "Day", startAt: 0, endAt: 1, description: "" },
      ],
    ] as const)("a suggestion needs the phone's %s, if the phone reports such features", async (name, suggestion) => {
      const { carrier, fake } = await open({ settings: { capabilityHours: 1 } });
      const all = fake.features;
      const content = { ...RCS_TEXT, kind: "rich", suggestions: [suggestion] } as const;
      const submit = (recipient: string): Promise<Outcome> => carrier.submit(message({ content, recipient }));
      expect(await submit("15550100101")).toMatchObject({ kind: "taken" });
      fake.features = all.filter((each) => each !== name);
      expect(await submit("15550100102")).toMatchObject({ kind: "refused", code: "FEATURE_MISSING" });
      fake.features = ["REVOCATION"];
      expect(await submit("15550100103")).toMatchObject({ kind: "taken" });
    });

    test.each([
      { status: 500, raw: "" },
      { status: 403, error: "PERMISSION_DENIED" },
      { status: 404, raw: "" },
      "cut after",
    ] as const)("a failed lookup does not prevent sending: %j", async (fault) => {
      const { carrier, fake } = await open();
      fake.faultFor = ({ what }) => (what === "capabilities" ? fault : null);
      expect(await carrier.submit(message())).toMatchObject({ kind: "taken" });
    });

    test("throttled lookups reduce the rate", async () => {
      const { carrier, fake } = await open();
      fake.faultFor = ({ what }) => (what === "capabilities" ? { status: 429, error: "RESOURCE_EXHAUSTED" } : null);
      expect(await carrier.submit(message())).toMatchObject({ kind: "busy" });
      expect(fake.requests.send).toBe(0);
    });
  });

  describe("a read mark", () => {
    const inbound = (changes: object = {}): InboundMessage => ({
      accountId: 1,
      id: "019b5f0a-7c00-7000-8000-000000000001",
      channel: "rcs",
      from: "15550100100",
      to: "shop",
      content: { kind: "text", text: "Hello?" },
      answers: null,
      at: 0,
      origin: { carrier: "1/line", carrierMessageId: "MxUser1" },
      ...changes,
    });

    test("a read mark names the user's message, and with typing the agent is shown as typing", async () => {
      const { carrier, fake } = await open(UNCHECKED);
      expect(await carrier.markRead?.(inbound(), { typing: false })).toEqual({ kind: "marked" });
      expect(await carrier.markRead?.(inbound(), { typing: true })).toEqual({ kind: "marked" });
      const read = { number: "15550100100", eventType: "READ", messageId: "MxUser1" };
      expect(fake.events).toEqual([read, read, { number: "15550100100", eventType: "IS_TYPING" }]);
      expect(fake.faults).toEqual([]);
    });

    test("a read mark that the platform refuses or does not answer tells why", async () => {
      const { carrier, fake } = await open(UNCHECKED);
      fake.faultFor = ({ what }) =>
        what === "event" ? { status: 400, error: "INVALID_ARGUMENT", message: "too old" } : null;
      expect(await carrier.markRead?.(inbound(), { typing: false })).toEqual({
        kind: "failed",
        description: "The platform refused the mark: too old",
      });
      fake.faultFor = ({ what }) => (what === "event" ? "cut after" : null);
      expect(await carrier.markRead?.(inbound(), { typing: false })).toMatchObject({ kind: "failed" });
      expect(await carrier.markRead?.(inbound({ origin: undefined }), { typing: false })).toMatchObject({
        kind: "failed",
      });
    });
  });

  describe("with uploadFiles", () => {
    const UPLOADING = { settings: { capabilityCheck: false, uploadFiles: true } };
    const card = (n: number): Message => message({ content: CARD, recipient: `1555010010${n}`, n });
    const mediaIn = (index: number, { fake }: Pick<RbmTrial, "fake">): unknown => {
      const content = fake.accepted[index]?.body.contentMessage;
      return followPath(content, ["richCard", "standaloneCard", "cardContent", "media"])[0];
    };

    test("with uploadFiles a file is uploaded once and then named, also for concurrent messages", async () => {
      const { carrier, fake, clock } = await open(UPLOADING);
      await Promise.all([1, 2].map((n) => carrier.submit(card(n))));
      expect(mediaIn(0, { fake })).toEqual({ height: "MEDIUM", uploadedRbmFile: { fileName: "files/1" } });
      expect(mediaIn(1, { fake })).toEqual(mediaIn(0, { fake }));
      expect([fake.requests.upload, fake.faults]).toEqual([1, []]);
      // Before the platform forgets it.
      clock.advance(50 * 86_400_000);
      await carrier.submit(card(3));
      expect(fake.requests.upload).toBe(2);
    });

    test("with uploadFiles a file that cannot be uploaded is sent by its URL, and tried again later", async () => {
      const { carrier, fake, clock } = await open(UPLOADING);
      fake.faultFor = ({ what }) => (what === "upload" ? { status: 400, error: "INVALID_ARGUMENT" } : null);
      for (const n of [1, 2]) expect(await carrier.submit(card(n))).toMatchObject({ kind: "taken" });
      expect(mediaIn(1, { fake })).toMatchObject({ contentInfo: { fileUrl: expect.any(String) } });
      expect(fake.requests.upload).toBe(1);
      clock.advance(300_000);
      fake.faultFor = () => null;
      await carrier.submit(card(3));
      expect(mediaIn(2, { fake })).toMatchObject({ uploadedRbmFile: { fileName: "files/2" } });
    });
  });

  describe("a check of many numbers", () => {
    test("a check of many numbers is one request and returns those that the agent reaches", async () => {
      const { carrier, fake } = await open(UNCHECKED);
      const numbers = ["15550100100", "15550109009", "15550100101"];
      expect(await carrier.reach?.("shop", numbers)).toEqual({
        kind: "known",
        reachable: new Set(["15550100100", "15550100101"]),
      });
      expect([fake.requests.reach, fake.faults]).toEqual([1, []]);
    });

    test("a check of 2,500 numbers is three requests, because answers are limited", async () => {
      const { carrier, fake } = await open(UNCHECKED);
      const numbers = Array.from({ length: 2500 }, (_, index) => String(15_550_200_000 + index));
      const outcome = await carrier.reach?.("shop", numbers);
      expect([fake.requests.reach, outcome?.kind === "known" && outcome.reachable.size]).toEqual([3, 2500]);
    });

    test("a check of many numbers tells why the platform did not answer", async () => {
      const { carrier, fake } = await open(UNCHECKED);
      fake.faultFor = ({ what }) =>
        what === "reach" ? { status: 400, error: "INVALID_ARGUMENT", message: "two regions" } : null;
      expect(await carrier.reach?.("shop", ["15550100100"])).toEqual({
        kind: "failed",
        code: "INVALID_ARGUMENT",
        description: "The platform answers with status 400: two regions",
      });
      fake.faultFor = ({ what }) => (what === "reach" ? "cut after" : null);
      expect(await carrier.reach?.("shop", ["15550100100"])).toMatchObject({ kind: "failed", code: null });
    });
  });

  test("a message is revoked by its id, also with an expired token", async () => {
    const { carrier, fake } = await open(UNCHECKED);
    const sent = message();
    await carrier.submit(sent);
    fake.forgetTokens();
    await carrier.revoke(sent);
    expect(fake.revoked).toEqual([platformIdOf(sent)]);
  });

  test("a failed revocation is logged and does not throw", async () => {
    const { carrier, fake, logged } = await open(UNCHECKED);
    fake.faultFor = ({ what }) => (what === "revoke" ? "cut before" : null);
    await carrier.revoke(message());
    expect(logged.join("")).toContain("RBM message not revoked");
  });

  test("an invalid key is refused without quoting it", async () => {
    const secrets = { serviceAccount: '{"private_key":"top secret"}', clientToken: RBM_CLIENT_TOKEN };
    const making = openRbmTrial({ deps: { secrets } });
    await expect(making).rejects.toThrow("it has no client_email");
  });

  test("a suspended agent is logged, but not for every message", async () => {
    const { carrier, fake, logged, clock } = await open(UNCHECKED);
    fake.faultFor = ({ what }) => (what === "send" ? { status: 403, error: "PERMISSION_DENIED" } : null);
    for (let count = 0; count < 5; count += 1) await carrier.submit(message());
    clock.advance(60_000);
    await carrier.submit(message());
    expect(logged.filter((line) => line.includes("RBM agent may not send"))).toHaveLength(2);
  });

  test("logs contain no number, text, key or token", async () => {
    const { carrier, fake, logged, clock } = await open({ settings: { capabilityHours: 1, uploadFiles: true } });
    const content = { ...RCS_TEXT, text: "canary-text" };
    const echo = "phones/+15550100100 said canary-text ya29.canary";
    const faults = [400, 401, 403, 404, 429, 500].map((status) => ({ status, error: "SOME_ERROR", message: echo }));
    let cards = 0;
    const card = (): RcsContent => {
      const fileUrl = `https://shop.example/canary-${(cards += 1)}.jpg`;
      return { ...CARD, cards: CARD.cards.map((each) => ({ ...each, fileUrl })) };
    };
    for (const what of ["token", "capabilities", "send", "revoke", "reach", "upload", "event"])
      for (const fault of [...faults, "cut before", "cut after"] as const) {
        fake.faultFor = (asking) => (asking.what === what ? fault : null);
        await carrier.submit(message({ content, recipient: "15550100100" }));
        await carrier.revoke(message({ content }));
        await carrier.submit(message({ content: card(), recipient: "15550100100" }));
        await carrier.reach?.("shop", ["15550100100"]);
        await carrier.markRead?.(
          {
            accountId: 1,
            id: "1",
            channel: "rcs",
            from: "15550100100",
            to: "shop",
            content,
            answers: null,
            at: 0,
            origin: { carrier: "1/line", carrierMessageId: "MxUser1" },
          } as unknown as InboundMessage,
          { typing: true },
        );
        // A cached capability would suppress the next lookup.
        clock.advance(3_600_000);
      }
    expect(Math.min(...Object.values(fake.requests))).toBeGreaterThan(faults.length);
    for (const event of ["canary-text", { text: "canary-text" }, { eventType: "canary-text" }])
      await carrier.handleWebhook(signedCall(event));
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

type Fault = ReturnType<RbmTrial["fake"]["faultFor"]>;
const sendFault =
  (fault: Fault): RbmTrial["fake"]["faultFor"] =>
  ({ what }) =>
    what === "send" ? fault : null;
