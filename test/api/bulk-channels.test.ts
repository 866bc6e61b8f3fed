import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { startMovedClockServer, type MovedClockServer } from "../support/moved-clock-server.ts";
import type { Answer, Envelope } from "../support/test-server.ts";

const MINUTE_MS = 60_000;

interface ChannelCase {
  name: string;
  path: string;
  /** The body without recipients. */
  common: Record<string, unknown>;
  /** A recipient with values of its own, and one without. */
  own(number: string, value: string): object;
  plain(number: string): object;
  values(value: string): object;
  field: string;
  plus: string;
}

const CHANNELS: ChannelCase[] = [
  {
    name: "RCS",
    path: "/v1/rcs",
    common: { templateName: "bulk-order", botId: "bulk-bot", type: "TRANS" },
    own: (number, value) => ({ number: `+${number}`, content: [{ params: [value] }] }),
    plain: (number) => ({ number: `+${number}` }),
    values: (value) => ({ content: [{ params: [value] }] }),
    field: "number",
    plus: "+",
  },
  {
    name: "the chat app",
    path: "/v1/chatapp",
    common: { from: "+15550100199", templateName: "bulk_order", type: "template" },
    own: (to, value) => ({ to, components: { body: { params: [value] } } }),
    plain: (to) => ({ to }),
    values: (value) => ({ components: { body: { params: [value] } } }),
    field: "to",
    plus: "",
  },
];

