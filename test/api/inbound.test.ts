import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Inbound } from "../../src/carriers/carrier.ts";
import { idOf, newId } from "../../src/lib/ids.ts";
import { DEFAULT_SETTINGS } from "../../src/model/account.ts";
import { receive } from "../../src/pipeline/inbound/receive.ts";
import type { InboundContent, InboundMessage } from "../../src/model/inbound.ts";
import { SEND_CHANNELS, type SendChannel } from "../../src/model/message.ts";
import { openTenants, type Tenants } from "../fuzz/tenants.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { KEYWORD_RULE } from "../support/keyword-rule.ts";
import type { Answer, Envelope, ErrorBody, TestServer, MessageBody } from "../support/test-server.ts";
import { author, CHAT_TEMPLATE, RCS_TEMPLATE } from "../support/rich-templates.ts";
import { TestPipeline } from "../support/test-pipeline.ts";

interface Sent {
  id: string;
  channel: SendChannel;
  from: string;
  to: string;
  text: string;
  suggestionResponse: { plainText: string; postBack: { data: string }; type: string } | null;
  userFile: object | null;
  location: object | null;
  messageId: string | null;
  receivedAt: number;
}

interface Failed {
  error: ErrorBody;
}

const SENDERS: Record<SendChannel, string> = { sms: "HELIOG", rcs: "shop-bot", chatapp: "+15550100199" };
const RICH = ["rcs", "chatapp"] as const;
const FILE = {
  fileName: "door.jpg",
  mimeType: "image/jpeg",
  fileUri: "https://files.example/door.jpg",
  fileSizeBytes: 48_213,
};
const NOTHING = { text: "", suggestionResponse: null, userFile: null, location: null, details: null, readAt: null };

