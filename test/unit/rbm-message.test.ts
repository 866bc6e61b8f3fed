import { describe, expect, test } from "vitest";
import { agentMessage, secondsToTry } from "../../src/carriers/rbm/submit.ts";
import { platformIdOf } from "../../src/carriers/rbm/message-id.ts";
import { postbackOf, readPostback } from "../../src/carriers/rbm/postback.ts";
import { composeRcs } from "../../src/channels/rcs/compose.ts";
import { composedFor } from "../../src/channels/draft.ts";
import { readRcs } from "../../src/channels/rcs/read.ts";
import { ROUTE_CLASSES } from "../../src/model/message.ts";
import { RBM_DEFAULTS } from "../../src/model/rbm-connection.ts";
import type { RcsCard, RcsContent, RcsTemplate, Suggestion } from "../../src/model/rcs.ts";
import { MovedClock } from "../support/moved-clock.ts";
import { RCS_TEXT, rcsMessage } from "../support/rbm-connection.ts";
import { faultOf } from "../support/rbm-rules.ts";

const clock = new MovedClock();
const ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";
const REF = { requestId: ID, n: 3 };
const write = (content: RcsContent, changes: Parameters<typeof rcsMessage>[1] = {}): unknown =>
  agentMessage(rcsMessage(clock, { ...REF, content, ...changes }), content, RBM_DEFAULTS, clock.now());

const EVERY_SUGGESTION: Suggestion[] = [
  { type: "reply", text: "Yes", data: "yes_1" },
  { type: "url", text: "Track", data: "track", url: "https://shop.example/track?id=1" },
  { type: "url", text: "Shop", data: "shop", url: "https://shop.example", webview: "tall" },
  { type: "compose", text: "Text us", data: "text", number: "+15550100199", message: "I have a question" },
  { type: "compose", text: "Tell us", data: "tell", number: "+15550100199", recording: "audio" },
  { type: "dial", text: "Call us", data: "call", number: "+15550100199" },
  { type: "viewLocation", text: "Where", data: "where", latitude: 42.7, longitude: 23.3, label: "The shop" },
  { type: "viewLocation", text: "Where", data: "where", latitude: 0, longitude: 0, label: "" },
  { type: "shareLocation", text: "I am here", data: "here" },
  {
    type: "calendar",
    text: "Save the date",
    data: "date",
    title: "Delivery",
    startAt: Date.UTC(2026, 0, 31, 18),
    endAt: Date.UTC(2026, 0, 31, 19),
    description: "Between six and seven",
  },
  { type: "calendar", text: "Save", data: "d", title: "Bare", startAt: 0, endAt: 1, description: "" },
];
const WRITTEN_SUGGESTIONS = [
  { reply: { text: "Yes", postbackData: `R|${ID}:3|yes_1` } },
  {
    action: {
      text: "Track",
      postbackData: `A|${ID}:3|track`,
      openUrlAction: { url: "https://shop.example/track?id=1" },
    },
  },
  {
    action: {
      text: "Shop",
      postbackData: `A|${ID}:3|shop`,
      openUrlAction: { url: "https://shop.example", application: "WEBVIEW", webviewViewMode: "TALL" },
    },
  },
  {
    action: {
      text: "Text us",
      postbackData: `A|${ID}:3|text`,
      composeAction: { composeTextMessage: { phoneNumber: "+15550100199", text: "I have a question" } },
    },
  },
  {
    action: {
      text: "Tell us",
      postbackData: `A|${ID}:3|tell`,
      composeAction: { composeRecordingMessage: { phoneNumber: "+15550100199", type: "ACTION_TYPE_AUDIO" } },
    },
  },
  {
    action: { text: "Call us", postbackData: `D|${ID}:3|+15550100199`, dialAction: { phoneNumber: "+15550100199" } },
  },
  {
    action: {
      text: "Where",
      postbackData: `A|${ID}:3|where`,
      viewLocationAction: { latLong: { latitude: 42.7, longitude: 23.3 }, label: "The shop" },
    },
  },
  {
    action: {
      text: "Where",
      postbackData: `A|${ID}:3|where`,
      viewLocationAction: { latLong: { latitude: 0, longitude: 0 } },
    },
  },
  { action: { text: "I am here", postbackData: `A|${ID}:3|here`, shareLocationAction: {} } },
  {
    action: {
      text: "Save the date",
      postbackData: `A|${ID}:3|date`,
      createCalendarEventAction: {
        startTime: "2026-01-31T18:00:00.000Z",
        endTime: "2026-01-31T19:00:00.000Z",
        title: "Delivery",
        description: "Between six and seven",
      },
    },
  },
  {
    action: {
      text: "Save",
      postbackData: `A|${ID}:3|d`,
      createCalendarEventAction: {
        startTime: "1970-01-01T00:00:00.000Z",
        endTime: "1970-01-01T00:00:00.001Z",
        title: "Bare",
      },
    },
  },
];

