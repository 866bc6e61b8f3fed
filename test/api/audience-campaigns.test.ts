import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { openTenants, type Tenants } from "../fuzz/tenants.ts";
import { checked, upload } from "../support/audiences.ts";
import { inState, type CampaignBody, type ReportBody, type Request } from "../support/campaigns.ts";
import { ENGINES, hasPostgres } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { closeAll, environment, openSmsc, Restartable } from "../support/restartable-server.ts";
import { startTestServer, type MessageBody } from "../support/test-server.ts";

let numbers = 0;
const rowsOf = (count: number): string => {
  const first = 15_550_300_000 + numbers;
  numbers += count;
  return `phone,first name,city\n${Array.from({ length: count }, (_, index) => `${first + index},Ada ${index},Pune\n`).join("")}`;
};
let names = 0;
const nextName = (): string => `sale of ${(names += 1)}`;

interface Api {
  request: Request;
  audience(file: string): Promise<string>;
  draft(audienceId: string, fields?: object): Promise<CampaignBody>;
  act(id: string, action: string, body?: object): Promise<{ status: number; body: CampaignBody }>;
  get(id: string): Promise<CampaignBody>;
  report(id: string): Promise<ReportBody>;
  messages(name: string): Promise<MessageBody[]>;
}

const apiOf = (request: Request): Api => ({
  request,
  async audience(file) {
    const id = await upload(request, file);
    await checked(request, id);
    return id;
  },
  async draft(audienceId, fields = {}) {
    const body = { name: nextName(), type: "TRANS", sender: "HELIOG", audienceId, ...fields };
    const text = "templateId" in body || "text" in body ? {} : { text: "Hello {{first name}}" };
    return (await request<CampaignBody>("POST", "/v1/campaigns", { ...text, ...body })).body;
  },
  act: (id, action, body) => request<CampaignBody>("POST", `/v1/campaigns/${id}/${action}`, body ?? {}),
  get: async (id) => (await request<CampaignBody>("GET", `/v1/campaigns/${id}`)).body,
  report: async (id) => (await request<ReportBody>("GET", `/v1/campaigns/${id}/report`)).body,
  messages: async (name) => {
    const { body } = await request<{ data: MessageBody[] }>(
      "GET",
      `/v1/messages?limit=100&campaignName=${encodeURIComponent(name)}`,
    );
    return body.data;
  },
});

/** Slow enough that only the first recipient is fed. */
const SLOW = { throttle: 1 };

