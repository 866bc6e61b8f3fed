import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLogin, queryText } from "../support/credential.ts";
import { readShellBlocks } from "../support/doc-page.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { KANNEL_USER, startKannel, type Kannel } from "../support/kannel.ts";
import { openSink, type Sink } from "../support/sink.ts";
import { startTestServer, type MessageBody, type TestServer } from "../support/test-server.ts";

let phones = 15_550_190_000;
const nextPhone = (): string => String((phones += 1));

describe.each(ENGINES)("a real Kannel as client of sendsms on %s", (engine) => {
  let server: TestServer;
  let kannel: Kannel;
  let sink: Sink;
  let [credentialId, username, password] = ["", "", ""];

  beforeAll(async () => {
    server = await startTestServer(engine);
    ({ id: credentialId, username, password } = await createLogin(server, "kannel"));
    sink = await openSink();
    kannel = await startKannel({
      smsc: { sendUrl: `${server.url}/cgi-bin/sendsms`, username, password },
      getUrl: `${sink.url}/inbound?from=%p&to=%P&text=%b`,
    });
  });
  afterAll(async () => {
    await kannel?.stop();
    await sink?.close();
    await server?.close();
  });

  /** Sends through Kannel's own sendsms, as the customer's programs go on doing. */
  async function send(to: string, more: Record<string, string>): Promise<void> {
    const dlr = { "dlr-mask": "27", "dlr-url": `${sink.url}/${to}?type=%d&to=%p` };
    const query = queryText({ ...KANNEL_USER, from: "ACME", to, ...dlr, ...more });
    const response = await fetch(`${kannel.baseUrl}/cgi-bin/sendsms?${query}`);
    expect([response.status, await response.text()]).toEqual([202, "0: Accepted for delivery"]);
  }
  const arrived = (to: string) =>
    eventually(
      async () => (await server.onPhone(to))[0],
      (message) => message !== undefined,
    );
  const reportOf = (to: string, type: string) =>
    eventually(
      () => sink.received.find(({ path }) => path.startsWith(`/${to}?type=${type}&`)),
      (report) => report !== undefined,
    );

  test.each([
    ["an ordinary text", { text: "Hello @ €5 & more = 100%?" }, { text: "Hello @ €5 & more = 100%?", flash: false }],
    ["Unicode", { text: "नमस्ते ✓", coding: "2", charset: "UTF-8" }, { text: "नमस्ते ✓", encoding: "ucs2" }],
    ["a flash message", { text: "Taxi", mclass: "0" }, { text: "Taxi", flash: true }],
    ["a long text, which Kannel leaves whole", { text: "x".repeat(400) }, { text: "x".repeat(400) }],
  ])("%s arrives, and its delivery report comes back through Kannel", async (_, more, expected) => {
    const to = nextPhone();
    await send(to, more);
    expect(await arrived(to)).toMatchObject({ sender: "ACME", ...expected });
    const report = await reportOf(to, "1");
    expect(new URL(report?.path ?? "", sink.url).searchParams.get("to")).toBe(to);
  });

  test("a message that the phone never gets is reported as failed", async () => {
    await send("15550109002", { text: "Hello" });
    expect((await reportOf("15550109002", "2"))?.method).toBe("GET");
  });

  test("the acceptance by the carrier comes back through Kannel before the delivery", async () => {
    const to = nextPhone();
    await send(to, { text: "Hello", "dlr-mask": "31" });
    await reportOf(to, "1");
    const types = sink.received
      .filter(({ path }) => path.startsWith(`/${to}?`))
      .map(({ path }) => new URL(path, sink.url).searchParams.get("type"));
    expect(types).toContain("8");
    expect(types.indexOf("8")).toBeLessThan(types.indexOf("1"));
  });

  test("a message that we refuse is reported as refused by the SMSC", async () => {
    // Kannel's HTTP connection gives a message up when its peer answers with an error.
    await send("12", { text: "Hello" });
    expect((await reportOf("12", "16"))?.method).toBe("GET");
  });

  test("Kannel passes on when a message is due and how long it is valid", async () => {
    const to = nextPhone();
    await send(to, { text: "Later", deferred: "60", validity: "120" });
    const [message] = await eventually(
      async () => (await server.request<{ data: MessageBody[] }>("GET", `/v1/messages?recipient=${to}`)).body.data,
      ({ length }) => length === 1,
    );
    expect(message?.dueAt).toBeGreaterThan(Date.now() + 55 * 60_000);
    const [requestId = ""] = message?.messageId.split(":") ?? [];
    const stored = await server.app.store.findMessage({ accountId: 1, requestId, n: 1 });
    expect(Math.abs((stored?.expiresAt ?? 0) - (message?.dueAt ?? 0) - 120 * 60_000)).toBeLessThan(120_000);
  });

  test("an inbound message goes through Kannel to its sms-service", async () => {
    const getUrl = `${kannel.receiveUrl}/?${queryText({ username, password })}&from=%p&to=%P&text=%b&charset=UTF-8&coding=0`;
    const settings = { services: [{ keyword: "default", getUrl, maxMessages: 0 }] };
    expect((await server.request("PATCH", `/api/credentials/${credentialId}`, { settings })).status).toBe(200);
    const phone = nextPhone();
    await server.request("POST", `/api/simulator/phones/${phone}/reply`, {
      channel: "sms",
      to: "ACME",
      text: "Hello €",
    });
    const received = await eventually(
      () => sink.received.find(({ path }) => path.startsWith("/inbound?")),
      (each) => each !== undefined,
    );
    const fields = new URL(received?.path ?? "", sink.url).searchParams;
    expect(Object.fromEntries(fields)).toMatchObject({ from: `+${phone}`, to: "ACME", text: "Hello €" });
    await server.request("PATCH", `/api/credentials/${credentialId}`, { settings: { services: null } });
  });

  test("the comparison of the migration guide finds no difference", async () => {
    const blocks = await readShellBlocks(join(import.meta.dirname, "../../docs/kannel.md"));
    const script = blocks.find(({ script: each }) => each.includes("compare.sh"))?.script ?? "";
    const folder = await mkdtemp(join(tmpdir(), "heliograph-compare-"));
    const env = { ...process.env, URL: server.url, KANNEL_USER: username, KANNEL_PASSWORD: password };
    const run = promisify(execFile);
    try {
      await run("sh", ["-c", script], { cwd: folder, env });
      const theirs = [kannel.baseUrl, KANNEL_USER.username, KANNEL_USER.password];
      const { stdout } = await run("sh", ["compare.sh", ...theirs], { cwd: folder });
      expect(stdout.trim().split("\n")).toHaveLength(13);
      expect(await readFile(join(folder, "heliograph.txt"), "utf8")).toBe(stdout);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