describe.each(ENGINES)("replies of users on %s", (engine) => {
  let tenants: Tenants;
  let server: TestServer;
  let last = 0;
  beforeAll(async () => {
    tenants = await openTenants(engine);
    server = tenants.server;
    await author(server, "chatTemplate", "parcel", CHAT_TEMPLATE);
    await author(server, "rcsTemplate", "shop", RCS_TEMPLATE);
  });
  afterAll(() => tenants.close());

  /** A phone that no other test has used. */
  const someone = (): string => `1202556${String((last += 1)).padStart(4, "0")}`;
  const bodyFor = (channel: SendChannel, to: string): [string, object] => {
    if (channel === "sms") return ["/v1/sms", { sender: SENDERS.sms, to, text: "Hello", type: "TRANS" }];
    if (channel === "rcs")
      return ["/v1/rcs", { botId: SENDERS.rcs, number: `+${to}`, templateName: "shop", type: "TRANS" }];
    const components = { header: { type: "text", text: "News" }, body: { params: ["Ada"] } };
    return ["/v1/chatapp", { from: SENDERS.chatapp, to, type: "template", templateName: "parcel", components }];
  };
  /** Sends a message and waits until it lies on its phone. */
  async function deliver(channel: SendChannel, to: string): Promise<string> {
    const [path, body] = bodyFor(channel, to);
    const sent = await server.request<Envelope>("POST", path, body);
    expect(sent.status).toBe(200);
    const messageId = sent.body.data[0]?.messageId ?? "";
    await server.request("GET", `/api/simulator/messages/wait?to=${to}&messageId=${messageId}&timeout=10`);
    return messageId;
  }
  const act = <T = Sent>(number: string, verb: string, body: object, headers = {}): Promise<Answer<T>> =>
    server.request("POST", `/api/simulator/phones/${number}/${verb}`, body, headers);
  async function fault(number: string, verb: string, body: object): Promise<[number, string, string | null, string]> {
    const { status, body: answer } = await act<Failed>(number, verb, body);
    return [status, answer.error.code, answer.error.parameter, answer.error.message];
  }
  const list = async (query: string): Promise<Sent[]> =>
    (await server.request<{ data: Sent[] }>("GET", `/v1/inbound?${query}`)).body.data;
  const isOptedOut = async (number: string): Promise<boolean> =>
    (await server.request("GET", `/api/optouts/${number}`)).status === 200;

  const KINDS: Record<string, [object, object]> = {
    reply: [{ text: "Thank you 😀" }, { ...NOTHING, text: "Thank you 😀" }],
    file: [FILE, { ...NOTHING, userFile: { category: "image", payload: FILE, thumbnail: null } }],
    location: [
      { latitude: -33.8568, longitude: 151.2153 },
      { ...NOTHING, location: { latitude: -33.8568, longitude: 151.2153 } },
    ],
  };
  const WAYS: [string, SendChannel][] = [
    ...SEND_CHANNELS.map((channel): [string, SendChannel] => ["reply", channel]),
    ...RICH.flatMap((channel): [string, SendChannel][] => [
      ["file", channel],
      ["location", channel],
    ]),
  ];

  test.each(WAYS)("a %s on %s replies to the last message there and can be read back", async (verb, channel) => {
    const from = someone();
    const messageId = await deliver(channel, from);
    const [body, shown] = KINDS[verb] ?? [{}, {}];
    const { status, body: sent } = await act(from, verb, body);
    expect([status, sent]).toEqual([
      200,
      { id: sent.id, channel, from, to: SENDERS[channel], ...shown, messageId, receivedAt: expect.any(Number) },
    ]);
    expect((await server.request("GET", `/v1/inbound/${sent.id}`)).body).toEqual(sent);
    expect(await list(`from=${from}`)).toEqual([sent]);
  });

  test.each([
    ["rcs", { data: "buy-boots" }, { plainText: "Buy", postBack: { data: "buy-boots" }, type: "REPLY" }],
    ["rcs", { text: "Buy", card: 1 }, { plainText: "Buy", postBack: { data: "buy-coat" }, type: "REPLY" }],
    ["rcs", { text: "Shop" }, { plainText: "Shop", postBack: { data: "shop" }, type: "ACTION" }],
    ["rcs", { text: "Call us" }, { plainText: "Call us", postBack: { data: "+15550100198" }, type: "DIALER" }],
    ["chatapp", { text: "Stop" }, { plainText: "Stop", postBack: { data: "Stop" }, type: "REPLY" }],
    [
      "chatapp",
      { text: "Track it" },
      { plainText: "Track it", postBack: { data: "https://parcels.example/4711" }, type: "ACTION" },
    ],
    ["chatapp", { data: "+15550100198" }, { plainText: "Call us", postBack: { data: "+15550100198" }, type: "DIALER" }],
  ] as const)("a tap on %s of %j is told in the words of the event", async (channel, tap, suggestionResponse) => {
    const from = someone();
    const messageId = await deliver(channel, from);
    await deliver("sms", from);
    const { status, body: sent } = await act(from, "tap", tap);
    const details = channel === "chatapp" && suggestionResponse.type === "REPLY" ? { kind: "button" } : null;
    expect([status, sent]).toEqual([
      200,
      { ...sent, channel, from, to: SENDERS[channel], ...NOTHING, details, suggestionResponse, messageId },
    ]);
    expect((await server.request("GET", `/v1/inbound/${sent.id}`)).body).toEqual(sent);
  });

  test("a tap that matches no button or several lists the candidates", async () => {
    const from = someone();
    expect(await fault(from, "tap", {})).toEqual([
      404,
      "MESSAGE_NOT_FOUND",
      null,
      "No message on this phone has buttons or suggestions.",
    ]);
    const messageId = await deliver("chatapp", from);
    expect(await fault(from, "tap", { messageId, text: "stop" })).toEqual([
      404,
      "RECORD_NOT_FOUND",
      "text",
      'The message has no such button or suggestion. It has: "Stop" (data "Stop"), "Track it" (data "https://parcels.example/4711"), "Call us" (data "+15550100198").',
    ]);
    const plain = await deliver("sms", from);
    expect((await fault(from, "tap", { messageId: plain, text: "Stop" })).slice(0, 2)).toEqual([
      404,
      "MESSAGE_NOT_FOUND",
    ]);
    await deliver("rcs", from);
    expect(await fault(from, "tap", { text: "Buy" })).toEqual([
      400,
      "INVALID_REQUEST",
      "text",
      'Several match: "Buy" (card 1, data "buy-coat"), "Buy" (card 2, data "buy-boots"). Choose one by text, data or card.',
    ]);
    expect((await fault(from, "tap", { card: 3 })).slice(0, 3)).toEqual([404, "RECORD_NOT_FOUND", "card"]);
  });

  test.each(SEND_CHANNELS)("a stop word on %s ends promotions, and a start word resumes them", async (channel) => {
    const from = someone();
    await deliver(channel, from);
    await act(from, "reply", { text: "please stop by tomorrow" });
    expect(await isOptedOut(from)).toBe(false);
    await act(from, "reply", { text: " Stop! " });
    expect(await isOptedOut(from)).toBe(true);
    expect((await server.send({ to: from, type: "PROMO" })).status).toBe(403);
    await act(from, "reply", { text: "start" });
    expect(await isOptedOut(from)).toBe(false);
    expect((await list(`from=${from}`)).map(({ text }) => text)).toEqual([
      "start",
      " Stop! ",
      "please stop by tomorrow",
    ]);
  });

  test.each([
    ["chatapp", "Stop"],
    ["rcs", "Unsubscribe"],
  ] as const)("a tapped stop word on %s counts as one", async (channel, text) => {
    const from = someone();
    await deliver(channel, from);
    await act(from, "tap", { text });
    expect(await isOptedOut(from)).toBe(true);
  });

  test("a reply goes to the given sender and channel, or else to the last sender", async () => {
    const from = someone();
    const [sms, chat, rcs] = [await deliver("sms", from), await deliver("chatapp", from), await deliver("rcs", from)];
    const answered = async (fields: object): Promise<unknown> => {
      const { channel, to, messageId } = (await act(from, "reply", { ...fields, text: "Hello" })).body;
      return [channel, to, messageId];
    };
    expect(await answered({})).toEqual(["rcs", SENDERS.rcs, rcs]);
    expect(await answered({ channel: "sms" })).toEqual(["sms", SENDERS.sms, sms]);
    expect(await answered({ to: "15550100199" })).toEqual(["chatapp", SENDERS.chatapp, chat]);
    expect(await answered({ to: SENDERS.rcs, channel: "rcs" })).toEqual(["rcs", SENDERS.rcs, rcs]);
    // This number has no inbound message yet; the phone may write first.
    expect(await answered({ to: "OTHER" })).toEqual(["sms", "OTHER", null]);
    expect(await answered({ to: "1 555 010 0177", channel: "chatapp" })).toEqual(["chatapp", "+15550100177", null]);
    expect((await act(from, "location", { latitude: 1, longitude: 2 })).body).toMatchObject({ messageId: rcs });
  });

  test("an invalid reply is refused with field and fix, and nothing is stored", async () => {
    const from = someone();
    const place = { latitude: 1, longitude: 2 };
    const empty = "The phone has no message to reply to: specify";
    expect(await fault(from, "reply", { text: "Hello" })).toEqual([400, "INVALID_REQUEST", "to", `${empty} to.`]);
    await deliver("sms", from);
    expect((await fault(from, "file", FILE)).slice(0, 3)).toEqual([400, "INVALID_REQUEST", "to"]);
    expect(await fault(from, "file", { ...FILE, to: "HELIOG" })).toEqual([
      400,
      "INVALID_REQUEST",
      "channel",
      `${empty} rcs or chatapp.`,
    ]);
    const parameters = await Promise.all([
      fault(from, "location", { ...place, channel: "sms", to: "HELIOG" }),
      fault(from, "location", { ...place, channel: "chatapp", to: "HELIOG" }),
      fault(from, "location", { latitude: 91, longitude: 2, channel: "rcs", to: "bot" }),
      fault(from, "file", { ...FILE, fileUri: "ftp://files.example/a", channel: "rcs", to: "bot" }),
      fault(from, "file", { ...FILE, fileName: "a\nb", channel: "rcs", to: "bot" }),
      fault(from, "file", { ...FILE, mimeType: "picture", channel: "rcs", to: "bot" }),
      fault(from, "file", { ...FILE, thumbnail: { ...FILE, fileUri: "x" }, channel: "rcs", to: "bot" }),
      fault(from, "reply", { text: "\0", channel: "rcs", to: "bot" }),
      fault(from, "reply", { text: "Hello", channel: "rcs", to: "a\0b" }),
      fault("none", "reply", { text: "Hello" }),
    ]);
    expect(parameters.map(([status, , parameter]) => `${status} ${parameter}`)).toEqual([
      "400 channel",
      "400 to",
      "400 latitude",
      "400 fileUri",
      "400 fileName",
      "400 mimeType",
      "400 thumbnail.fileUri",
      "400 text",
      "400 to",
      "400 number",
    ]);
    expect(await list(`from=${from}`)).toEqual([]);
  });

  test("the category of a file follows its content type unless one is given", async () => {
    const from = someone();
    await deliver("rcs", from);
    const categoryOf = async (fields: object): Promise<unknown> =>
      ((await act(from, "file", { ...FILE, ...fields })).body.userFile as { category: string }).category;
    expect(await categoryOf({ mimeType: "Video/mp4" })).toBe("video");
    expect(await categoryOf({ mimeType: "application/pdf" })).toBe("file");
    expect(await categoryOf({ category: "sticker" })).toBe("sticker");
    const { body } = await act(from, "file", { ...FILE, thumbnail: { ...FILE, fileName: "small.jpg" } });
    expect(body.userFile).toMatchObject({ thumbnail: { ...FILE, fileName: "small.jpg" } });
  });

  describe("reading on the phone", () => {
    test.each([
      ["rcs", "12025509004"],
      ["chatapp", "12025519004"],
    ] as const)("a message on %s whose network says nothing is delivered and read", async (channel, from) => {
      const messageId = await deliver(channel, from);
      const { status, body } = await act<{ readAt: number }>(from, "read", {});
      expect([status, body]).toEqual([200, { messageId, channel, sender: SENDERS[channel], readAt: body.readAt }]);
      const message = await server.message(messageId);
      expect(message).toMatchObject({ status: "Delivered", state: "read" });
      expect(message.doneAt, "our own time of the report").toBeGreaterThanOrEqual(body.readAt);
      expect(message.timeline.map(({ event, detail }) => `${event}: ${detail}`)).toEqual([
        "accepted: 1 credit",
        "sent: Handed to the network",
        "delivered: Delivered to the phone",
        "read: Read on the phone",
      ]);
    });

    test("marks the given message as read, and a second time changes nothing", async () => {
      const from = "12025569004";
      const first = await deliver("rcs", from);
      const second = await deliver("rcs", from);
      await act(from, "read", { messageId: first });
      await act(from, "read", { messageId: first });
      const { state, timeline } = await server.message(first);
      expect([state, timeline.filter(({ event }) => event === "read").length]).toEqual(["read", 1]);
      expect((await server.message(second)).status).toBe("Pending");
    });

    test("is refused for an SMS and for an unknown message", async () => {
      const from = someone();
      const messageId = await deliver("sms", from);
      expect(await fault(from, "read", { messageId })).toEqual([
        400,
        "INVALID_REQUEST",
        "messageId",
        "SMS has no read reports: use an RCS or chat-app message.",
      ]);
      expect((await fault(from, "read", {})).slice(0, 2)).toEqual([404, "MESSAGE_NOT_FOUND"]);
    });
  });

  test("a reply is in both timelines of the message, after the read event", async () => {
    const from = someone();
    const messageId = await deliver("rcs", from);
    await eventually(
      () => server.message(messageId),
      ({ state }) => state === "read",
    );
    await act(from, "tap", { data: "buy-coat" });
    await act(from, "reply", { text: "y".repeat(300) });
    await act(from, "file", FILE);
    await act(from, "location", { latitude: 1, longitude: 2 });
    const { timeline } = await server.message(messageId);
    expect(timeline.map(({ event, detail }) => `${event}: ${detail}`)).toEqual([
      "accepted: 1 credit",
      "sent: Handed to the network",
      "delivered: Delivered to the phone",
      "read: Read on the phone",
      'replied: Tapped "Buy"',
      `replied: Answered "${"y".repeat(99)}…"`,
      'replied: Sent a file: "door.jpg" (image/jpeg)',
      "replied: Shared a place",
    ]);
    const { body } = await server.request<{ timeline: { step: string; what: string }[] }>(
      "GET",
      `/api/messages/${messageId}`,
    );
    expect(body.timeline.map(({ step, what }) => `${step}: ${what}`).slice(-6)).toEqual([
      "end: Ended as delivered: Delivered to the phone (000)",
      'receipt: Carrier "simulator" reports read: Read on the phone',
      'reply: The recipient tapped "Buy"',
      `reply: The recipient answered "${"y".repeat(99)}…"`,
      'reply: The recipient sent a file: "door.jpg" (image/jpeg)',
      "reply: The recipient shared a place",
    ]);
  });

  test("a list is filtered by channel, phone, sender and time, and paged by cursor", async () => {
    const [ada, bob] = [someone(), someone()];
    for (const channel of SEND_CHANNELS) await deliver(channel, ada);
    await deliver("chatapp", bob);
    const sent: Sent[] = [];
    for (const channel of SEND_CHANNELS) sent.push((await act(ada, "reply", { channel, text: channel })).body);
    sent.push((await act(bob, "reply", { text: "Bob" })).body);
    const [sms, rcs, chat, bobs] = sent as [Sent, Sent, Sent, Sent];
    expect(await list(`from=${ada}`)).toEqual([chat, rcs, sms]);
    expect(await list(`from=%2B${ada}&channel=rcs`)).toEqual([rcs]);
    expect(await list(`since=${sms.receivedAt}&to=${SENDERS.rcs}`)).toEqual([rcs]);
    for (const to of ["%2B15550100199", "+15550100199", "15550100199"])
      expect(await list(`since=${sms.receivedAt}&channel=chatapp&to=${to}`)).toEqual([bobs, chat]);
    expect(await list(`from=${ada}&until=${sms.receivedAt}`)).toEqual([]);
    expect(await list(`from=${ada}&since=${chat.receivedAt + 1}`)).toEqual([]);

    const seen: Sent[] = [];
    let cursor: string | null = null;
    do {
      const page: Answer<{ data: Sent[]; nextCursor: string | null }> = await server.request(
        "GET",
        `/v1/inbound?from=${ada}&limit=2${cursor === null ? "" : `&cursor=${cursor}`}`,
      );
      seen.push(...page.body.data);
      cursor = page.body.nextCursor;
    } while (cursor !== null);
    expect(seen).toEqual([chat, rcs, sms]);
  });

  test("an invalid query names every fault, and an unknown id is 404", async () => {
    const wrong = "/v1/inbound?channel=fax&from=none&since=soon&until=later&cursor=x&limit=0";
    const { status, body } = await server.request<Failed>("GET", wrong);
    const named = body.error.details.map(({ parameter }) => parameter);
    expect([status, named.toSorted()]).toEqual([400, ["channel", "cursor", "from", "limit", "since", "until"]]);
    for (const id of ["none", newId(0)]) {
      const missing = await server.request<Failed>("GET", `/v1/inbound/${id}`);
      expect([missing.status, missing.body.error.code]).toEqual([404, "RECORD_NOT_FOUND"]);
    }
  });

  test("accounts have separate phones, replies and opt-outs, also for the same number", async () => {
    const from = someone();
    const messageId = await deliver("rcs", from);
    const { minted } = await tenants.addAccount("other");
    const theirs = { apikey: minted.secret };
    const { body: sent } = await act(from, "reply", { text: "Stop" });
    expect((await act(from, "tap", { messageId, data: "buy-coat" }, theirs)).status).toBe(404);
    expect((await act(from, "read", { messageId }, theirs)).status).toBe(404);
    expect((await server.request("GET", `/v1/inbound/${sent.id}`, undefined, theirs)).status).toBe(404);
    expect((await act(from, "reply", { to: "HELIOG", text: "Hello" }, theirs)).body).toMatchObject({ messageId: null });
    const { body } = await server.request<{ data: Sent[] }>("GET", `/v1/inbound?from=${from}`, undefined, theirs);
    expect(body.data.map(({ text }) => text)).toEqual(["Hello"]);
    expect((await server.request("GET", `/api/optouts/${from}`, undefined, theirs)).status).toBe(404);
    expect(await list(`from=${from}`)).toEqual([sent]);
    const { timeline } = (await server.request<MessageBody>("GET", `/v1/messages/${messageId}`)).body;
    expect(timeline.filter(({ event }) => event === "replied")).toHaveLength(1);
  });
});