/** Bulk sends of RCS and the chat app follow the rules of SMS bulk. */
describe.each(ENGINES)("bulk sends on %s", (engine) => {
  let server: MovedClockServer;
  let last = 0;
  beforeAll(async () => {
    server = await startMovedClockServer(engine);
  });
  afterAll(() => server.close());

  const someone = (): string => `1202555${String((last += 1)).padStart(4, "0")}`;
  const people = (count: number): string[] => Array.from({ length: count }, someone);
  const listed = async (campaignName: string): Promise<unknown[]> => {
    const { body } = await server.request<{ data: unknown[] }>("GET", `/v1/messages?campaignName=${campaignName}`);
    return body.data;
  };
  const changeCampaign = async (name: string, verb: string): Promise<number> => {
    const { body } = await server.request<{ data: { id: string; name: string }[] }>("GET", "/api/campaigns");
    const { id } = body.data.find((each) => each.name === name) ?? { id: "none" };
    return (await server.request("POST", `/api/campaigns/${id}/${verb}`)).status;
  };

  describe.each(CHANNELS)("over $name", ({ path, common, own, plain, values, field, plus }) => {
    const post = (fields: object, headers = {}): Promise<Answer<Envelope>> =>
      server.request("POST", path, { ...common, ...fields }, headers);
    const idsOf = ({ body }: Answer<Envelope>): string[] => body.data.map(({ messageId }) => messageId);
    const textOf = async (id: string | undefined): Promise<string> => (await server.message(id ?? "")).text;

    test("each recipient has a record and a message with its own values", async () => {
      const [a = "", b = "", c = ""] = people(3);
      const answer = await post({ recipients: [own(a, "4711"), own(b, "4712"), plain(c)], ...values("0000") });
      const { id } = answer.body;
      expect(answer).toMatchObject({ status: 200, body: { totalCount: 3, message: "Message Sent Successfully!" } });
      expect(answer.body.data).toEqual(
        [a, b, c].map((number, index) => ({ recipient: `${plus}${number}`, messageId: `${id}:${index + 1}` })),
      );
      await server.travel(5000);
      const [first, second, third] = idsOf(answer);
      expect(await textOf(first)).toContain("4711");
      expect(await textOf(second)).toContain("4712");
      expect(await textOf(third)).toContain("0000");
      expect(await server.settled(second ?? "")).toMatchObject({ status: "Delivered", credits: 1 });
    });

    test("a thousand recipients are accepted, and one more is refused and stores nothing", async () => {
      const numbers = people(1001);
      const recipients = numbers.map((number) => own(number, number));
      const refused = await post({ recipients, campaignName: "bulk-too-many" });
      expect(refused).toMatchObject({ status: 413, body: { error: { code: "TOO_MANY_RECIPIENTS" } } });
      expect(refused.body.error?.parameter).toBe("recipients");
      expect(await listed("bulk-too-many")).toEqual([]);
      const sent = await post({ recipients: recipients.slice(0, 1000) });
      expect(sent).toMatchObject({ status: 200, body: { totalCount: 1000 } });
      expect(await textOf(idsOf(sent)[999])).toContain(numbers[999]);
    });

    test("a duplicate number gets one message, unless its values differ", async () => {
      const [a = "", b = ""] = people(2);
      const { body } = await post({
        recipients: [plain(a), plain(b), plain(a), own(a, "1"), own(a, "2"), own(a, "1")],
      });
      expect(body.data.map(({ recipient }) => recipient)).toEqual([a, b, a, a].map((number) => `${plus}${number}`));
    });

    test("a malformed number among valid ones becomes a message that fails; with none valid the request fails", async () => {
      const sent = await post({ recipients: [plain(someone()), plain("12")] });
      expect(sent.status).toBe(200);
      const [, bad = ""] = idsOf(sent);
      expect(await server.message(bad)).toMatchObject({ status: "Failed", errCode: "INVALID_RECIPIENT", credits: 0 });
      const refused = await post({ recipients: [plain("12"), plain("abc")] });
      expect(refused).toMatchObject({ status: 400, body: { error: { code: "INVALID_RECIPIENT" } } });
      expect(refused.body.error?.details.map(({ parameter }) => parameter)).toEqual([
        `recipients[0].${field}`,
        `recipients[1].${field}`,
      ]);
    });

    test("recipients beside the single recipient are refused, and so is an empty list", async () => {
      const both = await post({ ...plain(someone()), recipients: [plain(someone())] });
      expect(both).toMatchObject({ status: 400, body: { error: { code: "INVALID_REQUEST", parameter: field } } });
      const none = await post({ recipients: [] });
      expect(none).toMatchObject({
        status: 400,
        body: { error: { code: "INVALID_REQUEST", parameter: "recipients" } },
      });
    });

    test("a fault of one recipient names it and refuses the request", async () => {
      const campaignName = `bulk-fault-${field}`;
      const { status, body } = await post({
        campaignName,
        recipients: [own(someone(), "a"), own(someone(), null as never)],
      });
      expect(status).toBe(400);
      expect(body.error?.parameter).toMatch(/^recipients\[1\]\.(content\[0\]|components\.body)\.params\[0\]$/);
      expect(await listed(campaignName)).toEqual([]);
    });

    test("sendAt holds single and bulk messages until their time", async () => {
      const sendAt = server.clock.now() + 30 * MINUTE_MS;
      const single = await post({ ...plain(someone()), sendAt });
      const bulk = await post({ recipients: people(2).map(plain), sendAt });
      const ids = [...idsOf(single), ...idsOf(bulk)];
      expect(ids).toHaveLength(3);
      for (const id of ids) expect(await server.message(id)).toMatchObject({ state: "scheduled", dueAt: sendAt });
      await server.travelTo(sendAt + 1000);
      await server.travel(5000);
      for (const id of ids) expect(await server.settled(id)).toMatchObject({ status: "Delivered" });
      const past = await post({ ...plain(someone()), sendAt: server.clock.now() - 1 });
      expect(past).toMatchObject({ status: 400, body: { error: { code: "INVALID_REQUEST", parameter: "sendAt" } } });
    });

    test("a repeated Idempotency-Key gets the first response and sends nothing", async () => {
      const headers = { "idempotency-key": `bulk ${path} ${engine}` };
      const body = { recipients: people(2).map(plain), campaignName: `bulk-once-${field}` };
      const first = await post(body, headers);
      const second = await post(body, headers);
      expect(second.body).toEqual(first.body);
      expect(second.headers.get("idempotent-replayed")).toBe("true");
      expect(await listed(body.campaignName)).toHaveLength(2);
    });

    test("a campaign holds its bulk messages while it is paused, and cancels them", async () => {
      const campaignName = `bulk-campaign-${field}`;
      const sendAt = server.clock.now() + 10 * MINUTE_MS;
      const ids = idsOf(await post({ recipients: people(2).map(plain), campaignName, sendAt }));
      expect(await changeCampaign(campaignName, "pause")).toBe(200);
      await server.travelTo(sendAt + MINUTE_MS);
      for (const id of ids) expect(await server.message(id)).toMatchObject({ state: "scheduled" });
      expect(await changeCampaign(campaignName, "cancel")).toBe(200);
      await server.travel(5000);
      for (const id of ids) expect(await server.message(id)).toMatchObject({ state: "cancelled", credits: 0 });
    });

    test("a request for more credits than the account has is refused as a whole", async () => {
      await server.request("PATCH", "/api/account", { credits: "metered", limits: "everywhere" });
      try {
        const campaignName = `bulk-unpaid-${field}`;
        const { status, body } = await post({ recipients: people(3).map(plain), campaignName });
        expect({ status, code: body.error?.code }).toEqual({ status: 402, code: "INSUFFICIENT_CREDITS" });
        expect(await listed(campaignName)).toEqual([]);
      } finally {
        expect(
          (await server.asOwner("PATCH", "/api/account", { credits: "unlimited", limits: "real carriers" })).status,
        ).toBe(200);
      }
    });
  });

  test("promotions to several recipients skip those that opted out", async () => {
    const [a = "", b = ""] = people(2);
    expect((await server.request("POST", "/api/optouts", { number: a })).status).toBeLessThan(300);
    const { body } = await server.request<Envelope>("POST", "/v1/rcs", {
      templateName: "bulk-order",
      botId: "bulk-bot",
      type: "PROMO",
      recipients: [{ number: `+${a}` }, { number: `+${b}` }],
    });
    const [out = "", sent = ""] = body.data.map(({ messageId }) => messageId);
    await server.travel(5000);
    expect(await server.message(out)).toMatchObject({ status: "Failed", errCode: "RECIPIENT_OPTED_OUT" });
    expect(await server.settled(sent)).toMatchObject({ status: "Delivered" });
  });

  test("free texts go to those recipients whose session is open", async () => {
    const [a = "", b = ""] = people(2);
    const from = "+15550100199";
    const reply = { channel: "chatapp", to: from, text: "Hello?" };
    expect(await server.request("POST", `/api/simulator/phones/${a}/reply`, reply)).toMatchObject({ status: 200 });
    const body = { from, type: "text", text: { body: "At your service." } };
    const answer = await server.request<Envelope>("POST", "/v1/chatapp", {
      ...body,
      recipients: [{ to: a }, { to: b }],
    });
    expect(answer.status).toBe(200);
    const [open = "", closed = ""] = answer.body.data.map(({ messageId }) => messageId);
    await server.travel(5000);
    expect(await server.settled(open)).toMatchObject({ status: "Delivered" });
    expect(await server.message(closed)).toMatchObject({ status: "Failed", errCode: "SESSION_CLOSED" });
    const later = { ...body, to: a, sendAt: server.clock.now() + 25 * 60 * MINUTE_MS };
    expect(await server.request("POST", "/v1/chatapp", later)).toMatchObject({
      status: 403,
      body: { error: { code: "SESSION_CLOSED" } },
    });
  });

  test("a media link of one recipient's own that does not fit refuses the request by its path", async () => {
    const header = { type: "image", image: { link: "https://shop.example/list.pdf" } };
    const { status, body } = await server.request<Envelope>("POST", "/v1/chatapp", {
      ...CHANNELS[1]?.common,
      recipients: [{ to: someone() }, { to: someone(), components: { body: { params: [] }, header } }],
    });
    expect(status).toBe(422);
    expect(body.error?.parameter).toBe("recipients[1].components.header.image.link");
  });

  test("a fallback holds for every recipient of a bulk RCS message", async () => {
    const numbers = ["15550107004", someone()];
    const { body } = await server.request<Envelope>("POST", "/v1/rcs", {
      templateName: "bulk-order",
      botId: "bulk-bot",
      type: "TRANS",
      recipients: numbers.map((number, index) => ({ number: `+${number}`, content: [{ params: [String(index)] }] })),
      fallback: { type: "sms", sender: "HELIOG", text: "As a text instead.", afterSeconds: 10 },
    });
    for (const { messageId } of body.data)
      expect(await server.stored(messageId)).toMatchObject({ content: { fallback: { sender: "HELIOG" } } });
  });
});