const card = (changes: Partial<RcsCard> = {}): RcsCard => ({
  title: "Shoes",
  description: "Red ones",
  fileUrl: "https://shop.example/shoes.jpg",
  suggestions: [{ type: "reply", text: "Buy", data: "buy" }],
  ...changes,
});
const writtenCard = (fileUrl: string, changes: object = {}): object => ({
  title: "Shoes",
  description: "Red ones",
  media: { height: "MEDIUM", contentInfo: { fileUrl, forceRefresh: false } },
  suggestions: [{ reply: { text: "Buy", postbackData: `R|${ID}:3|buy` } }],
  ...changes,
});

/** Content as the API composes it, so that the seven kinds are those of the API. */
function composed(template: Partial<RcsTemplate>, content?: unknown): RcsContent {
  const whole = { kind: "text", text: null, variables: 0, suggestions: [], cards: [], status: "approved" } as const;
  const request = {
    number: "+15550100100",
    templateName: "t",
    botId: "shop",
    type: "TRANS",
    ...(content ? { content } : {}),
  };
  const draft = readRcs(request, { recipientsMax: 1000, now: 0 }, { numbers: "lenient" });
  return composedFor(composeRcs(draft, { origin: "authored", content: { ...whole, ...template } }), 0).content;
}

const CAROUSEL = { kind: "carousel", cards: [card(), card({ title: "", description: "" })] } as const;
const COMMON = { messageTrafficType: "TRANSACTION", ttl: "3600s" };

const KINDS: readonly [string, RcsContent, object][] = [
  ["1, a text", composed({ text: "Hello" }), { text: "Hello" }],
  [
    "2, a text with suggestions of every type",
    composed({ kind: "rich", text: "Happy?", suggestions: EVERY_SUGGESTION }),
    { text: "Happy?", suggestions: WRITTEN_SUGGESTIONS },
  ],
  [
    "3, a text with values",
    composed({ text: "Hi {{1}}, {{2}}", variables: 2 }, [{ params: ["Ana", "welcome"] }]),
    { text: "Hi Ana, welcome" },
  ],
  [
    "4, a card",
    composed({ kind: "card", cards: [card()] }),
    {
      richCard: {
        standaloneCard: { cardOrientation: "VERTICAL", cardContent: writtenCard("https://shop.example/shoes.jpg") },
      },
    },
  ],
  [
    "5, a card with another image",
    composed({ kind: "card", cards: [card()] }, [{ fileUrl: "https://cdn.example/1.png" }]),
    {
      richCard: {
        standaloneCard: { cardOrientation: "VERTICAL", cardContent: writtenCard("https://cdn.example/1.png") },
      },
    },
  ],
  [
    "6, a carousel",
    composed(CAROUSEL),
    {
      richCard: {
        carouselCard: {
          cardWidth: "MEDIUM",
          cardContents: [
            writtenCard("https://shop.example/shoes.jpg"),
            {
              media: {
                height: "MEDIUM",
                contentInfo: { fileUrl: "https://shop.example/shoes.jpg", forceRefresh: false },
              },
              suggestions: [{ reply: { text: "Buy", postbackData: `R|${ID}:3|buy` } }],
            },
          ],
        },
      },
    },
  ],
  [
    "7, a carousel with other images",
    composed({ kind: "carousel", cards: [card(), card()] }, [
      { fileUrl: "https://cdn.example/1.png" },
      { fileUrl: "https://cdn.example/2.png" },
    ]),
    {
      richCard: {
        carouselCard: {
          cardWidth: "MEDIUM",
          cardContents: [writtenCard("https://cdn.example/1.png"), writtenCard("https://cdn.example/2.png")],
        },
      },
    },
  ],
];