describe.each(ENGINES)("receiving inbound messages on %s", (engine) => {
  const PHONE = "15550100100";
  let pipeline: TestPipeline;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
  });
  afterEach(() => pipeline.close());

  const inbound = (content: InboundContent | string, changes: Partial<Inbound> = {}): Inbound => ({
    accountId: 1,
    channel: "sms",
    from: PHONE,
    to: "HELIOG",
    content: typeof content === "string" ? { kind: "text", text: content } : content,
    answers: null,
    at: pipeline.clock.now(),
    ...changes,
  });
  const take = (message: Inbound): Promise<void> => receive({ ...pipeline.deps, store: pipeline.store }, message);
  const stored = async (): Promise<InboundMessage[]> => (await pipeline.store.listInbound(1, {}, null, 100)).rows;
  const isOptedOut = async (): Promise<boolean> => (await pipeline.store.findOptOut(1, PHONE)) !== null;
  const counted = async (): Promise<string[]> => {
    const metrics = await pipeline.deps.metrics.registry.metrics();
    return metrics.split("\n").filter((line) => line.startsWith("heliograph_inbound_total"));
  };

  test("a message without an id is stored each time, under a new id", async () => {
    await take(inbound("Hello"));
    await take(inbound("Hello"));
    const ids = (await stored()).map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id.slice(0, 13)).toBe(newId(pipeline.clock.now()).slice(0, 13));
  });

  test("a message that a carrier repeats is stored once, also when it arrives in parallel", async () => {
    const message = inbound("Hello", { id: newId(pipeline.clock.now()) });
    await Promise.all([take(message), take(message)]);
    await take(message);
    expect(await stored()).toEqual([message]);
  });

  describe("a message with a carrier id and without a time", () => {
    const HOUR_MS = 3_600_000;
    const heard = (words: string, changes: Partial<Inbound> = {}): Inbound =>
      inbound("Hello", { id: idOf(pipeline.clock.now(), words), isTimeOurs: true, ...changes });

    test("is stored once, also if another process receives it again later", async () => {
      const first = heard("line 1");
      await take(first);
      for (let place = 0; place < 50; place += 1) {
        pipeline.clock.advance(HOUR_MS / 2);
        await take(heard(`line more ${place}`));
      }
      await take(heard("line 1"));
      const rows = await stored();
      expect(rows).toHaveLength(51);
      expect(rows.at(-1)).toEqual(inbound("Hello", { id: first.id ?? "", at: first.at }));
    });

    test("is a different one with another id, phone or sender", async () => {
      await take(heard("line 1"));
      pipeline.clock.advance(1000);
      await take(heard("line 2"));
      await take(heard("line 1", { from: "15550100155" }));
      await take(
        heard("line 1", {
          to: "ELSEWHERE",
          at: pipeline.clock.now() + 1,
          id: idOf(pipeline.clock.now() + 1, "line 1"),
        }),
      );
      expect(await stored()).toHaveLength(4);
    });

    test("does not undo a later START when it is a repeated STOP", async () => {
      await take(heard("line 1", { content: { kind: "text", text: "STOP" } }));
      pipeline.clock.advance(1000);
      await take(inbound("START"));
      pipeline.clock.advance(1000);
      await take(heard("line 1", { content: { kind: "text", text: "STOP" } }));
      expect(await isOptedOut()).toBe(false);
    });
  });

  test("a repeated STOP does not undo the START that came after it", async () => {
    const stop = inbound("STOP", { id: newId(pipeline.clock.now()) });
    await take(stop);
    await take(inbound("START"));
    await take(stop);
    expect(await isOptedOut()).toBe(false);
    expect(await counted()).toEqual([
      'heliograph_inbound_total{word="stop"} 1',
      'heliograph_inbound_total{word="start"} 1',
    ]);
  });

  test("a STOP that could not be stored takes effect when its carrier repeats it", async () => {
    const stop = inbound("STOP", { id: newId(pipeline.clock.now()) });
    const broken = { inbound: { ...pipeline.deps.commits.inbound, add: () => Promise.reject(new Error("no disk")) } };
    await expect(receive({ ...pipeline.deps, store: pipeline.store, commits: broken }, stop)).rejects.toThrow(
      "no disk",
    );
    await take(stop);
    expect([await isOptedOut(), await stored()]).toEqual([true, [stop]]);
    expect(await counted()).toEqual(['heliograph_inbound_total{word="stop"} 1']);
  });

  describe("under a rule with replies", () => {
    const REPLIES = { ...KEYWORD_RULE, language: null, numbers: null, countries: null };
    const texts = (): string[] => pipeline.replies.map(([{ text }]) => text);
    beforeEach(() => {
      pipeline.settings = {
        ...DEFAULT_SETTINGS,
        keywordRules: [{ ...REPLIES, startWords: ["START"], stopWords: null }],
      };
    });

    test("a STOP is confirmed once on the channel and from the sender that it came to", async () => {
      const stop = inbound("Stop!", { id: newId(pipeline.clock.now()) });
      await take(stop);
      await take(stop);
      expect(pipeline.replies).toEqual([
        [
          {
            account: expect.objectContaining({ id: 1 }),
            test: false,
            channel: "sms",
            sender: "HELIOG",
            number: PHONE,
            text: REPLIES.stopReply,
            reason: "Reply to the keyword Stop!",
          },
          stop.id,
        ],
      ]);
    });

    test("a number that is on the list gets no second confirmation, so repliers cannot answer each other", async () => {
      for (let times = 0; times < 3; times += 1) await take(inbound("STOP"));
      expect(texts()).toEqual([REPLIES.stopReply]);
      pipeline.clock.advance(1000);
      await take(inbound("START"));
      await take(inbound("OUI"));
      expect(await isOptedOut()).toBe(false);
      pipeline.clock.advance(1000);
      await take(inbound("STOP"));
      expect(texts()).toEqual([REPLIES.stopReply, REPLIES.confirmReply, REPLIES.startReply, REPLIES.stopReply]);
    });

    test("a STOP that its carrier repeats after a crash gets its confirmation", async () => {
      const stop = inbound("STOP", { id: newId(pipeline.clock.now()) });
      const broken = { sendReply: () => Promise.reject(new Error("killed")) };
      await expect(receive({ ...pipeline.deps, store: pipeline.store, ...broken }, stop)).rejects.toThrow("killed");
      expect([await isOptedOut(), await stored()]).toEqual([true, []]);
      await take(stop);
      expect([texts(), await stored()]).toEqual([[REPLIES.stopReply], [stop]]);
    });

    test("a number gets at most six replies a day, whatever it asks, and more the next day", async () => {
      for (let times = 0; times < 8; times += 1) await take(inbound("aide"));
      expect(texts()).toEqual(Array.from({ length: 6 }, () => REPLIES.helpReply));
      await take(inbound("aide", { from: "15550100155" }));
      await take(inbound("aide", { test: true }));
      expect(texts()).toHaveLength(8);
      pipeline.clock.advance(86_400_000);
      await take(inbound("aide"));
      expect(texts()).toHaveLength(9);
    });

    test("a start word counts once it is confirmed within a day, and only then", async () => {
      await take(inbound("STOP"));
      pipeline.clock.advance(1000);
      await take(inbound("OUI"));
      await take(inbound("START"));
      expect(await isOptedOut()).toBe(true);
      pipeline.clock.advance(86_400_001);
      await take(inbound("OUI"));
      expect(await isOptedOut()).toBe(true);
      await take(inbound("START"));
      await take(inbound("oui"));
      expect(await isOptedOut()).toBe(false);
      await take(inbound("STOP"));
      await take(inbound("OUI"));
      expect(await isOptedOut()).toBe(true);
    });

    test("a suspended account sends no replies, and its opt-out list changes all the same", async () => {
      const accountOf = (id: number) => ({ id, name: "default", suspended: true, settings: pipeline.settings });
      await receive({ ...pipeline.deps, store: pipeline.store, accountOf }, inbound("STOP"));
      expect([texts(), await isOptedOut()]).toEqual([[], true]);
    });
  });

  test("a late START does not undo the STOP that was sent after it", async () => {
    const start = inbound("START", { id: newId(pipeline.clock.now()) });
    await take(inbound("STOP"));
    pipeline.clock.advance(1000);
    await take(inbound("STOP"));
    await take(start);
    expect(await isOptedOut()).toBe(true);
    await take(inbound("START"));
    expect(await isOptedOut()).toBe(false);
  });

  test("only texts and replies count as stop words: not the label of a link, a file or its name", async () => {
    const payload = { mimeType: "text/plain", fileSizeBytes: 1, fileName: "STOP", fileUri: "https://files.example/1" };
    await take(inbound({ kind: "suggestion", plainText: "STOP", data: "STOP", type: "ACTION" }));
    await take(inbound({ kind: "suggestion", plainText: "Yes", data: "STOP", type: "REPLY" }));
    await take(inbound({ kind: "file", file: { category: "STOP", payload, thumbnail: null } }));
    await take(inbound({ kind: "location", latitude: 0, longitude: 0 }));
    expect([await isOptedOut(), (await stored()).length]).toEqual([false, 4]);
    await take(inbound({ kind: "suggestion", plainText: "STOP", data: "x", type: "REPLY" }, { channel: "rcs" }));
    expect(await isOptedOut()).toBe(true);
  });
});
