import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, inject, test } from "vitest";
import { listBackups } from "../../src/backup/manifest.ts";
import { backup } from "../../src/cli/backup.ts";
import { hold, resume } from "../../src/cli/hold.ts";
import { restore } from "../../src/cli/restore.ts";
import { readConfig } from "../../src/config.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { startServer } from "../support/server-process.ts";
import {
  closeAll,
  codeOf,
  environment,
  openSmsc,
  Restartable,
  terminalOf,
  undo,
} from "../support/restartable-server.ts";

afterEach(closeAll);

const NUMBERS = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `1555010000${n}`);
const TOMORROW = "15550100009";

test("a backup that is restored after its messages were sent sends none of them again", async () => {
  const env = await environment("sqlite");
  const server = await new Restartable(env).start();
  // The SMSC answers nothing: the window of two is full, and the other messages wait.
  const { smsc, got } = await openSmsc({ silentPercent: 100 });
  await server.addCarrier(smsc.port, 2);
  await eventually(
    () => smsc.sessions,
    (sessions) => sessions === 1,
  );
  for (const number of NUMBERS) await server.send(number, { campaignName: "spring" });
  await server.send(TOMORROW, { sendAt: Date.now() + 86_400_000 });
  await eventually(
    () => got.length,
    (count) => count >= 2,
  );
  const folder = join(env["HELIOGRAPH_DATA_DIR"] ?? "", "backups");
  await backup(readConfig(env), [folder], {}, terminalOf().terminal);
  // After the backup everything is sent.
  smsc.setBehavior({ silentPercent: 0 });
  smsc.closeConnections();
  await eventually(
    () => NUMBERS.filter((number) => !got.includes(number)),
    (missing) => missing.length === 0,
  );
  await server.stop();
  const sentBefore = got.length;

  const dataDir = await mkdtemp(join(inject("scratchFolder"), "restored-"));
  const path = join(folder, listBackups(folder)[0] ?? "");
  const config = readConfig({ ...env, HELIOGRAPH_DATA_DIR: dataDir });
  expect(await restore(config, [path], {}, terminalOf().terminal)).toMatch(
    /with 9 messages; verified[\s\S]*held[\s\S]*resume/,
  );
  const restored = await new Restartable({ ...env, HELIOGRAPH_DATA_DIR: dataDir }).start();

  // Held: reads work, sends and one-time passwords do not, and no carrier is connected.
  const refusedSend = await restored.send("15550100010");
  expect([refusedSend.status, codeOf(refusedSend)]).toEqual([503, "SERVICE_HELD"]);
  const validate = { verifyId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47", otp: "482913" };
  const refusedCheck = await restored.request("POST", "/v1/verify/validate", validate);
  expect([refusedCheck.status, codeOf(refusedCheck)]).toEqual([503, "SERVICE_HELD"]);
  expect((await restored.messages()).length).toBe(NUMBERS.length + 1);
  expect(await restored.request("GET", "/readyz")).toEqual({ status: 200, body: { status: "held" } });
  const { body: account } = await restored.request<{ warnings: { code: string }[] }>("GET", "/api/account");
  expect(account.warnings.map(({ code }) => code)).toEqual(["SERVICE_HELD"]);
  const metrics = await (await fetch(`${restored.app?.url}/metrics`)).text();
  expect(metrics).toContain("heliograph_held 1");
  expect(smsc.sessions).toBe(0);
  // A restart changes nothing.
  await restored.stop();
  await restored.start();
  expect(codeOf(await restored.send("15550100010"))).toBe("SERVICE_HELD");

  // Without a terminal and without flags nothing is decided.
  const { terminal, lines } = terminalOf();
  await expect(resume(config, [], {}, terminal)).rejects.toThrow("--waiting send or --waiting drop");
  const listed =
    /Waiting at[^\n]*: (\d+)\n {2}TRANS, campaign spring: \1\nBeing submitted[^\n]*: (\d+)\n[^\n]*\nScheduled[^\n]*: 1/;
  const [waiting = 0, inDoubt = 0] = (listed.exec(lines.join("\n")) ?? []).slice(1).map(Number);
  expect(waiting + inDoubt).toBe(NUMBERS.length);
  expect(waiting).toBeGreaterThan(0);
  expect(inDoubt).toBeGreaterThan(1);
  await expect(resume(config, [], { waiting: "maybe" }, terminal)).rejects.toThrow("--waiting is one of send, drop");
  expect(await resume(config, [], { waiting: "drop", "in-doubt": "drop" }, terminal)).toContain("Resumed");
  await eventually(
    () => restored.holdChanges,
    (changes) => changes === 1,
  );
  await restored.stop();
  await restored.start();
  await eventually(
    () => smsc.sessions,
    (sessions) => sessions === 1,
  );
  expect((await restored.send("15550100011")).status).toBe(200);
  await eventually(
    () => got,
    (numbers) => numbers.includes("15550100011"),
  );
  expect(got.length).toBe(sentBefore + 1);
  const messages = await restored.messages();
  const dropped = messages.filter(({ errCode }) => errCode === "DROPPED_AFTER_RESTORE");
  expect(dropped.map(({ recipient }) => recipient).toSorted()).toEqual(NUMBERS);
  expect(dropped.filter(({ state }) => state === "expired").length).toBe(waiting);
  expect(dropped.filter(({ state }) => state === "unknown").length).toBe(inDoubt);
  expect(messages.find(({ recipient }) => recipient === TOMORROW)?.state).toBe("scheduled");
});

describe("restore", () => {
  /** A backup of a server that has started once. */
  async function backedUp(): Promise<{ env: Record<string, string>; path: string }> {
    const env = await environment("sqlite");
    const server = await new Restartable(env).start();
    await server.stop();
    const folder = join(env["HELIOGRAPH_DATA_DIR"] ?? "", "backups");
    await backup(readConfig(env), [folder], {}, terminalOf().terminal);
    return { env, path: join(folder, listBackups(folder)[0] ?? "") };
  }
  const emptyDir = (): Promise<string> => mkdtemp(join(inject("scratchFolder"), "restored-"));

  test("changes nothing where the backup is not whole, the passphrase is wrong, or a database is there", async () => {
    const { env, path } = await backedUp();
    const dataDir = await emptyDir();
    const into = (target: string, given: Record<string, string> = {}, from = path): Promise<string> =>
      restore(readConfig({ ...env, ...given }), [from], { "data-dir": target }, terminalOf().terminal);
    await expect(into(env["HELIOGRAPH_DATA_DIR"] ?? "")).rejects.toThrow(/heliograph\.db exists.*nothing was restored/);
    await expect(into(dataDir, {}, join(path, ".."))).rejects.toThrow(`BACKUP is one backup, such as ${path}`);
    await expect(into(dataDir, { HELIOGRAPH_BACKUP_PASSPHRASE: "another passphrase" })).rejects.toThrow(
      "passphrase is wrong",
    );
    await expect(into(dataDir, { HELIOGRAPH_MASTER_KEY: "another master key" })).rejects.toThrow("another master key");
    const file = join(path, "heliograph.db");
    const whole = readFileSync(file);
    chmodSync(file, 0o600);
    writeFileSync(file, whole.subarray(0, -1));
    await expect(into(dataDir)).rejects.toThrow("its SHA-256 differs");
    writeFileSync(file, whole);
    const running = await new Restartable({ ...env, HELIOGRAPH_DATA_DIR: await emptyDir() }).start();
    await expect(into(running.env["HELIOGRAPH_DATA_DIR"] ?? "")).rejects.toThrow("in use by another process");
    await running.stop();
    expect(await into(dataDir)).toContain("0 messages; verified");
    // The restored key opens the restored database.
    const restored = await new Restartable({ ...env, HELIOGRAPH_DATA_DIR: dataDir }).start();
    expect((await restored.request("GET", "/api/account")).status).toBe(200);
  });
});

describe.each(ENGINES)("hold on %s", (engine) => {
  test("stops a running service, and a resumed one sends what waited once", async () => {
    const env = await environment(engine);
    const config = readConfig(env);
    const server = await new Restartable(env).start();
    const port = await freePort();
    await server.addCarrier(port, 50);
    await server.send("15550100001", { type: "OTP" });
    expect(await hold(config)).toMatch(/is held[\s\S]*within seconds/);
    expect(await hold(config)).toBe("The service is held already.");
    await eventually(
      () => server.holdChanges,
      (changes) => changes === 1,
    );
    expect(codeOf(await server.send("15550100002"))).toBe("SERVICE_HELD");
    await server.stop();
    await server.start();
    const { smsc, got } = await openSmsc({}, port);
    const { terminal } = terminalOf();
    expect(codeOf(await server.send("15550100002"))).toBe("SERVICE_HELD");
    await server.stop();
    expect(await resume(config, [], { waiting: "send" }, terminal)).toContain("The next start carries this out");
    expect(smsc.sessions).toBe(0);
    await server.start();
    await eventually(
      () => server.holdChanges,
      (changes) => changes === 2,
    );
    await server.stop();
    expect(await resume(config, [], {}, terminal)).toBe("The service is not held.");
    await server.start();
    await eventually(
      () => got,
      (numbers) => numbers.length > 0,
    );
    expect(got).toEqual(["15550100001"]);
  });
});

test.each(ENGINES)(
  "resume lists each message of the backup and takes choices for single ones and campaigns, on %s",
  async (engine) => {
    const env = await environment(engine);
    const config = readConfig(env);
    const server = await new Restartable(env).start();
    // Without a carrier that is up, everything waits.
    const port = await freePort();
    await server.addCarrier(port, 50);
    for (const [index, campaignName] of ["spring", "spring", "autumn", undefined].entries())
      await server.send(`1555010010${index}`, campaignName === undefined ? {} : { campaignName });
    await hold(config);
    await eventually(
      () => server.holdChanges,
      (changes) => changes === 1,
    );
    await server.stop();

    const { terminal, lines } = terminalOf();
    expect(await resume(config, [], { list: true, json: true }, terminal)).toBe("]");
    const listed = JSON.parse(`${lines.join("")}]`) as {
      messageId: string;
      recipient: string;
      campaign: string | null;
    }[];
    expect(listed.map(({ recipient, campaign }) => [recipient, campaign])).toEqual([
      [expect.stringMatching(/^\*+0100$/), "1:spring"],
      [expect.stringMatching(/^\*+0101$/), "1:spring"],
      [expect.stringMatching(/^\*+0102$/), "1:autumn"],
      [expect.stringMatching(/^\*+0103$/), null],
    ]);
    expect(listed[0]).toMatchObject({ group: "waiting", type: "TRANS", channel: "sms", state: "accepted" });
    lines.length = 0;
    expect(await resume(config, [], { list: true }, terminal)).toContain("Columns: message id, group");
    expect(lines).toHaveLength(4);
    expect(lines.join()).not.toContain("15550100100");

    const [first, , , last] = listed.map(({ messageId }) => messageId);
    const refused = (options: Parameters<typeof resume>[2]): Promise<string> =>
      resume(config, [], { waiting: "drop", ...options }, terminal).catch((error: Error) => error.message);
    const unknown = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1";
    expect(await refused({ drop: ["all"] })).toContain("--drop all: not a message id");
    expect(await refused({ drop: [unknown] })).toContain(`--drop ${unknown}: no such message waits`);
    expect(await refused({ "send-campaign": ["winter"] })).toContain("--send-campaign winter: no message of it waits");
    expect(await refused({ send: [first ?? ""], drop: [first ?? ""] })).toContain("is named twice");
    const exceptions = {
      drop: [first ?? ""],
      send: [last ?? ""],
      "send-campaign": ["spring"],
      "drop-campaign": ["1:autumn"],
    };
    // Every message has a choice, so the groups need none.
    expect(await resume(config, [], exceptions, terminal)).toContain("The next start carries this out");
    await server.start();
    await eventually(
      () => server.holdChanges,
      (changes) => changes === 2,
    );
    await server.stop();
    const { got } = await openSmsc({}, port);
    await server.start();
    await eventually(
      () => got.toSorted(),
      (numbers) => numbers.length >= 2,
    );
    expect(got.toSorted()).toEqual(["15550100101", "15550100103"]);
  },
);

test("a server process follows a hold and its end by itself", async () => {
  const HELIOGRAPH_PORT = String(await freePort());
  const server = await startServer({ env: { HELIOGRAPH_PORT } });
  undo.push(() => server.cleanup());
  const config = readConfig({ HELIOGRAPH_DATA_DIR: server.dataDir });
  const readiness = async (): Promise<string> => {
    try {
      const response = await fetch(`${server.baseUrl}/readyz`);
      return ((await response.json()) as { status: string }).status;
    } catch {
      return "down";
    }
  };
  await hold(config);
  await eventually(readiness, (status) => status === "held");
  await resume(config, [], {}, terminalOf().terminal);
  await eventually(readiness, (status) => status === "ready");
  expect(await server.kill("SIGTERM")).toEqual({ code: 0, signal: null });
});
