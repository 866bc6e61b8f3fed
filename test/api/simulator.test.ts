import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { outcomeOf } from "../../src/carriers/simulator/scripted-outcome.ts";
import { SimulatorCarrier } from "../../src/carriers/simulator/carrier.ts";
import { createLog } from "../../src/lib/log.ts";
import { SEND_CHANNELS, type SendChannel, type Message } from "../../src/model/message.ts";
import { CALM } from "../../src/model/phone.ts";
import type { RcsContent } from "../../src/model/rcs.ts";
import type { Receipt } from "../../src/model/receipt.ts";
import type { Store } from "../../src/store/store.ts";
import { carrierSuite } from "../unit/carrier.suite.ts";
import { ENGINES, openStore, type EngineName } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import {
  startTestServer,
  type Answer,
  type Envelope,
  type TestServer,
  type PhoneMessageBody,
} from "../support/test-server.ts";
import { MovedClock } from "../support/moved-clock.ts";
import { author, CHAT_TEMPLATE, RCS_TEMPLATE } from "../support/rich-templates.ts";
import { sampleMessage } from "../support/message.ts";

const RICH: RcsContent = {
  botId: "bot",
  templateName: "rate us",
  kind: "rich",
  text: "Happy?",
  suggestions: [{ type: "reply", text: "Yes", data: "yes" }],
  cards: [],
  params: [],
  fallback: {
    sender: "HELIOG",
    content: { text: "Are you happy?", encoding: "gsm7", flash: false },
    segments: 1,
    afterSeconds: 60,
    validityMs: 3_540_000,
  },
};

const messageTo = (clock: MovedClock, recipient: string, changes: Partial<Message> = {}): Message =>
  sampleMessage({ recipient, expiresAt: clock.now() + 3_600_000, ...changes }, clock.now());

interface Network {
  carrier: SimulatorCarrier;
  clock: MovedClock;
  store: Store;
  close(): Promise<void>;
}

async function openNetwork(engine: EngineName): Promise<Network> {
  const { store, discard } = await openStore(engine);
  const clock = new MovedClock();
  const carrier = new SimulatorCarrier({ store, clock, log: createLog("silent"), chaosOf: () => CALM });
  return {
    carrier,
    clock,
    store,
    close: async () => {
      await carrier.stop();
      await discard();
    },
  };
}

const FORMS: Record<SendChannel, Partial<Message>> = {
  sms: {},
  rcs: { channel: "rcs", sender: "bot", content: RICH },
  chatapp: { channel: "chatapp", sender: "+15550100199", content: { kind: "text", text: "Hello" } },
};

describe.each(ENGINES)("the carrier contract of the simulator on %s", (engine) => {
  describe.each(SEND_CHANNELS)("for %s", (channel) => {
    carrierSuite(async () => {
      const { carrier, clock, close } = await openNetwork(engine);
      const to = (recipient: string): Message => messageTo(clock, recipient, FORMS[channel]);
      return {
        carrier,
        deliverable: () => to("15550100100"),
        undeliverable: () => to("15550109001"),
        refusable: () => to("15550109003"),
        letReportsCome: async () => {
          clock.advance(6000);
          await carrier.resendOverdue();
          clock.advance(0);
        },
        close,
      };
    });
  });
});

