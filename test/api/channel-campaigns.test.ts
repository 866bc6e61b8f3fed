import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openTenants, type Tenants } from "../fuzz/tenants.ts";
import { checked, upload } from "../support/audiences.ts";
import { inState, type CampaignBody, type ReportBody, type Request } from "../support/campaigns.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import type { MessageBody } from "../support/test-server.ts";

const RCS = {
  channel: "rcs",
  botId: "shop",
  templateName: "arrived",
  content: [{ params: ["{{first name}}", "{{order}}"] }],
};
const CHAT = {
  channel: "chatapp",
  from: "+15550100199",
  templateName: "arrived",
  components: { body: { params: ["{{first name}}", "order {{order}}"] } },
};
const SMS = { channel: "sms", sender: "HELIOG", text: "{{first name}}: {{order}}" };

/** A number on all channels, and one that the simulator has on SMS only. */
const ANY = "15550100100";
const SMS_ONLY = "15550109009";

interface PreviewBody {
  credits: number;
  recipients: { row: number; recipient: string; credits: number; ways: { channel: string; text: string }[] }[];
  skipped: { row: number; code: string }[];
}

describe.each(ENGINES)("campaigns by several channels on %s", (engine) => {
  let tenants: Tenants;
  let request: Request;
  let names = 0;
  let people: string;
  beforeAll(async () => {
    tenants = await openTenants(engine);
    request = (method, path, body) => tenants.server.request(method, path, body);
    people = await audienceOf(`${ANY},Ada,4711`, "15550100101,Bob,4712");
  });
  afterAll(() => tenants.close());

  async function audienceOf(...rows: string[]): Promise<string> {
    const id = await upload(request, `phone,first name,order\n${rows.join("\n")}\n`);
    await checked(request, id);
    return id;
  }
  const create = async (audienceId: string, fields: object, as = request) =>
    (
      await as<CampaignBody>("POST", "/v1/campaigns", {
        name: `arrivals ${(names += 1)}`,
        type: "TRANS",
        audienceId,
        ...fields,
      })
    ).body;
  const act = (id: string, action: string, as = request) =>
    as<CampaignBody>("POST", `/v1/campaigns/${id}/${action}`, {});
  const messagesOf = async (name: string) => {
    const path = `/v1/messages?limit=100&campaignName=${encodeURIComponent(name)}`;
    const { body } = await request<{ data: (MessageBody & { channel: string })[] }>("GET", path);
    return new Map(body.data.map((message) => [message.recipient, message]));
  };

  test("each recipient gets its own values on the first channel that reaches it, under one id and one charge", async () => {
    const audienceId = await audienceOf(`${ANY},Ada,4711`, `${SMS_ONLY},Bob,4712`);
    const campaign = await create(audienceId, { ways: [RCS, CHAT, SMS], moveOnAfterSeconds: 30 });
    expect(campaign).toMatchObject({
      state: "draft",
      channel: "rcs",
      sender: "shop",
      text: null,
      moveOnAfterSeconds: 30,
    });
    expect(campaign.ways).toEqual([RCS, CHAT, SMS]);
    expect((await act(campaign.id, "start")).body).toMatchObject({ state: "running" });
    expect(await inState(request, campaign.id, "finished")).toMatchObject({ accepted: 2, skipped: 0 });
    const messages = await eventually(
      () => messagesOf(campaign.name),
      (found) => [...found.values()].every(({ status }) => status === "Delivered"),
    );
    expect(messages.get(ANY)).toMatchObject({ channel: "rcs", text: "arrived: Ada, 4711", credits: 1 });
    expect(messages.get(SMS_ONLY)).toMatchObject({ channel: "sms", text: "Bob: 4712", credits: 1 });
    const report = (await request<ReportBody>("GET", `/v1/campaigns/${campaign.id}/report`)).body;
    expect(report).toMatchObject({ accepted: 2, counts: { Delivered: 2 } });
  });

  test("an RCS card and a chat-app header take their link from the row, and a row with an unfit link is skipped", async () => {
    const audienceId = await audienceOf(
      `${ANY},Ada,https://shop.example/ada.jpg`,
      "15550100101,Bob,no address",
      "15550100102,Eve,https://shop.example/eve.jpg",
    );
    const header = { type: "image", image: { link: "{{order}}" } };
    const ways = [
      { ...RCS, templateName: "card", content: [{ fileUrl: "{{order}}" }] },
      { ...CHAT, templateName: "card", components: { body: { params: ["{{first name}}"] }, header } },
    ];
    const campaign = await create(audienceId, { ways });
    await act(campaign.id, "start");
    expect(await inState(request, campaign.id, "finished")).toMatchObject({ accepted: 2, skipped: 1 });
    const { body } = await request<ReportBody>("GET", `/v1/campaigns/${campaign.id}/report`);
    expect(body.skippedRows).toMatchObject([{ row: 3, code: "VALUE_REFUSED" }]);
    expect([...(await messagesOf(campaign.name)).keys()].toSorted()).toEqual([ANY, "15550100102"]);
  });

  test("values that make a text too long or the whole message enormous skip their row only", async () => {
    const audienceId = await audienceOf(`${ANY},Ada,${"x".repeat(1600)}`, "15550100101,Bob,4711");
    const ways = [RCS, { ...SMS, text: "{{order}}{{order}}" }];
    const campaign = await create(audienceId, { ways });
    const huge = await create(audienceId, { ways: [{ ...SMS, text: "{{order}}".repeat(200) }] });
    for (const { id } of [campaign, huge]) {
      await act(id, "start");
      expect(await inState(request, id, "finished")).toMatchObject({ accepted: 1, skipped: 1 });
      const { body } = await request<ReportBody>("GET", `/v1/campaigns/${id}/report`);
      expect(body.skippedRows).toMatchObject([{ row: 2, code: "MESSAGE_TOO_LONG" }]);
    }
  });

  test("a value with characters that a template's text may not have, and a blank text, skip their row only", async () => {
    await request("POST", "/api/templates", { name: "parcel", channel: "sms", text: "{#var#}: {#var#}" });
    const audienceId = await audienceOf(`${ANY},Ada,4711`, "15550100101,Łukasz,4712", "15550100102,,");
    const parcel = { channel: "sms", sender: "HELIOG", templateId: "parcel", unicode: 0 };
    const filled = await create(audienceId, { ways: [{ ...parcel, custom: ["{{first name}}", "{{order}}"] }] });
    const blank = await create(audienceId, { ways: [{ ...SMS, text: "{{first name}} {{order}}" }] });
    for (const [{ id }, row, code] of [
      [filled, 3, "VALUE_REFUSED"],
      [blank, 4, "TEXT_EMPTY"],
    ] as const) {
      await act(id, "start");
      await inState(request, id, "finished");
      const { body } = await request<ReportBody>("GET", `/v1/campaigns/${id}/report`);
      expect(body.skippedRows).toContainEqual(expect.objectContaining({ row, code }));
    }
  });

  test("cancelling a finished campaign keeps its messages from their next way", async () => {
    const audienceId = await audienceOf(`${SMS_ONLY},Bob,4712`);
    const { id, name } = await create(audienceId, { ways: [RCS, SMS], moveOnAfterSeconds: 3600 });
    await act(id, "start");
    await inState(request, id, "finished");
    expect((await act(id, "cancel")).body).toMatchObject({ state: "cancelled" });
    expect((await act(id, "cancel")).body).toMatchObject({ state: "cancelled" });
    expect((await request<{ data: object[] }>("GET", `/api/campaigns?limit=100`)).body.data).toContainEqual(
      expect.objectContaining({ name, status: "cancelled" }),
    );
    const text = await create(audienceId, { sender: "HELIOG", text: "Hello" });
    await act(text.id, "start");
    await inState(request, text.id, "finished");
    expect((await act(text.id, "cancel")).body.error?.code).toBe("CAMPAIGN_STATE");
  });

  test("a preview needs the scope read, because it shows numbers of the audience", async () => {
    const { id } = await create(people, { ways: [SMS] });
    const key = await tenants.addKey(1, { scopes: ["sms"] });
    const asSms: Request = (method, path, body) => tenants.server.request(method, path, body, { apikey: key.secret });
    expect((await act(id, "preview", asSms)).body.error?.code).toBe("INSUFFICIENT_SCOPE");
  });

  test("a preview shows the text of each recipient on every channel, and stores nothing", async () => {
    const audienceId = await audienceOf(`${ANY},Ada,4711`, "15550100101,,4712", "15550100102,Eve,4713");
    const campaign = await create(audienceId, { ways: [CHAT, SMS] });
    const before = await tenants.execute("select count(*) as count from messages");
    const { status, body } = await request<PreviewBody>("POST", `/v1/campaigns/${campaign.id}/preview`, { limit: 2 });
    expect(status).toBe(200);
    expect(body).toMatchObject({ credits: 1, skipped: [{ row: 3, code: "VALUE_REFUSED" }] });
    expect(body.recipients).toMatchObject([
      {
        row: 2,
        recipient: ANY,
        ways: [
          { channel: "chatapp", text: "arrived: Ada, order 4711", segments: null, routes: [{ carrier: "simulator" }] },
          { channel: "sms", text: "Ada: 4711", segments: 1, routes: [{ carrier: "simulator" }] },
        ],
      },
    ]);
    expect(await tenants.execute("select count(*) as count from messages")).toEqual(before);
    const gone = await request("POST", `/v1/campaigns/${campaign.id}/preview`, { limit: 101 });
    expect(gone.status).toBe(400);
  });

  test("a draft changes between a text and ways, and a copy has the same ways", async () => {
    const { id } = await create(people, { sender: "HELIOG", text: "Hello" });
    const change = async (fields: object) => (await request<CampaignBody>("PATCH", `/v1/campaigns/${id}`, fields)).body;
    expect((await change({ ways: [RCS] })).error?.parameter).toBe("text");
    expect(await change({ ways: [RCS], text: null })).toMatchObject({
      ways: [RCS],
      sender: "shop",
      moveOnAfterSeconds: 60,
    });
    expect((await act(id, "duplicate")).body).toMatchObject({ ways: [RCS], state: "draft" });
    expect((await change({ ways: null, text: "Hello" })).error?.parameter).toBe("sender");
    expect(await change({ ways: null, text: "Hello", sender: "HELIOG" })).toMatchObject({
      channel: "sms",
      ways: null,
      moveOnAfterSeconds: null,
    });
  });

  test.each<[string, object, string[]]>([
    ["a column that the audience does not have", { ways: [{ ...SMS, text: "{{city}}" }] }, ["ways[0].text"]],
    ["two ways on one channel", { ways: [SMS, SMS] }, ["ways[1].channel"]],
    ["an unknown channel", { ways: [{ channel: "fax" }] }, ["ways[0].channel"]],
    [
      "an offer that has ended",
      { ways: [{ ...CHAT, components: { body: { params: [] }, offer: { expiresAt: 1 } } }] },
      ["ways[0].components.offer.expiresAt"],
    ],
    ["no way", { ways: [] }, ["ways"]],
    ["a way without its fields", { ways: [{ channel: "rcs" }] }, ["ways[0].templateName", "ways[0].botId"]],
    [
      "a fixed address that is none",
      { ways: [{ ...RCS, content: [{ fileUrl: "coat.jpg" }] }] },
      ["ways[0].content[0].fileUrl"],
    ],
    ["a value of the wrong kind", { ways: [{ ...RCS, content: [{ params: [1] }] }] }, ["ways[0].content[0].params[0]"]],
    ["text beside ways", { ways: [SMS], text: "Hello" }, ["text"]],
    ["channel and sender beside ways", { ways: [RCS], channel: "sms", sender: "OTHER" }, ["channel", "sender"]],
    [
      "moveOnAfterSeconds without ways",
      { sender: "HELIOG", text: "Hi", moveOnAfterSeconds: 9 },
      ["moveOnAfterSeconds"],
    ],
    ["text and template in a way", { ways: [{ ...SMS, templateId: "t" }] }, ["ways[0].text"]],
    ["neither sender nor ways", { text: "Hello" }, ["sender"]],
    ["too short a wait", { ways: [SMS], moveOnAfterSeconds: 1 }, ["moveOnAfterSeconds"]],
    ["too much content", { ways: [{ ...SMS, text: "x".repeat(20_001) }] }, ["ways"]],
  ])("a campaign with %s is refused by field and changes nothing", async (_, fields, parameters) => {
    const before = await tenants.execute("select count(*) as count from campaigns");
    const { error } = await create(people, fields);
    expect(error?.details.map(({ parameter }) => parameter)).toEqual(parameters);
    expect(await tenants.execute("select count(*) as count from campaigns")).toEqual(before);
  });

  test("a marketing template in a campaign of type TRANS is refused at the start by its field", async () => {
    await request("POST", "/api/templates", {
      name: "autumn",
      channel: "chatapp",
      category: "marketing",
      status: "approved",
      body: "Hello {{1}}",
    });
    const way = { ...CHAT, templateName: "autumn", components: { body: { params: ["{{first name}}"] } } };
    const campaign = await create(people, { ways: [way] });
    const { status, body } = await act(campaign.id, "start");
    expect([status, body.error?.parameter]).toEqual([400, "ways[0].templateName"]);
  });

  test("a key needs the scope of every channel to create, change, start and resume, and not to cancel", async () => {
    const key = await tenants.addKey(1, { scopes: ["sms", "read"] });
    const asSms: Request = (method, path, body) => tenants.server.request(method, path, body, { apikey: key.secret });
    expect((await create(people, { ways: [RCS] }, asSms)).error?.code).toBe("INSUFFICIENT_SCOPE");
    const text = await create(people, { sender: "HELIOG", text: "Hello" }, asSms);
    const changed = await asSms<CampaignBody>("PATCH", `/v1/campaigns/${text.id}`, { ways: [RCS], text: null });
    expect(changed.body.error?.code).toBe("INSUFFICIENT_SCOPE");
    const campaign = await create(people, { ways: [RCS], throttle: 1 });
    for (const action of ["start", "schedule", "duplicate", "preview"])
      expect((await act(campaign.id, action, asSms)).body.error?.code).toBe("INSUFFICIENT_SCOPE");
    await act(campaign.id, "start");
    await act(campaign.id, "pause");
    expect((await act(campaign.id, "resume", asSms)).body.error?.code).toBe("INSUFFICIENT_SCOPE");
    expect((await act(campaign.id, "cancel", asSms)).body).toMatchObject({ state: "cancelled" });
  });

  test("short links in a text have a code per recipient, and a missing address is refused by field", async () => {
    const shortenUrlData = { shortenUrl: true, targetUrl: ["https://shop.example/sale"] };
    const fields = { sender: "HELIOG", text: "{{first name}}: {SORT}", shortenUrlData };
    expect((await create(people, { ...fields, text: "no token" })).error?.parameter).toBe("shortenUrlData.targetUrl");
    const campaign = await create(people, fields);
    expect(campaign.shortenUrlData).toEqual(shortenUrlData);
    await act(campaign.id, "start");
    await inState(request, campaign.id, "finished");
    const texts = [...(await messagesOf(campaign.name)).values()].map(({ text }) => text);
    expect(texts.toSorted()).toEqual([expect.stringMatching(/^Ada: http.+/), expect.stringMatching(/^Bob: http.+/)]);
    expect(new Set(texts.map((text) => text.slice(5))).size).toBe(2);
  });
});
