import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { openSink, type ReceivedRequest, type Sink } from "../support/sink.ts";
import { startTestServer, type Answer, type ErrorBody, type TestServer } from "../support/test-server.ts";

interface EndpointBody {
  id: string;
  constantHeaders: { name: string; value: null }[];
}

interface EventBody {
  channel: string;
  event: string;
  /** Fields of a delivery report. */
  status?: string;
  statuses?: { status: string };
}

interface Trial {
  request: { headers: Record<string, string> };
}

const SECRET = "Bearer 3f9a17c2";
const AUTHORIZATION = { name: "Authorization", value: SECRET };
const RCS = { botId: "heliograph", templateName: "new-arrivals", type: "TRANS" };

const faultsOf = ({ body }: Answer<unknown>): string[] =>
  (body as { error: ErrorBody }).error.details.map(({ parameter }) => parameter);

describe.each(ENGINES)("endpoints of several channels on %s", (engine) => {
  let server: TestServer;
  let sink: Sink;
  beforeAll(async () => {
    server = await startTestServer(engine);
    sink = await openSink();
  });
  afterAll(async () => {
    await server?.close();
    await sink?.close();
  });
  let path = "";
  let numbers = 0;
  beforeEach(() => {
    numbers += 1;
    path = `/${numbers}`;
  });

  const make = async (kind: "webhooks" | "dlr-configs", fields: object): Promise<EndpointBody> => {
    const given = { name: `endpoint ${numbers}`, url: sink.url + path, ...fields };
    const { status, body } = await server.request<EndpointBody>("POST", `/api/${kind}`, given);
    expect([status, body]).toMatchObject([201, {}]);
    return body;
  };
  const received = (): ReceivedRequest[] => sink.received.filter((each) => each.path.split("?")[0] === path);
  const eventsOf = (): string[] =>
    received().map(({ body }) => {
      const { channel, event, status, statuses } = body as EventBody;
      return `${channel} ${event} ${status ?? statuses?.status ?? ""}`;
    });

  test("a webhook of several channels receives the events of each", async () => {
    await make("webhooks", { channels: ["rcs", "sms"], events: ["message_status", "delivery_report"] });
    await server.send({ to: "15550100100" });
    await server.request("POST", "/v1/rcs", { ...RCS, number: "+15550100100" });
    const events = await eventually(
      () => Promise.resolve(eventsOf()),
      (all) => ["sms delivery_report Delivered", "rcs message_status delivered"].every((each) => all.includes(each)),
    );
    expect(events.filter((each) => each.startsWith("sms"))).toEqual(["sms delivery_report Delivered"]);
    const report = received().find(({ body }) => (body as { channel: string }).channel === "sms");
    expect(report?.body).toMatchObject({
      sender: "HELIOG",
      event: "delivery_report",
      mobileNumber: "15550100100",
      gatewayName: "simulator",
      errCode: "000",
      userPhoneNumber: "+15550100100",
    });
  });

  test("a webhook of both channels gets the result of a fallback once, for the requested channel", async () => {
    await make("webhooks", { channels: ["rcs", "sms"], events: ["message_status", "delivery_report"] });
    const fallback = { type: "sms", sender: "SHOP", text: "On its way" };
    await server.request("POST", "/v1/rcs", { ...RCS, number: "+15550109009", fallback });
    await eventually(
      () => Promise.resolve(eventsOf()),
      (all) => all.includes("rcs message_status delivered"),
    );
    // A later message shows that nothing else was waiting.
    await server.send({ to: "15550100101" });
    await eventually(
      () => Promise.resolve(eventsOf()),
      (all) => all.includes("sms delivery_report Delivered"),
    );
    expect(eventsOf().filter((each) => each.endsWith("elivered"))).toEqual([
      "rcs message_status delivered",
      "sms delivery_report Delivered",
    ]);
    expect(received().map(({ body }) => (body as { deliveryChannel?: string }).deliveryChannel)).toContain("sms");
  });

  test("channel alone still means one channel, and a change of channels checks the events again", async () => {
    const { id } = await make("webhooks", { channel: "rcs", events: ["message_status"] });
    const change = (fields: object) => server.request<object>("PATCH", `/api/webhooks/${id}`, fields);
    expect((await change({ channels: ["verify", "rcs"] })).body).toMatchObject({
      channel: "rcs",
      channels: ["rcs", "verify"],
    });
    expect((await change({ name: `kept ${numbers}` })).body).toMatchObject({ channels: ["rcs", "verify"] });
    expect(faultsOf(await change({ channel: "sms" }))).toEqual(["events[0]"]);
    expect(faultsOf(await change({ channel: "sms", channels: ["rcs"] }))).toEqual(["channel"]);
    expect(faultsOf(await change({ channels: [] }))).toEqual(["channels"]);
    expect((await change({ channel: "rcs" })).body).toMatchObject({ channels: ["rcs"] });
  });

  test("constant headers are sent with every request, stored encrypted and never returned", async () => {
    const made = await make("webhooks", {
      channels: ["sms"],
      events: ["delivery_report"],
      constantHeaders: [AUTHORIZATION],
    });
    expect(made.constantHeaders).toEqual([{ name: "Authorization", value: null }]);
    await server.send({ to: "15550100102" });
    await eventually(
      () => Promise.resolve(received()),
      ({ length }) => length === 1,
    );
    const one = `/api/webhooks/${made.id}`;
    const trial = await server.request<Trial>("POST", `${one}/test`, {});
    expect(received().map(({ headers }) => headers.authorization)).toEqual([SECRET, SECRET]);
    const { body: listed } = await server.request<{ data: { id: string }[] }>(
      "GET",
      `/api/callbacks?endpointId=${made.id}`,
    );
    const shown = [
      trial.body,
      (await server.request("GET", `${one}/preview`)).body,
      (await server.request("GET", one)).body,
      (await server.request("GET", `/api/callbacks/${listed.data[0]?.id}`)).body,
      (await server.request("GET", "/api/config")).body,
    ];
    expect(JSON.stringify(shown)).not.toContain("3f9a17c2");
    expect(trial.body.request.headers["Authorization"]).toBe("***");
    const stored = (await server.app.store.listCatalog()).find(({ id }) => id === made.id);
    expect(JSON.stringify(stored)).toContain("constantHeaders");
    expect(JSON.stringify(stored)).not.toContain("3f9a17c2");
  });

  test("a stored header value goes to its own host only, also through a configuration file", async () => {
    const { id } = await make("dlr-configs", { constantHeaders: [AUTHORIZATION] });
    const change = (fields: object) => server.request<EndpointBody>("PATCH", `/api/dlr-configs/${id}`, fields);
    const kept = [{ name: "authorization" }];
    const elsewhere = "http://127.0.0.1:9/";
    expect(faultsOf(await change({ url: elsewhere }))).toEqual(["constantHeaders[0].value"]);
    expect(faultsOf(await change({ url: elsewhere, constantHeaders: kept }))).toEqual(["constantHeaders[0].value"]);
    const file = { name: `endpoint ${numbers}`, url: elsewhere, constantHeaders: kept };
    expect(faultsOf(await server.request("PUT", "/api/config", { "dlr-configs": [file] }))).toEqual([
      "dlr-configs[0].constantHeaders[0].value",
    ]);
    expect((await change({ url: `${sink.url + path}?moved`, constantHeaders: kept })).status).toBe(200);
    await server.request("POST", `/api/dlr-configs/${id}/test`);
    expect(received()[0]?.headers.authorization).toBe(SECRET);
    expect((await change({ constantHeaders: [] })).body.constantHeaders).toEqual([]);
    await server.request("POST", `/api/dlr-configs/${id}/test`);
    expect(received()[1]?.headers.authorization).toBeUndefined();
  });

  test("constant headers that could break or forge a request are refused with their place", async () => {
    const wrong = [
      { name: "Host", value: "internal" },
      { name: "webhook-signature", value: "v1,x" },
      { name: "X-A", value: "a\r\nX-B: 1" },
      { name: "X-C", value: " padded" },
      { name: "X-D" },
      { name: "x-d", value: "again" },
      { name: "X-Id", value: "same as the pair" },
    ];
    const given = { name: "wrong", url: sink.url, headers: [{ key: "X-Id", value: "{{messageId}}" }] };
    const answer = await server.request("POST", "/api/dlr-configs", { ...given, constantHeaders: wrong });
    expect(faultsOf(answer)).toEqual([
      "constantHeaders[0].name",
      "constantHeaders[1].name",
      "constantHeaders[2].value",
      "constantHeaders[3].value",
      "constantHeaders[4].value",
      "constantHeaders[5].name",
      "constantHeaders[6].name",
    ]);
  });

  test.each(["POST", "GET"])(
    "fields of a report by %s have their own names and leave the headers alone",
    async (method) => {
      const fields = [
        { name: "id", value: "{{messageId}}" },
        { name: "state", value: "{{status}}" },
        { name: "source", value: "helio & graph" },
      ];
      const headers = [{ key: "X-To", value: "{{mobileNumber}}" }];
      const { id } = await make("dlr-configs", { method, fields, headers });
      const { body } = await server.send({ to: "15550100103" });
      await eventually(
        () => Promise.resolve(received()),
        ({ length }) => length === 1,
      );
      const [request] = received();
      const report =
        method === "POST" ? request?.body : Object.fromEntries(new URL(request?.path ?? "", sink.url).searchParams);
      expect(report).toEqual({ id: body.data[0]?.messageId, state: "Delivered", source: "helio & graph" });
      expect(request?.headers["x-to"]).toBe("15550100103");
      const change = (next: object) => server.request<object>("PATCH", `/api/dlr-configs/${id}`, next);
      expect(faultsOf(await change({ fields: [] }))).toEqual(["fields"]);
      const twice = [...fields, { name: "id", value: "x" }, { name: "1st", value: "{{nothing}}" }];
      expect(faultsOf(await change({ fields: twice }))).toEqual(["fields[4].name", "fields[4].value"]);
      expect((await change({ fields: null })).body).toMatchObject({ fields: null, headers });
      await change({ enabled: false });
    },
  );
});