/** Beside the kinds of the API, from the platform's reference "phones.agentMessages". */
const LAYOUTS: readonly [string, Partial<RcsCard>, object][] = [
  [
    "a horizontal card with its image on the right",
    { orientation: "horizontal", imageSide: "right", height: "short" },
    { cardOrientation: "HORIZONTAL", thumbnailImageAlignment: "RIGHT", height: "SHORT" },
  ],
  ["a card with a tall image", { height: "tall" }, { cardOrientation: "VERTICAL", height: "TALL" }],
  [
    "a card with a thumbnail",
    { thumbnailUrl: "https://shop.example/small.jpg" },
    { cardOrientation: "VERTICAL", height: "MEDIUM", thumbnailUrl: "https://shop.example/small.jpg" },
  ],
];

describe("the layout of a card", () => {
  test.each(LAYOUTS)("%s is written in the platform's format", (_layout, changes, expected) => {
    const written = write(composed({ kind: "card", cards: [card(changes)] }));
    const { height, thumbnailUrl, ...standalone } = expected as { height: string; thumbnailUrl?: string };
    const fileUrl = "https://shop.example/shoes.jpg";
    const contentInfo = { fileUrl, ...(thumbnailUrl && { thumbnailUrl }), forceRefresh: false };
    const cardContent = writtenCard(fileUrl, { media: { height, contentInfo } });
    expect(written).toEqual({
      contentMessage: { richCard: { standaloneCard: { ...standalone, cardContent } } },
      ...COMMON,
    });
    expect(faultOf(JSON.parse(JSON.stringify(written)))).toBeNull();
  });

  test("a carousel keeps the height of its images and ignores the rest of the layout", () => {
    const written = write(composed({ kind: "carousel", cards: [card({ height: "short" }), card()] }));
    expect(written).toMatchObject({
      contentMessage: {
        richCard: { carouselCard: { cardContents: [{ media: { height: "SHORT" } }, { media: { height: "MEDIUM" } }] } },
      },
    });
    expect(faultOf(JSON.parse(JSON.stringify(written)))).toBeNull();
  });
});