describe.each(ENGINES)("campaigns on %s", (engine) => {
  let tenants: Tenants;
  let api: Api;
  let asTest: Api;
  beforeAll(async () => {
    tenants = await openTenants(engine);
    const { server } = tenants;
    api = apiOf((method, path, body) => server.request(method, path, body));
    asTest = apiOf((method, path, body) => server.request(method, path, body, { apikey: server.testKey }));
  });
  afterAll(() => tenants.close());
  afterEach(closeAll);

  test("a started campaign sends every recipient its own text under the campaign's name, and finishes", async () => {
    const audienceId = await api.audience("phone,first name\n15550100100,Ada\n15550100101,Bob\n15550100101,Bob\n");
    const campaign = await api.draft(audienceId, { text: "Hello {{first name}}, dear {{ first name }}!" });
    expect(campaign).toMatchObject({ state: "draft", accepted: 0, startedAt: null });
    expect((await api.act(campaign.id, "start")).body).toMatchObject({ state: "running" });
    const ended = await inState(api.request, campaign.id, "finished");
    expect(ended).toMatchObject({ accepted: 2, skipped: 0, failure: null, endedAt: expect.any(Number) });
    const texts = (await api.messages(campaign.name)).map(({ recipient, text }) => [recipient, text]);
    expect(texts.toSorted(([one = ""], [other = ""]) => one.localeCompare(other))).toEqual([
      ["15550100100", "Hello Ada, dear Ada!"],
      ["15550100101", "Hello Bob, dear Bob!"],
    ]);
    const report = await eventually(
      () => api.report(campaign.id),
      ({ counts }) => counts["Delivered"] === 2,
    );
    expect(report).toMatchObject({ recipients: 2, accepted: 2, skipped: 0, skips: {}, skippedRows: [] });
    const { body } = await api.request<{ data: { name: string; counts: object }[] }>("GET", "/api/campaigns?limit=100");
    expect(body.data.find(({ name }) => name === campaign.name)?.counts).toMatchObject({ Delivered: 2 });
  });

  test("a campaign feeds several batches, each recipient once", async () => {
    const campaign = await api.draft(await api.audience(rowsOf(1203)), { text: "Hello all" });
    await api.act(campaign.id, "start");
    expect(await inState(api.request, campaign.id, "finished")).toMatchObject({ accepted: 1203 });
    const rows = await tenants.execute(
      `select count(*) as count, count(distinct recipient) as numbers from messages where campaign_name = '${campaign.name}'`,
    );
    expect(rows.map((row) => Object.values(row as object).map(Number))).toEqual([[1203, 1203]]);
  });

  test("a template is filled in with columns and fixed values", async () => {
    await api.request("POST", "/api/templates", { name: "ready", channel: "sms", text: "{{1}}: order {{2}} is ready" });
    const audienceId = await api.audience("phone,first name\n15550100100,Ada\n");
    const fields = { templateId: "ready", custom: ["Dear {{first name}}", "4711"] };
    const campaign = await api.draft(audienceId, fields);
    expect(campaign).toMatchObject({ ...fields, text: null });
    await api.act(campaign.id, "start");
    await inState(api.request, campaign.id, "finished");
    expect((await api.messages(campaign.name)).map(({ text }) => text)).toEqual(["Dear Ada: order 4711 is ready"]);
  });

  test("a recipient whose values make the text too long or empty is skipped, and the others are sent to", async () => {
    const long = "x".repeat(1600);
    const audienceId = await api.audience(
      `phone,first name\n15550100100,Ada\n15550100101,${long}\n15550100102,\n15550100103,Bob\n`,
    );
    const campaign = await api.draft(audienceId, { text: "{{first name}}{{first name}}" });
    await api.act(campaign.id, "start");
    expect(await inState(api.request, campaign.id, "finished")).toMatchObject({ accepted: 2, skipped: 2 });
    expect(await api.report(campaign.id)).toMatchObject({
      skips: { MESSAGE_TOO_LONG: 1, TEXT_EMPTY: 1 },
      skippedRows: [
        { row: 3, code: "MESSAGE_TOO_LONG" },
        { row: 4, code: "TEXT_EMPTY" },
      ],
    });
  });

  test("a text that the values of one row would blow up is skipped before it is written", async () => {
    const audienceId = await api.audience(`phone,a\n15550100100,${"x".repeat(1600)}\n15550100101,y\n`);
    const custom = Array.from({ length: 3 }, () => "{{a}}".repeat(300));
    await api.request("POST", "/api/templates", { name: "blown-up", channel: "sms", text: "{{1}} {{2}} {{3}}" });
    const campaign = await api.draft(audienceId, { templateId: "blown-up", custom });
    expect((await api.act(campaign.id, "start")).status).toBe(200);
    expect(await inState(api.request, campaign.id, "finished")).toMatchObject({ accepted: 1, skipped: 1 });
    expect((await api.report(campaign.id)).skippedRows).toMatchObject([{ row: 2, code: "MESSAGE_TOO_LONG" }]);
  });

  test("an unknown column is one fault per field, however often it stands there", async () => {
    const audienceId = await api.audience("phone,a\n15550100100,x\n");
    const { body } = await api.request<{ error: { details: { parameter: string }[] } }>("POST", "/v1/campaigns", {
      name: nextName(),
      type: "TRANS",
      sender: "HELIOG",
      audienceId,
      text: "{{b}} {{c}} ".repeat(100),
    });
    expect(body.error.details.map(({ parameter }) => parameter)).toEqual(["text"]);
  });

  test("a name with an emoji is duplicated any number of times", async () => {
    const campaign = await api.draft(await api.audience("phone\n15550100100\n"), { name: "🎉 sale", text: "Hello" });
    const copies = [await api.act(campaign.id, "duplicate"), await api.act(campaign.id, "duplicate")];
    expect(copies.map(({ body }) => body.name)).toEqual(["🎉 sale 2", "🎉 sale 3"]);
  });

  test("the campaign of a suspended account pauses, and sends no message", async () => {
    const { accountId, minted } = await tenants.addAccount("spammer");
    await tenants.reload();
    const own = apiOf((method, path, body) => tenants.server.request(method, path, body, { apikey: minted.secret }));
    const campaign = await own.draft(await own.audience("phone\n15550100100\n15550100101\n"), {
      text: "Hello",
      ...SLOW,
    });
    await own.act(campaign.id, "start");
    await eventually(
      () => own.get(campaign.id),
      ({ accepted }) => accepted === 1,
    );
    await tenants.execute(`update accounts set suspended = 1 where id = ${accountId}`);
    await tenants.reload();
    await tenants.execute(`update campaigns set next_at = 0 where id = '${campaign.id}'`);
    const stored = await eventually(
      () => tenants.server.app.store.findCampaign({ accountId, id: campaign.id }),
      (found) => found?.state === "paused",
    );
    expect(stored).toMatchObject({ accepted: 1, failure: { code: "ACCOUNT_SUSPENDED" } });
  });

  test("an account has a maximum number of campaigns, drafts included", async () => {
    const few = await openTenants(engine, undefined, { env: { HELIOGRAPH_CAMPAIGNS_MAX: "1" } });
    const own = apiOf((method, path, body) => few.server.request(method, path, body));
    const campaign = await own.draft(await own.audience("phone\n15550100100\n"), { text: "Hello" });
    const refused = await own.act(campaign.id, "duplicate");
    expect([refused.status, refused.body.error?.code]).toEqual([409, "TOO_MANY_CAMPAIGNS"]);
    await few.close();
  });

  test("a promotion reaches no number that has opted out", async () => {
    await api.request("POST", "/api/optouts", { number: "15550199001" });
    const audienceId = await api.audience("phone\n15550199001\n15550199002\n");
    const campaign = await api.draft(audienceId, { type: "PROMO", text: "Sale" });
    await api.act(campaign.id, "start");
    await eventually(
      () => api.report(campaign.id),
      ({ accepted, counts }) => accepted === 2 && counts["Failed"] === 1,
    );
    const stopped = (await api.messages(campaign.name)).find(({ recipient }) => recipient === "15550199001");
    expect(stopped).toMatchObject({ state: "rejected", errCode: "RECIPIENT_OPTED_OUT" });
  });

  test("a throttle limits the messages, and a pause stops the feed until it is resumed", async () => {
    const campaign = await api.draft(await api.audience(rowsOf(50)), { throttle: 3600 });
    const startedAt = Date.now();
    await api.act(campaign.id, "start");
    await eventually(
      () => api.get(campaign.id),
      ({ accepted }) => accepted >= 2,
    );
    const paused = await api.act(campaign.id, "pause");
    expect(paused).toMatchObject({ status: 200, body: { state: "paused", failure: null } });
    const { accepted } = await api.get(campaign.id);
    const seconds = (Date.now() - startedAt) / 1000;
    expect(accepted).toBeLessThanOrEqual(seconds + 2);
    expect(
      await tenants.execute(`select id from campaigns where state = 'running' and name = '${campaign.name}'`),
    ).toEqual([]);
    expect((await api.act(campaign.id, "pause")).status).toBe(200);
    expect((await api.get(campaign.id)).accepted).toBe(accepted);
    await api.act(campaign.id, "resume");
    await eventually(
      () => api.get(campaign.id),
      (current) => current.accepted > accepted,
    );
    await api.act(campaign.id, "cancel");
  });

  test("pausing and cancelling the campaign's name at /api/campaigns stops the feed too", async () => {
    const campaign = await api.draft(await api.audience(rowsOf(5)), SLOW);
    await api.act(campaign.id, "start");
    await eventually(
      () => api.get(campaign.id),
      ({ accepted }) => accepted === 1,
    );
    const { body } = await api.request<{ data: { id: string; name: string }[] }>("GET", "/api/campaigns?limit=100");
    const path = `/api/campaigns/${body.data.find(({ name }) => name === campaign.name)?.id}`;
    for (const [action, state] of [
      ["pause", "paused"],
      ["resume", "running"],
      ["cancel", "cancelled"],
    ]) {
      expect((await api.request("POST", `${path}/${action}`)).status).toBe(200);
      expect(await api.get(campaign.id)).toMatchObject({ state });
    }
  });

  test("cancelling stops the feed and cancels what no carrier has", async () => {
    const { smsc } = await openSmsc({ silentPercent: 100 });
    const smpp = { host: "127.0.0.1", port: smsc.port, systemId: "esme", password: "secret", window: 1 };
    const carrier = await api.request<{ id: string }>("POST", "/api/carriers", {
      name: "silent",
      adapter: "smpp",
      smpp,
    });
    const route = await api.request<{ id: string }>("POST", "/api/routes", {
      name: "to the silent",
      channel: "sms",
      carrier: "silent",
      sender: "SILENT",
      priority: 1,
    });
    expect([carrier.status, route.status]).toEqual([201, 201]);
    await api.request("POST", "/api/senders", { name: "SILENT" });
    const campaign = await api.draft(await api.audience(rowsOf(300)), { sender: "SILENT" });
    await api.act(campaign.id, "start");
    await eventually(
      () => api.get(campaign.id),
      ({ accepted }) => accepted === 300,
    );
    expect(await api.get(campaign.id)).toMatchObject({ state: "running" });
    expect((await api.act(campaign.id, "cancel")).body).toMatchObject({ state: "cancelled" });
    const { states } = await eventually(
      () => api.report(campaign.id),
      (report) => (report.states["accepted"] ?? 0) + (report.states["scheduled"] ?? 0) === 0,
    );
    expect(states["cancelled"]).toBeGreaterThan(290);
    await api.request("DELETE", `/api/routes/${route.body.id}`);
  });

  test("an audience cannot be deleted or mapped again while a campaign needs it", async () => {
    const audienceId = await api.audience(rowsOf(3));
    const campaign = await api.draft(audienceId, SLOW);
    await api.act(campaign.id, "start");
    for (const [method, body] of [
      ["DELETE", undefined],
      ["PATCH", { mapping: { number: "phone" } }],
    ] as const) {
      const refused = await api.request<CampaignBody>(method, `/v1/audiences/${audienceId}`, body);
      expect([refused.status, refused.body.error?.code]).toEqual([409, "RECORD_IN_USE"]);
    }
    await api.act(campaign.id, "cancel");
    expect((await api.request("DELETE", `/v1/audiences/${audienceId}`)).status).toBe(200);
  });

  test("a campaign without credits pauses with the reason, and resumes where it stopped", async () => {
    const { accountId, minted } = await tenants.addAccount(`poor ${engine}`);
    const headers = { apikey: minted.secret };
    const poor = apiOf((method, path, body) => tenants.server.request(method, path, body, headers));
    expect((await poor.request("PATCH", "/api/account", { credits: "metered" })).status).toBe(200);
    const campaign = await poor.draft(await poor.audience(rowsOf(3)));
    await poor.act(campaign.id, "start");
    const paused = await inState(poor.request, campaign.id, "paused");
    expect(paused).toMatchObject({ accepted: 0, failure: { code: "INSUFFICIENT_CREDITS" } });
    const topUp = { id: newId(Date.now()), amount: 3, note: null, at: Date.now() };
    expect(await tenants.server.app.store.addCredits(accountId, topUp)).toBe(true);
    expect((await poor.act(campaign.id, "resume")).body).toMatchObject({ state: "running", failure: null });
    expect(await inState(poor.request, campaign.id, "finished")).toMatchObject({ accepted: 3 });
    expect(await poor.messages(campaign.name)).toHaveLength(3);
  });

  test("an action that the state does not allow names the state and what is possible", async () => {
    const audienceId = await api.audience(rowsOf(2));
    const { id } = await api.draft(audienceId, SLOW);
    const refused = async (action: string, message: string): Promise<void> => {
      const answer = await api.act(id, action);
      expect([action, answer.status, answer.body.error?.code]).toEqual([action, 409, "CAMPAIGN_STATE"]);
      expect(answer.body.error?.message).toBe(message);
    };
    const draft = "The campaign is draft: you can change, schedule, start, cancel or duplicate it.";
    for (const action of ["pause", "resume"]) await refused(action, draft);
    await api.act(id, "start");
    const running = "The campaign is running: you can pause, cancel or duplicate it.";
    for (const action of ["start", "resume"]) await refused(action, running);
    const patched = await api.request<CampaignBody>("PATCH", `/v1/campaigns/${id}`, { throttle: 5 });
    expect([patched.status, patched.body.error?.code, patched.body.error?.message]).toEqual([
      409,
      "CAMPAIGN_STATE",
      running,
    ]);
    await api.act(id, "pause");
    await refused("start", "The campaign is paused: you can resume, cancel or duplicate it.");
    await api.act(id, "cancel");
    for (const action of ["start", "pause", "resume"])
      await refused(action, "The campaign is cancelled: you can duplicate it.");
    expect((await api.act(id, "cancel")).status).toBe(200);
  });

  test("a draft is changed by field, and null removes an optional one", async () => {
    const audienceId = await api.audience(rowsOf(1));
    const window = { from: "09:00", to: "18:00", zone: "Asia/Kolkata" };
    const { id, name } = await api.draft(audienceId, { throttle: 100, window });
    const { body } = await api.request<CampaignBody>("PATCH", `/v1/campaigns/${id}`, {
      text: null,
      templateId: "hello",
      custom: ["{{city}}", 4711],
      throttle: null,
    });
    expect(body).toMatchObject({
      name,
      text: null,
      templateId: "hello",
      custom: ["{{city}}", "4711"],
      throttle: null,
      window,
    });
    const both = await api.request<CampaignBody>("PATCH", `/v1/campaigns/${id}`, { text: "Hello" });
    expect([both.status, both.body.error?.parameter]).toEqual([400, "text"]);
    expect(await api.get(id)).toEqual(body);
  });

  test.each<[string, object, string]>([
    ["no name", { name: undefined }, "name"],
    ["an empty name", { name: " " }, "name"],
    ["another channel", { channel: "rcs" }, "channel"],
    ["one-time passwords", { type: "OTP" }, "type"],
    ["no sender", { sender: "" }, "sender"],
    ["neither text nor template", { text: null }, "text"],
    ["text and template", { templateId: "hello", custom: [] }, "text"],
    ["a template without values", { text: null, templateId: "hello" }, "custom"],
    ["a column that the audience does not have", { text: "Hello {{surname}}" }, "text"],
    ["a placeholder of stored templates", { text: "Hello {#var#}" }, "text"],
    ["a value with an unknown column", { text: null, templateId: "hello", custom: ["{{surname}}"] }, "custom[0]"],
    ["no throttle", { throttle: 0 }, "throttle"],
    ["a window without a zone", { window: { from: "09:00", to: "18:00" } }, "window.zone"],
    ["a window in an unknown zone", { window: { from: "09:00", to: "18:00", zone: "Mars" } }, "window.zone"],
    ["a window at no time", { window: { from: "09:00", to: "09:00", zone: "UTC" } }, "window"],
    ["a window that begins at 24:00", { window: { from: "24:00", to: "09:00", zone: "UTC" } }, "window.from"],
    ["a time without a zone", { scheduledAt: "2030-01-01T10:00:00" }, "scheduledAt"],
    ["a time in the past", { scheduledAt: 1 }, "scheduledAt"],
    ["an unknown audience", { audienceId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47" }, "audienceId"],
  ])("a campaign with %s is refused by field and changes nothing", async (_, fields, parameter) => {
    const audienceId = await api.audience(rowsOf(1));
    const before = await tenants.execute("select count(*) as count from campaigns");
    const campaign = { name: nextName(), type: "TRANS", sender: "HELIOG", text: "Hello", audienceId, ...fields };
    const { status, body } = await api.request<CampaignBody>("POST", "/v1/campaigns", campaign);
    expect([status, body.error?.parameter]).toEqual([400, parameter]);
    expect(await tenants.execute("select count(*) as count from campaigns")).toEqual(before);
  });

  test("a name is used once, also if messages were sent under it", async () => {
    const audienceId = await api.audience(rowsOf(1));
    const { id, name } = await api.draft(audienceId);
    const again = await api.draft(audienceId, { name });
    expect(again.error).toMatchObject({ code: "NAME_TAKEN", parameter: "name" });
    const other = await api.draft(audienceId);
    const renamed = await api.request<CampaignBody>("PATCH", `/v1/campaigns/${other.id}`, { name });
    expect([renamed.status, renamed.body.error?.code]).toEqual([409, "NAME_TAKEN"]);
    await tenants.server.send({ campaignName: "of single sends" });
    const used = await api.draft(audienceId, { name: "of single sends" });
    expect(used.error).toMatchObject({ code: "INVALID_REQUEST", parameter: "name" });
    const copies = [await api.act(id, "duplicate"), await api.act(id, "duplicate")];
    expect(copies.map(({ status, body }) => [status, body.state])).toEqual([
      [201, "draft"],
      [201, "draft"],
    ]);
    expect(new Set(copies.map(({ body }) => body.name)).size).toBe(2);
  });

  test("a campaign does not start before its audience is ready and its message is valid", async () => {
    const { body: uploading } = await api.request<{ id: string }>("POST", "/v1/audiences", { name: "later", size: 50 });
    const early = await api.draft(uploading.id);
    expect((await api.act(early.id, "start")).body.error).toMatchObject({ parameter: "audienceId" });
    await api.request("POST", "/api/templates", { name: "two", channel: "sms", text: "{{1}} {{2}}" });
    const audienceId = await api.audience(rowsOf(1));
    const wrong = await api.draft(audienceId, { templateId: "two", custom: ["{{city}}"] });
    const long = await api.draft(audienceId, { text: "x".repeat(5000) });
    const unscheduled = await api.draft(audienceId);
    expect([
      (await api.act(wrong.id, "start")).body.error?.code,
      (await api.act(long.id, "start")).body.error?.code,
      (await api.act(unscheduled.id, "schedule")).body.error?.parameter,
      (await api.act(unscheduled.id, "schedule", { scheduledAt: 1 })).body.error?.parameter,
    ]).toEqual(["PARAMS_MISMATCH", "MESSAGE_TOO_LONG", "scheduledAt", "scheduledAt"]);
    for (const { id } of [early, wrong, long, unscheduled]) expect(await api.get(id)).toMatchObject({ state: "draft" });
  });

  test("a test key sees, starts and stops only campaigns of test keys, and no live messages of the same name", async () => {
    const live = await api.draft(await api.audience(rowsOf(3)), SLOW);
    const liveAudience = await asTest.draft(live.audienceId);
    expect(liveAudience.error).toMatchObject({ parameter: "audienceId" });
    const own = await asTest.draft(await asTest.audience(rowsOf(3)), { ...SLOW, name: live.name });
    expect(own).toMatchObject({ test: true, name: live.name });
    const ofTestAudience = await api.draft(own.audienceId);
    expect(ofTestAudience.error).toMatchObject({ parameter: "audienceId" });
    await api.act(live.id, "start");
    await asTest.act(own.id, "start");
    for (const each of [live, own])
      await eventually(
        () => api.get(each.id),
        ({ accepted }) => accepted === 1,
      );
    for (const [method, path] of [
      ["GET", ""],
      ["GET", "/report"],
      ["PATCH", ""],
      ["POST", "/pause"],
      ["POST", "/cancel"],
      ["POST", "/duplicate"],
    ] as const)
      expect(
        (await asTest.request(method, `/v1/campaigns/${live.id}${path}`, method === "GET" ? undefined : {})).status,
      ).toBe(404);
    const { body } = await asTest.request<{ data: CampaignBody[] }>("GET", "/v1/campaigns");
    expect(body.data.every((campaign) => campaign.test)).toBe(true);
    await asTest.act(own.id, "pause");
    await asTest.act(own.id, "cancel");
    expect(await api.get(own.id)).toMatchObject({ state: "cancelled" });
    expect(await api.get(live.id)).toMatchObject({ state: "running" });
    const { body: byName } = await api.request<{ data: { name: string; status: string }[] }>(
      "GET",
      "/api/campaigns?limit=100",
    );
    expect(byName.data.find(({ name }) => name === live.name)?.status ?? "running").toBe("running");
    expect(Object.values((await asTest.report(own.id)).states)).toEqual([1]);
    await api.act(live.id, "cancel");
  });

  test("retention removes campaigns that have ended, and keeps those that have not", async () => {
    const audienceId = await api.audience(rowsOf(2));
    const [old, current] = [await api.draft(audienceId), await api.draft(audienceId, SLOW)];
    await api.act(current.id, "start");
    const cutoff = { accountId: 1, before: Date.now() + 1000 };
    for (let after: readonly (string | number)[] | null = []; after;)
      after = (await tenants.server.app.store.deleteExpired("campaigns", cutoff, after, 2000)).next;
    expect((await api.request("GET", `/v1/campaigns/${old.id}`)).status).toBe(404);
    expect(await api.get(current.id)).toMatchObject({ state: "running" });
    await api.act(current.id, "cancel");
  });

  test("the key of the batch at which a campaign stands outlasts the expiry of others", async () => {
    const campaign = await api.draft(await api.audience(rowsOf(2)), SLOW);
    await api.act(campaign.id, "start");
    await eventually(
      () => api.get(campaign.id),
      ({ accepted }) => accepted === 1,
    );
    await api.act(campaign.id, "pause");
    const keys = () =>
      tenants.execute(`select key from idempotency where path = 'campaign' and key like '${campaign.id}:%'`);
    expect(await keys()).toEqual([{ key: `${campaign.id}:0` }]);
    // As a crash leaves it: the batch is accepted, and the campaign stands before it.
    await tenants.execute(
      `update campaigns set position = 0, accepted = 0, next_at = 0, batch_key = '${campaign.id}:0' where name = '${campaign.name}'`,
    );
    for (let after: readonly (string | number)[] | null = []; after;)
      after = (
        await tenants.server.app.store.deleteExpired("idempotencyKeys", { before: Date.now() + 1000 }, after, 2000)
      ).next;
    expect(await keys()).toEqual([{ key: `${campaign.id}:0` }]);
    await api.act(campaign.id, "resume");
    await eventually(
      () => api.get(campaign.id),
      ({ accepted }) => accepted === 1,
    );
    expect(await api.messages(campaign.name)).toHaveLength(1);
    await api.act(campaign.id, "pause");
    await api.act(campaign.id, "resume");
    expect(await api.get(campaign.id)).toMatchObject({ state: "running", accepted: 1 });
    await api.act(campaign.id, "cancel");
    for (let after: readonly (string | number)[] | null = []; after;)
      after = (
        await tenants.server.app.store.deleteExpired("idempotencyKeys", { before: Date.now() + 1000 }, after, 2000)
      ).next;
    expect(await keys()).toEqual([]);
  });
});

describe.each(ENGINES)("the time of a campaign on %s", (engine) => {
  test("it starts at its time, and sends only within its window", async () => {
    // 2026-01-05 at 07:00 in Pune.
    let offset = Date.parse("2026-01-05T01:30:00Z") - Date.now();
    const clock = { ...systemClock, now: () => Date.now() + offset };
    const moveTo = (time: string): void => void (offset = Date.parse(time) - Date.now());
    const server = await startTestServer(engine, { clock, beyond: { nodeSilentSeconds: 86_400 } });
    const api = apiOf((method, path, body) => server.request(method, path, body));
    const campaign = await api.draft(await api.audience(rowsOf(3)), {
      scheduledAt: "2026-01-05T08:00:00+05:30",
      window: { from: "09:30", to: "18:00", zone: "Asia/Kolkata" },
    });
    expect((await api.act(campaign.id, "schedule")).body).toMatchObject({
      state: "scheduled",
      scheduledAt: Date.parse("2026-01-05T02:30:00Z"),
      startedAt: null,
    });
    moveTo("2026-01-05T02:30:01Z");
    expect(await inState(api.request, campaign.id, "running")).toMatchObject({ accepted: 0 });
    await eventually(
      () => server.app.store.findCampaign({ accountId: 1, id: campaign.id }),
      (stored) => stored?.nextAt === Date.parse("2026-01-05T04:00:00Z"),
    );
    expect(await api.get(campaign.id)).toMatchObject({ accepted: 0 });
    moveTo("2026-01-05T04:00:01Z");
    const ended = await eventually(
      () => {
        // The end of a campaign that has waited long is looked for every 30 seconds.
        offset += 1000;
        return api.get(campaign.id);
      },
      ({ state }) => state === "finished",
    );
    expect(ended).toMatchObject({ accepted: 3 });
    await server.close();
  });
});

describe.each(ENGINES)("a window of each recipient's own time on %s", (engine) => {
  test("sends at once where it is open, and holds the others until it opens there", async () => {
    // 09:00 in London, 14:30 in Pune, 18:00 in Tokyo.
    const start = Date.parse("2026-01-05T09:00:00Z");
    let offset = start - Date.now();
    const clock = { ...systemClock, now: () => Date.now() + offset };
    const server = await startTestServer(engine, { clock, beyond: { nodeSilentSeconds: 86_400 } });
    const api = apiOf((method, path, body) => server.request(method, path, body));
    const audienceId = await api.audience("phone,first name\n447700900123,Ada\n919876543210,Bob\n81312345678,Eve\n");
    const window = { from: "10:00", to: "17:30", zone: "recipient" };
    const campaign = await api.draft(audienceId, { window });
    await api.act(campaign.id, "start");
    const found = await eventually(
      () => api.messages(campaign.name),
      (messages) => messages.length === 3 && messages.filter(({ state }) => state === "delivered").length === 1,
    );
    const times = found.map(({ recipient, state, dueAt }) => [recipient, state === "scheduled" ? dueAt : null]);
    expect(Object.fromEntries(times)).toEqual({
      447700900123: Date.parse("2026-01-05T10:00:00Z"),
      919876543210: null,
      81312345678: Date.parse("2026-01-06T01:00:00Z"),
    });
    const held = await server.message(found.find(({ recipient }) => recipient === "447700900123")?.messageId ?? "");
    expect(JSON.stringify(held.timeline)).toContain("10:00 to 17:30 where the recipient is");
    offset = Date.parse("2026-01-05T10:00:01Z") - Date.now();
    await eventually(
      () => api.messages(campaign.name),
      (messages) => messages.filter(({ state }) => state === "delivered").length === 2,
    );
    expect(await api.get(campaign.id)).toMatchObject({ state: "running", accepted: 3 });
    await server.close();
  });
});

describe.runIf(hasPostgres)("two nodes", () => {
  afterEach(closeAll);

  test("feed campaigns together, each recipient once, also when one of them stops", async () => {
    const env = await environment("postgres");
    const one = await new Restartable(env).start();
    const two = await new Restartable(env).start();
    const api = apiOf((method, path, body) => two.request(method, path, body));
    const campaigns = await Promise.all(
      [1, 2, 3].map(async () =>
        api.draft(await api.audience(rowsOf(2000)), { text: "Hello all", throttle: 1_000_000 }),
      ),
    );
    for (const { id } of campaigns) await api.act(id, "start");
    await eventually(
      () => Promise.all(campaigns.map(({ id }) => api.get(id))),
      (all) => all.some(({ accepted }) => accepted > 0),
    );
    await one.stop();
    const states = await Promise.all(campaigns.map(async ({ id }) => (await api.get(id)).state));
    expect(states).toContain("running");
    for (const { id } of campaigns) {
      expect(await inState(api.request, id, "finished")).toMatchObject({ accepted: 2000 });
      const stored = Object.values((await api.report(id)).states);
      expect(stored.reduce((sum, count) => sum + count, 0)).toBe(2000);
    }
  });
});