describe.each(ENGINES)("the simulated network on %s", (engine) => {
  let network: Network;
  let receipts: Receipt[];
  const take = async (receipt: Receipt): Promise<void> => void receipts.push(receipt);
  const states = (): string[] => receipts.map(({ state }) => state);
  const owed = async (): Promise<number> => (await network.store.listUnreported(Number.MAX_SAFE_INTEGER, 10)).length;
  beforeEach(async () => {
    network = await openNetwork(engine);
    receipts = [];
  });
  afterEach(() => network.close());

  test("reports are pending until the last of them is accepted, in any order", async () => {
    const { carrier, clock } = network;
    await carrier.start(take);
    // On its way comes last and at once; that it was read comes later.
    await carrier.submit(messageTo(clock, "15550109007", FORMS.rcs));
    clock.advance(CALM.delayMs);
    await eventually(states, (seen) => seen.length === 2);
    await carrier.stop();
    expect(await owed()).toBe(1);
    await carrier.start(take);
    clock.advance(10_000);
    await carrier.resendOverdue();
    clock.advance(0);
    await eventually(owed, (left) => left === 0);
    expect(states()).toEqual(["delivered", "enroute", "delivered", "read", "enroute"]);
  });

  test("a report that was not accepted is repeated, even if a later one was", async () => {
    const { carrier, clock } = network;
    await carrier.start(async (receipt) => {
      if (receipt.state === "delivered") throw new Error("the store is away");
      await take(receipt);
    });
    await carrier.submit(messageTo(clock, "15550100100", FORMS.chatapp));
    clock.advance(1000);
    await eventually(states, (seen) => seen.length === 1);
    await carrier.stop();
    clock.advance(10_000);
    await carrier.start(take);
    clock.advance(0);
    await eventually(owed, (left) => left === 0);
    expect(states()).toEqual(["read", "delivered", "read"]);
  });

  test("the fallback text never reaches the phone with the RCS message", async () => {
    const { carrier, clock, store } = network;
    await carrier.submit(messageTo(clock, "15550100100", FORMS.rcs));
    const { rows } = await store.listPhoneMessages(1, "15550100100", null, 10);
    const { fallback: _, ...shown } = RICH;
    expect(rows.map(({ content }) => content)).toEqual([shown]);
  });
});

describe("scripted outcomes", () => {
  const fate = (number: string, attempts = 0, channel: SendChannel = "sms") =>
    outcomeOf({ recipient: number, channel, attempts }, CALM, () => 0.5);
  const states = (number: string): string[] => fate(number).reports.map((report) => report.state);

  test("9001 is undelivered, 9002 expires, 9004 has no report", () => {
    expect([states("15550109001"), states("15550109002"), states("15550109004")]).toEqual([
      ["undelivered"],
      ["expired"],
      [],
    ]);
  });
  test("9003 is refused at submit", () => {
    expect(fate("15550109003").submit).toBe("refused");
  });
  test("9005 is delivered after 20 seconds", () => {
    expect(fate("15550109005").reports).toMatchObject([{ state: "delivered", afterMs: 20_000 }]);
  });
  test("9006 gets every report twice, 9007 out of order", () => {
    expect([states("15550109006"), states("15550109007")]).toEqual([
      ["delivered", "delivered"],
      ["delivered", "enroute"],
    ]);
  });
  test("9008 is throttled at the first attempt only", () => {
    expect([fate("15550109008").submit, fate("15550109008", 1).submit]).toEqual(["busy", "taken"]);
  });
  test("a delivered RCS or chat-app message is read a moment later", () => {
    for (const channel of ["rcs", "chatapp"] as const)
      expect(fate("15550100100", 0, channel).reports).toMatchObject([
        { state: "delivered", afterMs: 200 },
        { state: "read", afterMs: 500 },
      ]);
  });
  test("9009 is not on RCS; any other number is delivered", () => {
    expect([states("15550109009"), states("15550100100")]).toEqual([["delivered"], ["delivered"]]);
  });
  test("chaos applies to other numbers, in the configured share", () => {
    const chaos = { ...CALM, deliveredPercent: 30, duplicatePercent: 20 };
    const ordinary = { recipient: "15550100100", channel: "sms", attempts: 0 } as const;
    let seed = 1;
    const random = (): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const fates = Array.from({ length: 5000 }, () => outcomeOf(ordinary, chaos, random));
    const share = (is: (fate: ReturnType<typeof outcomeOf>) => boolean): number => fates.filter(is).length / 50;
    expect(share((each) => each.reports[0]?.state === "delivered")).toBeGreaterThan(27);
    expect(share((each) => each.reports[0]?.state === "delivered")).toBeLessThan(33);
    expect(share((each) => each.reports.length === 2)).toBeGreaterThan(17);
    expect(share((each) => each.reports.length === 2)).toBeLessThan(23);
  });
});

