import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { canTestWith, debianSmtp } from "../support/programmes.ts";
import { openSink, type Sink } from "../support/sink.ts";
import { startSmtpServer, type SmtpTestServer } from "../support/smtp-server.ts";
import { startTestServer, type ErrorBody, type TestServer } from "../support/test-server.ts";

interface AlertBody {
  id: string;
  alert: string;
  rule: string;
  state: string;
  value: number;
  threshold: number;
  description: string;
  acknowledgedBy: string | null;
  mutedUntil: number | null;
}

interface RuleBody {
  id: string | null;
  name: string;
  alert: string;
  threshold: number;
  enabled: boolean;
  usual: boolean;
}

const hasSmtp = canTestWith(debianSmtp(), "python3-aiosmtpd");

describe.each(ENGINES)("alerts on %s", (engine) => {
  let server: TestServer;
  let sink: Sink;
  let smtp: SmtpTestServer | null = null;
  beforeAll(async () => {
    server = await startTestServer(engine);
    sink = await openSink();
    if (hasSmtp) smtp = await startSmtpServer({ login: ["heliograph", "secret"] });
    await server.request("POST", "/api/webhooks", {
      name: "Alerts",
      channel: "system",
      url: sink.url,
      events: ["alert_status"],
    });
    const email = { host: "localhost", port: smtp?.port ?? 1, ca: smtp?.ca ?? null };
    const login = { username: "heliograph", password: "secret" };
    await server.request("POST", "/api/carriers", { name: "mail", adapter: "email", email: { ...email, ...login } });
    const alertEmail = { carrier: "mail", from: "Alerts <alerts@example.com>", to: ["ada@example.com"] };
    await server.asOwner("PATCH", "/api/account", { credits: "metered", alertEmail });
  });
  afterAll(async () => {
    await server?.close();
    await sink?.close();
    await smtp?.close();
  });

  const list = async (query = ""): Promise<AlertBody[]> =>
    (await server.request<{ data: AlertBody[] }>("GET", `/api/alerts${query}`)).body.data;
  const events = (): Record<string, unknown>[] => sink.received.map(({ body }) => body as Record<string, unknown>);
  const topUp = (amount: number) => server.asOwner("POST", "/api/credits", { amount, note: "alerts" });

  test("an alert opens and resolves once, with an event, and an e-mail where the account has addresses", async () => {
    const [opened] = await eventually(
      () => list("?state=open"),
      (alerts) => alerts.length > 0,
    );
    expect(opened).toMatchObject({ alert: "credits_low", rule: "Credits low", value: 0, threshold: 1000 });
    expect(opened?.description).toBe("0 credits are left, below 1000.");
    await topUp(1050);
    await eventually(events, (seen) => seen.length === 1);
    expect(events()).toMatchObject([
      { channel: "system", event: "alert_status", alertId: opened?.id, status: "open", alert: "credits_low", value: 0 },
    ]);
    await topUp(1000);
    await eventually(
      () => list("?state=resolved"),
      (alerts) => alerts.length > 0,
    );
    await eventually(events, (seen) => seen.length === 2);
    expect(events()[1]).toMatchObject({ alertId: opened?.id, status: "resolved" });
    expect(await list()).toHaveLength(1);
    const { body } = await server.request<{ data: { event: string }[] }>("GET", "/v1/events");
    expect(body.data.map(({ event }) => event)).toEqual(["alert_status", "alert_status"]);
    const tests = await server.request<{ data: unknown[] }>("GET", "/v1/events", undefined, { apikey: server.testKey });
    expect(tests.body.data).toEqual([]);
  });

  test.runIf(hasSmtp)("an e-mail names the alert and its account's sender", async () => {
    const mails = await eventually(
      () => smtp?.received ?? [],
      (received) => received.length >= 2,
    );
    expect(mails.map(({ to }) => to)).toEqual([["ada@example.com"], ["ada@example.com"]]);
    expect(mails[0]?.data).toContain("Subject: [Heliograph] Alert: Credits low");
    expect(mails[1]?.data).toContain("Subject: [Heliograph] Resolved: Credits low");
    expect(mails[0]?.data).toContain("/operations/alerts");
  });

  test("a muted alert sends nothing, nor does the next one of its rule", async () => {
    const [first] = await list();
    const muted = await server.request<AlertBody>("POST", `/api/alerts/${first?.id ?? ""}/mute`, { minutes: 60 });
    expect(muted.body.mutedUntil).toBeGreaterThan(Date.now());
    const before = sink.received.length;
    await topUp(-2000);
    const [second] = await eventually(
      () => list("?state=open"),
      (alerts) => alerts.length > 0,
    );
    expect(second?.mutedUntil).toBe(muted.body.mutedUntil);
    const acknowledged = await server.asOwner<AlertBody>("POST", `/api/alerts/${second?.id ?? ""}/acknowledge`);
    expect(acknowledged.body.acknowledgedBy).toContain("@");
    // A rule of the account replaces the usual one, whose alert resolves.
    const rule = { name: "No credit alert", alert: "credits_low", enabled: false };
    expect((await server.request("POST", "/api/alert-rules", rule)).status).toBe(201);
    await eventually(
      () => list("?state=open"),
      (alerts) => alerts.length === 0,
    );
    expect(sink.received).toHaveLength(before);
  });

  test("the rules that apply are the account's own, and the usual ones of all other alerts", async () => {
    const { body } = await server.request<{ data: RuleBody[] }>("GET", "/api/alerts/rules");
    expect(body.data).toHaveLength(8);
    expect(body.data.filter(({ usual }) => !usual)).toMatchObject([{ name: "No credit alert", enabled: false }]);
    expect(body.data.find(({ alert }) => alert === "carrier_down")).toMatchObject({ id: null, threshold: 2 });
  });

  test("a threshold outside the limits of its alert is refused with its limits", async () => {
    const create = async (rule: object): Promise<ErrorBody> =>
      (await server.request<{ error: ErrorBody }>("POST", "/api/alert-rules", { name: "rate", ...rule })).body.error;
    expect(await create({ alert: "delivery_rate", threshold: 101 })).toMatchObject({
      parameter: "threshold",
      message: "threshold of delivery_rate must be 1 to 100 percent.",
    });
    expect(await create({ alert: "endpoint_disabled", threshold: 1 })).toMatchObject({ parameter: "threshold" });
    expect((await create({ alert: "weather" })).parameter).toBe("alert");
  });
});
