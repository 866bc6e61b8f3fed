import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { startTestServer, type Answer, type ErrorBody, type TestServer } from "../support/test-server.ts";

interface PreviewBody {
  text: string;
  encoding: string;
  characters: number;
  segmentCount: number;
  segments: { text: string }[];
  cheaper: { text: string; segments: number; replaced: { found: string; use: string; letter: boolean }[] } | null;
  credits: number;
  balance: number | null;
  affordable: boolean;
  wouldRefuse: string[];
  recipients: {
    recipient: string;
    failure: string | null;
    credits: number;
    heldUntil: number | null;
    verdicts: { policy: string; verdict: string; detail: string }[];
    routes: { name: string; carrier: string }[];
    text?: string;
    segmentCount?: number;
  }[];
  error: ErrorBody | null;
}

const ORDINARY = { sender: "HELIOG", to: "15550100100", text: "Hello", type: "TRANS" };
const CONTENT: Record<string, object> = {
  chatapp: {
    components: {
      header: { type: "image", image: { link: "https://shop.example/autumn.jpg" } },
      body: { params: ["Ada", "20%"] },
    },
  },
};
const SIMULATED = [{ name: "Everything to the simulator", carrier: "simulator" }];

describe.each(ENGINES)("a preview on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(engine);
  });
  afterAll(() => server.close());

  const preview = (fields: Record<string, unknown> = {}, key = server.key): Promise<Answer<PreviewBody>> =>
    server.request("POST", "/v1/sms/preview", { ...ORDINARY, ...fields }, { apikey: key });
  const shown = async (fields: Record<string, unknown> = {}): Promise<PreviewBody> => {
    const { status, body } = await preview(fields);
    expect(body.error ?? status).toBe(200);
    return body;
  };
  const set = (settings: Record<string, unknown>) => server.request("PATCH", "/api/account", settings);
  const count = async (path: string): Promise<number> =>
    (await server.request<{ data: unknown[] }>("GET", path)).body.data.length;

  test("a preview shows an ordinary message", async () => {
    expect(await shown()).toEqual({
      text: "Hello",
      encoding: "gsm7",
      characters: 5,
      segmentCount: 1,
      segments: [{ text: "Hello" }],
      cheaper: null,
      credits: 1,
      balance: null,
      affordable: true,
      wouldRefuse: [],
      recipients: [
        { recipient: "15550100100", failure: null, credits: 1, heldUntil: null, verdicts: [], routes: SIMULATED },
      ],
    });
  });

  test("a preview sends, stores, learns and counts nothing", async () => {
    const before = await Promise.all(["/v1/messages", "/api/templates", "/api/senders", "/api/campaigns"].map(count));
    await set({ limits: "everywhere", sameText: { max: 1, windowSeconds: 60 } });
    const fields = {
      sender: "NEWONE",
      campaignName: "new",
      templateId: "newtemplate",
      custom: ["a"],
      to: "15550100177",
    };
    for (let times = 0; times < 3; times += 1) expect((await preview(fields)).status).toBe(200);
    for (let times = 0; times < 3; times += 1) await preview({ to: "15550100177" });
    const after = await Promise.all(["/v1/messages", "/api/templates", "/api/senders", "/api/campaigns"].map(count));
    expect(after).toEqual(before);
    // The filter of identical texts still lets the first one through.
    const sent = await server.send({ to: "15550100177" });
    expect((await server.settled(sent.body.data[0]?.messageId ?? "")).status).toBe("Delivered");
    await set({ limits: "real carriers", sameText: null });
    expect(await server.onPhone("15550100177")).toHaveLength(1);
  });

  test("a preview shows each part of a long text as transmitted", async () => {
    const text = `${"a".repeat(152)}[${"b".repeat(50)}`;
    const body = await shown({ text });
    expect(body).toMatchObject({ encoding: "gsm7", characters: 203, segmentCount: 2, credits: 2 });
    // The bracket counts twice and is not cut in two.
    expect(body.segments).toEqual([{ text: "a".repeat(152) }, { text: `[${"b".repeat(50)}` }]);
  });

  test("a preview offers a cheaper spelling if typography alone makes a text expensive", async () => {
    const text = `It’s here – ${"x".repeat(80)}`;
    const { cheaper, encoding, segmentCount } = await shown({ text });
    expect([encoding, segmentCount]).toEqual(["ucs2", 2]);
    expect(cheaper).toEqual({
      text: `It's here - ${"x".repeat(80)}`,
      segments: 1,
      replaced: [
        { found: "’", use: "'", letter: false },
        { found: "–", use: "-", letter: false },
      ],
    });
    expect((await shown({ text, unicode: 1 })).cheaper).toBeNull();
  });

  test("a preview fills templates, and shows each recipient's own text if they differ", async () => {
    const byId = await shown({ text: undefined, templateId: "welcome", custom: ["Ada", "4711"] });
    expect(byId.text).toBe("Hello Ada, welcome! Your order 4711 is on its way.");
    expect(byId.recipients[0]).not.toHaveProperty("text");
    const own = await shown({
      to: undefined,
      text: "Hello {{1}}",
      recipients: [
        { to: "15550100100", custom: ["Ada"] },
        { to: "15550100101", custom: ["B".repeat(160)] },
      ],
    });
    expect(own).toMatchObject({ text: "Hello Ada", segmentCount: 1, credits: 3 });
    expect(own.recipients).toMatchObject([
      { recipient: "15550100100", text: "Hello Ada", segmentCount: 1, credits: 1 },
      { recipient: "15550100101", text: `Hello ${"B".repeat(160)}`, segmentCount: 2, credits: 2 },
    ]);
  });

  test("a preview shows short links in full length, with codes that do not exist", async () => {
    const fields = {
      text: "Look: {SORT} now",
      shortenUrlData: { shortenUrl: true, targetUrl: ["https://shop.example/"] },
    };
    const { text, characters } = await shown(fields);
    expect(text).toBe(`Look: ${server.url}/s/0000000 now`);
    const sent = await server.send({ ...fields, to: "15550100178" });
    expect((await server.settled(sent.body.data[0]?.messageId ?? "")).text).toHaveLength(characters);
    expect((await fetch(`${server.url}/s/0000000`, { redirect: "manual" })).status).toBe(404);
  });

  test("a preview shows failing recipients with the reason, without cost", async () => {
    await set({ allowedCountries: ["IN"] });
    const single = await shown({ to: "33612345678" });
    const several = await shown({ to: "919876543210,33612345678,nonsense" });
    await set({ allowedCountries: null });
    expect(single.recipients).toMatchObject([
      {
        failure: "COUNTRY_NOT_ALLOWED",
        credits: 0,
        routes: [],
        verdicts: [{ policy: "country", verdict: "refused", detail: "FR is not among IN" }],
      },
    ]);
    expect(several.credits).toBe(1);
    expect(several.recipients.map(({ failure }) => failure)).toEqual([
      null,
      "COUNTRY_NOT_ALLOWED",
      "INVALID_RECIPIENT",
    ]);
  });

  test("a preview shows a number on the opt-out list as refused for a promotion only", async () => {
    expect((await server.request("POST", "/api/optouts", { number: "15550100179" })).status).toBeLessThan(300);
    const promo = await shown({ to: "15550100179", type: "PROMO" });
    expect(promo.recipients).toMatchObject([{ failure: "RECIPIENT_OPTED_OUT", verdicts: [{ policy: "opt-out" }] }]);
    expect((await shown({ to: "15550100179" })).recipients).toMatchObject([{ failure: null }]);
  });

  test("a preview names what a real carrier would refuse", async () => {
    const { wouldRefuse, recipients } = await shown({ to: "1234567" });
    expect(wouldRefuse).toEqual(["number"]);
    expect(recipients[0]?.verdicts).toMatchObject([{ policy: "number", verdict: "noted" }]);
  });

  test("a preview notes a text that differs from its template if the account only warns", async () => {
    const fields = { templateId: "welcome", text: "Something else" };
    expect((await preview(fields)).body.error?.code).toBe("TEXT_TEMPLATE_MISMATCH");
    await set({ textMismatch: "warn" });
    const { recipients } = await shown(fields);
    await set({ textMismatch: "refuse" });
    expect(recipients[0]?.verdicts).toMatchObject([{ policy: "template", verdict: "noted" }]);
  });

  test("a preview shows until when a message would be held", async () => {
    const sendAt = Date.now() + 3_600_000;
    expect((await shown({ sendAt })).recipients).toMatchObject([{ heldUntil: sendAt }]);
  });

  test("a preview shows the routes in the order of attempts, and only the simulator for a test key", async () => {
    for (const name of ["first", "second", "likely"]) await server.request("POST", "/api/carriers", { name });
    const route = (name: string, carrier: string, priority: number, weight: number) =>
      server.request<{ id: string }>("POST", "/api/routes", { name, carrier, priority, weight, prefixes: ["33"] });
    const made = [
      await route("Second", "second", 2, 1),
      await route("Likely", "likely", 2, 9),
      await route("First", "first", 1, 1),
    ];
    const { recipients } = await shown({ to: "33612345678" });
    expect(recipients[0]?.routes.map(({ carrier }) => carrier)).toEqual(["first", "likely", "second", "simulator"]);
    const tested = await preview({ to: "33612345678" }, server.testKey);
    expect(tested.body.recipients[0]?.routes).toEqual([{ name: "test key", carrier: "simulator" }]);
    for (const { body } of made) await server.request("DELETE", `/api/routes/${body.id}`);
  });

  test("a preview shows a metered account its balance and whether it suffices", async () => {
    await server.asOwner("POST", "/api/credits", { amount: 2 });
    await set({ credits: "metered" });
    const enough = await shown({ to: "15550100100,15550100101" });
    const tooMuch = await shown({ to: "15550100100,15550100101,15550100102" });
    const sent = await server.send({ to: "15550100100,15550100101,15550100102" });
    await server.asOwner("PATCH", "/api/account", { credits: "unlimited" });
    expect(enough).toMatchObject({ credits: 2, balance: 2, affordable: true });
    expect(tooMuch).toMatchObject({ credits: 3, balance: 2, affordable: false });
    expect(sent.status).toBe(402);
  });

  test.each([
    ["no text", { text: undefined }],
    ["every number malformed", { to: "x,y" }],
    ["a text that is too long", { text: "x".repeat(1601) }],
    ["too many recipients", { to: Array.from({ length: 1001 }, (_, index) => String(15550100000 + index)) }],
    ["too few values", { text: undefined, templateId: "welcome", custom: ["one"] }],
    ["too many links", { shortenUrlData: { shortenUrl: true, targetUrl: ["https://shop.example"] } }],
    ["GSM wanted and not possible", { text: "é…", unicode: 0 }],
  ])("a preview refuses %s exactly as a send does", async (_, fields) => {
    const [asked, sent] = [await preview(fields), await server.send(fields)];
    const { requestId: _one, ...refused } = asked.body.error ?? { requestId: "" };
    const { requestId: _two, ...expected } = sent.body.error ?? { requestId: "" };
    expect(sent.status).toBeGreaterThanOrEqual(400);
    expect([asked.status, refused]).toEqual([sent.status, expected]);
    expect(asked.body).toMatchObject({ id: null, data: [], totalCount: 0 });
  });

  test("a preview with strict records refuses unknown records as a send does", async () => {
    await set({ records: "strict" });
    const sender = await preview({ sender: "UNKNOWN" });
    const template = await preview({ text: undefined, templateId: "unknown", custom: [] });
    await set({ records: "learn" });
    expect([sender.status, sender.body.error?.code]).toEqual([403, "SENDER_NOT_REGISTERED"]);
    expect([template.status, template.body.error?.code]).toEqual([404, "TEMPLATE_NOT_FOUND"]);
  });

  describe.each([
    {
      channel: "rcs",
      shared: { botId: "heliograph", templateName: "store-opening", type: "PROMO" },
      to: (number: string) => ({ number }),
      good: ["+15550107001", "+15550107002"],
    },
    {
      channel: "chatapp",
      shared: { from: "+15550100199", type: "template", templateName: "autumn_sale" },
      to: (number: string) => ({ to: number }),
      good: ["15550107001", "15550107002"],
    },
  ])("of $channel", ({ channel, shared: fields, to, good }) => {
    const listed = (numbers: readonly string[]) => ({
      ...fields,
      ...CONTENT[channel],
      recipients: numbers.map((number) => to(number)),
    });
    const ask = (path: string, body: unknown) => server.request<PreviewBody>("POST", `/v1/${channel}${path}`, body);

    test("shows valid, invalid and opted-out recipients, price and routes, and sends nothing", async () => {
      const [first = "", second = ""] = good;
      await server.request("POST", "/api/optouts", { number: second });
      const before = await count("/v1/messages");
      const { status, body } = await ask("/preview", listed([first, second, first, "Asha"]));
      expect(status).toBe(200);
      expect(body).toMatchObject({ credits: 1, balance: null, affordable: true });
      expect(body.recipients).toMatchObject([
        { recipient: first, failure: null, credits: 1, heldUntil: null, routes: SIMULATED },
        { recipient: second, failure: "RECIPIENT_OPTED_OUT", credits: 0, routes: [] },
        { recipient: "Asha", failure: "INVALID_RECIPIENT", credits: 0, routes: [] },
      ]);
      expect(await count("/v1/messages")).toBe(before);
      await server.request("DELETE", `/api/optouts/${second.replace("+", "")}`);
    });

    test("refuses a body as a send does", async () => {
      for (const body of [
        listed(["x"]),
        { ...listed(good), templateName: "" },
        listed(Array.from({ length: 1001 }, (_, n) => `+${15550108000 + n}`)),
      ]) {
        const [asked, sent] = [await ask("/preview", body), await ask("", body)];
        expect(sent.status).toBeGreaterThanOrEqual(400);
        expect([asked.status, asked.body.error?.code]).toEqual([sent.status, sent.body.error?.code]);
      }
    });
  });
});