describe.each(ENGINES)("the simulator's API on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(engine);
  });
  afterAll(() => server.close());
  const idOf = (sent: Answer<{ data: { messageId: string }[] }>): string => sent.body.data[0]?.messageId ?? "";

  test("phones lists the numbers with their scripted outcomes, in pages", async () => {
    const sent = await server.send({ to: ["15550100177", "15550100178"] });
    for (const { messageId } of sent.body.data) await server.settled(messageId);
    const first = await server.request<{
      data: { number: string; script: string | null; messageCount: number }[];
      nextCursor: string;
    }>("GET", "/api/simulator/phones?limit=2");
    expect(first.body.data.map((phone) => [phone.number, phone.messageCount])).toEqual([
      ["15550100100", 0],
      ["15550100177", 1],
    ]);
    const rest = await server.request<typeof first.body>(
      "GET",
      `/api/simulator/phones?cursor=${first.body.nextCursor}`,
    );
    expect(rest.body.data.map((phone) => [phone.number, phone.script])).toEqual([
      ["15550100178", null],
      ["15550109001", "undelivered"],
      ["15550109005", "delivered after 20 seconds"],
    ]);
  });

  test("each scripted outcome shows in the message's final state", async () => {
    const ends = {
      9001: "undelivered",
      9002: "expired",
      9003: "rejected",
      9006: "delivered",
      9007: "delivered",
      9008: "delivered",
      9009: "delivered",
    };
    for (const [ending, state] of Object.entries(ends)) {
      const sent = await server.send({ to: `1555010${ending}` });
      expect([ending, (await server.settled(idOf(sent))).state]).toEqual([ending, state]);
    }
    const silent = await server.send({ to: "15550109004" });
    expect((await server.onPhone("15550109004")).length).toBeLessThanOrEqual(1);
    expect((await server.message(idOf(silent))).status).toBe("Pending");
  });

  test("a phone shows the messages of each channel, and nothing else", async () => {
    await author(server, "chatTemplate", "parcel", CHAT_TEMPLATE);
    await author(server, "rcsTemplate", "shop", RCS_TEMPLATE);
    const to = "15550100155";
    const shownOf = async (path: string, body: object): Promise<object> => {
      const messageId = idOf(await server.request<Envelope>("POST", path, body));
      const asked = `/api/simulator/messages/wait?to=${to}&messageId=${messageId}&timeout=10`;
      const { data } = (await server.request<{ data: PhoneMessageBody }>("GET", asked)).body;
      expect(data).toMatchObject({ to, messageId });
      const { id: _, messageId: __, to: ___, receivedAt: ____, ...shown } = data;
      return shown;
    };
    expect(await shownOf("/v1/sms", { sender: "HELIOG", to, text: "Hello", type: "TRANS", flash: 1 })).toEqual({
      channel: "sms",
      sender: "HELIOG",
      text: "Hello",
      encoding: "gsm7",
      flash: true,
      parts: ["Hello"],
    });
    const header = { type: "text", text: "News" };
    const chat = { from: "+15550100199", to, type: "template", templateName: "parcel" };
    expect(await shownOf("/v1/chatapp", { ...chat, components: { header, body: { params: ["Ada"] } } })).toEqual({
      channel: "chatapp",
      sender: "+15550100199",
      templateName: "parcel",
      language: "pt_BR",
      header,
      text: "Hello Ada, your parcel is here.",
      footer: "Heliograph Parcels",
      buttons: CHAT_TEMPLATE.buttons,
    });
    const learned = {
      ...chat,
      templateName: "sale",
      components: { header: { type: "image", image: { link: "http://127.0.0.1:9/a.png" } }, body: { params: [] } },
    };
    expect(await shownOf("/v1/chatapp", learned)).toMatchObject({
      header: { type: "image", link: "http://127.0.0.1:9/a.png" },
      footer: null,
      buttons: [],
    });
    const fallback = { type: "sms", sender: "HELIOG", text: "Look at our shop" };
    expect(
      await shownOf("/v1/rcs", { number: `+${to}`, templateName: "shop", botId: "bot", type: "TRANS", fallback }),
    ).toEqual({
      channel: "rcs",
      sender: "bot",
      kind: "carousel",
      templateName: "shop",
      text: "",
      suggestions: RCS_TEMPLATE.suggestions,
      cards: RCS_TEMPLATE.cards,
    });
    await server.request("POST", `/api/simulator/phones/${to}/reply`, { channel: "chatapp", text: "Hello?" });
    expect(await shownOf("/v1/chatapp", { ...chat, type: "text", text: { body: "Hello!" } })).toEqual({
      channel: "chatapp",
      sender: "+15550100199",
      text: "Hello!",
    });
  });

  test("wait returns when a message arrives, and null when none does", async () => {
    const waiting = server.request<{ data: PhoneMessageBody | null }>(
      "GET",
      "/api/simulator/messages/wait?to=%2B15550100188&timeout=10",
    );
    await server.send({ to: "15550100188", text: "at last" });
    expect((await waiting).body.data).toMatchObject({ to: "15550100188", text: "at last" });
    const id = (await waiting).body.data?.id;
    const nothing = await server.request("GET", `/api/simulator/messages/wait?to=15550100188&after=${id}&timeout=1`);
    expect(nothing.body).toEqual({ data: null });
  });

  test("events streams every message once, and missed ones after a reconnect", async () => {
    const follow = async (wanted: number, lastEventId?: string): Promise<{ ids: string[]; texts: string[] }> => {
      const response = await fetch(`${server.url}/api/simulator/events`, {
        headers: { apikey: server.key, ...(lastEventId ? { "last-event-id": lastEventId } : {}) },
      });
      expect(response.headers.get("content-type")).toBe("text/event-stream");
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      let stream = "";
      const texts = (): string[] => [...stream.matchAll(/"text":"([^"]*)"/g)].map((match) => match[1] ?? "");
      opened();
      while (texts().length < wanted) stream += (await reader?.read())?.value ?? "";
      await reader?.cancel();
      return { ids: [...stream.matchAll(/^id: (.*)$/gm)].map((match) => match[1] ?? ""), texts: texts() };
    };
    let opened = (): void => {};
    const ready = new Promise<void>((resolve) => {
      opened = resolve;
    });
    const following = follow(3);
    await ready;
    for (const text of ["one", "two", "three"]) {
      await server.settled(idOf(await server.send({ to: "15550100199", text })));
    }
    const seen = await following;
    expect(seen.texts).toEqual(["one", "two", "three"]);
    expect((await follow(2, seen.ids[0])).texts).toEqual(["two", "three"]);
  });

  test("chaos changes the carrier's behaviour, and refuses invalid values", async () => {
    const changed = await server.request<Record<string, number>>("PUT", "/api/simulator/chaos", {
      deliveredPercent: 0,
      delayMs: 0,
      unknown: 7,
    });
    expect(changed.body).toEqual({ ...CALM, deliveredPercent: 0, delayMs: 0 });
    expect((await server.settled(idOf(await server.send()))).state).toBe("undelivered");
    const refused = await server.request<{ error: { details: { parameter: string }[] } }>(
      "PUT",
      "/api/simulator/chaos",
      {
        deliveredPercent: 101,
        delayMs: "soon",
      },
    );
    expect([refused.status, refused.body.error.details.map((detail) => detail.parameter)]).toEqual([
      400,
      ["deliveredPercent", "delayMs"],
    ]);
    expect((await server.request("GET", "/api/simulator/chaos")).body).toEqual(changed.body);
  });

  test.each(["TRANS", "PROMO"])(
    "%s without a submit response is settled by its receipt and on the phone once",
    async (type) => {
      await server.request("PUT", "/api/simulator/chaos", { ...CALM, lostAnswerPercent: 100, delayMs: 50 });
      const to = type === "TRANS" ? "15550100201" : "15550100202";
      const sent = await server.send({ to, type });
      expect((await server.settled(idOf(sent))).state).toBe("delivered");
      expect(await server.onPhone(to)).toHaveLength(1);
    },
  );
});