describe("an RBM message", () => {
  test.each(KINDS)("kind %s is written in the platform's format", (_kind, content, contentMessage) => {
    const written = write(content);
    expect(written).toEqual({ contentMessage, ...COMMON });
    expect(faultOf(JSON.parse(JSON.stringify(written)))).toBeNull();
  });

  test("empty content yields no message", () => {
    expect(write({ ...RCS_TEXT, text: "" })).toBeNull();
    expect(write({ ...RCS_TEXT, kind: "card" })).toBeNull();
  });

  test("a carousel with one card becomes a card, because the platform would refuse it", () => {
    const written = write({ ...RCS_TEXT, kind: "carousel", cards: [card({ fileUrl: null, suggestions: [] })] });
    expect(written).toMatchObject({
      contentMessage: {
        richCard: { standaloneCard: { cardContent: { title: "Shoes", description: "Red ones" } } },
      },
    });
    expect(faultOf(JSON.parse(JSON.stringify(written)))).toBeNull();
  });

  test("a search on the map has its words in place of a location", () => {
    const near = { type: "viewLocation", text: "Near", data: "near", query: "bakery" } as const;
    const written = write({ ...RCS_TEXT, suggestions: [near] });
    const action = { text: "Near", postbackData: `A|${ID}:3|near`, viewLocationAction: { query: "bakery" } };
    expect(written).toMatchObject({ contentMessage: { suggestions: [{ action }] } });
    expect(faultOf(JSON.parse(JSON.stringify(written)))).toBeNull();
  });

  test("the traffic type follows the route class, unless disabled", () => {
    const types = ROUTE_CLASSES.map((routeClass) => write(RCS_TEXT, { routeClass }));
    expect(types).toMatchObject([
      { messageTrafficType: "AUTHENTICATION" },
      { messageTrafficType: "TRANSACTION" },
      { messageTrafficType: "PROMOTION" },
    ]);
    const settings = { ...RBM_DEFAULTS, trafficTypes: false };
    const { templateName: _, ...automatic } = RCS_TEXT;
    expect(agentMessage(rcsMessage(clock), automatic, { ...settings, trafficTypes: true }, clock.now())).toMatchObject({
      messageTrafficType: "ACKNOWLEDGEMENT",
    });
    expect(agentMessage(rcsMessage(clock), RCS_TEXT, settings, clock.now())).not.toHaveProperty("messageTrafficType");
  });

  test("the time to live is limited by class, validity and fallback, and at least one second", () => {
    const fallback = {
      sender: "SHOP",
      content: { text: "Hi", encoding: "gsm7", flash: false },
      segments: 1,
      afterSeconds: 45,
      validityMs: 60_000,
    } as const;
    const seconds = (routeClass: "OTP" | "TRANS", leftMs: number, more = {}): number =>
      secondsToTry({ routeClass, expiresAt: leftMs }, more, RBM_DEFAULTS.ttlSeconds, 0);
    expect(seconds("OTP", 600_000)).toBe(60);
    expect(seconds("OTP", 30_900)).toBe(30);
    expect(seconds("TRANS", 600_000)).toBe(600);
    expect(seconds("TRANS", 600_000, { fallback })).toBe(45);
    expect(seconds("TRANS", 20)).toBe(1);
  });
});

describe("the platform's message id", () => {
  test("the platform's message id is the UUIDv5 of our id", () => {
    expect(platformIdOf({ requestId: ID, n: 1 })).toBe("57e7283c-5d09-59c1-bfed-4c016b8275e6");
    expect(platformIdOf({ requestId: ID, n: 12 })).toBe("ed5fc6dc-e9c4-5d1a-a1cb-978b643aaa65");
  });
});

describe("postback data", () => {
  const read = (suggestion: Suggestion, platformType: string) =>
    readPostback(postbackOf(suggestion, REF), platformType);

  test("postback data carries type, message id and the customer's data", () => {
    const [reply, url] = EVERY_SUGGESTION as [Suggestion, Suggestion];
    const dial = { type: "dial", text: "Call us", data: "call", number: "+15550100199" } as const;
    expect(read(reply, "REPLY")).toEqual({ type: "REPLY", data: "yes_1", answers: REF });
    expect(read(url, "ACTION")).toEqual({ type: "ACTION", data: "track", answers: REF });
    expect(read(dial, "ACTION")).toEqual({ type: "DIALER", data: "+15550100199", answers: REF });
  });

  test("postback data preserves any data, with bars, line ends or empty", () => {
    for (const data of ["a|b|c", "two\nlines", "R|x|y", ""])
      expect(read({ type: "reply", text: "x", data }, "REPLY")).toMatchObject({ data, answers: REF });
  });

  test("data beyond the platform's limit is sent alone", () => {
    const data = "x".repeat(2048);
    expect(postbackOf({ type: "reply", text: "x", data }, REF)).toBe(data);
    expect(read({ type: "reply", text: "x", data }, "REPLY")).toEqual({ type: "REPLY", data, answers: null });
  });

  test.each(["START", "R|no id|x", `X|${ID}:1|x`, `R|${ID}:0|x`, `R|${ID}:1`, ""])(
    "data of another origin is passed on unchanged: %j",
    (data) => {
      expect(readPostback(data, "ACTION")).toEqual({ type: "ACTION", data, answers: null });
      expect(readPostback(data, "REPLY")).toEqual({ type: "REPLY", data, answers: null });
      expect(readPostback(data, undefined)).toEqual({ type: "REPLY", data, answers: null });
    },
  );
});
