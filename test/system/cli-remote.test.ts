import { execFile, spawn } from "node:child_process";
import { mkdtemp, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { COMMANDS } from "../../src/cli/commands.ts";
import { completionFor } from "../../src/cli/completion.ts";
import { nearestOption } from "../../src/cli/nearest-command.ts";
import { COMMAND_LINE } from "../support/entries.ts";
import { eventually } from "../support/eventually.ts";
import { openSink } from "../support/sink.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

const NUMBER = "15550100100";

describe("commands that talk to a server", () => {
  let server: TestServer;
  let home: string;
  const environment = (): NodeJS.ProcessEnv => ({ PATH: process.env["PATH"], XDG_CONFIG_HOME: home });
  const heliograph = (...args: string[]): Promise<Outcome> =>
    new Promise((resolve) => {
      const options = { env: environment() };
      execFile(process.execPath, [COMMAND_LINE, ...args], options, (error, stdout, stderr) =>
        resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
      );
    });
  /** With the server's address and key. */
  const ask = (...args: string[]): Promise<Outcome> => heliograph(...args, "--url", server.url, "--key", server.key);
  const read = async (...args: string[]): Promise<unknown> => JSON.parse((await ask(...args, "--json")).stdout);

  beforeAll(async () => {
    server = await startTestServer("sqlite");
  });
  beforeEach(async () => {
    home = await mkdtemp(join(inject("scratchFolder"), "profiles-"));
  });
  afterAll(() => server.close());

  test("a profile keeps address and key in a file that only its user can read, and is used until another is", async () => {
    const added = await heliograph("profile", "add", "local", "--url", `${server.url}/`, "--key", server.key);
    expect(added).toMatchObject({ code: 0, stdout: `Commands now talk to ${server.url} as local.\n` });
    const file = join(home, "heliograph/profiles.json");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await heliograph("send", NUMBER, "Hello")).toMatchObject({ code: 0, stderr: "" });
    const { stdout } = await heliograph("profile", "list");
    expect(stdout).toContain(`*  local  ${server.url}`);
    expect(stdout).not.toContain(server.key);
    expect(await heliograph("profile", "use", "elsewhere")).toMatchObject({
      code: 2,
      stderr: "heliograph: there is no profile elsewhere: there are local\n",
    });
    await heliograph("profile", "remove", "local");
    expect((await heliograph("send", NUMBER, "Hello")).stderr).toContain("give an API key as --key");
  });

  test("a profile whose key the server does not know is not kept, and a broken file is named", async () => {
    const wrong = await heliograph("profile", "add", "local", "--url", server.url, "--key", "hg_live_wrong");
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("(UNAUTHORIZED)") });
    expect((await heliograph("profile", "list")).stdout).toBe("There is no profile.\n");
    await heliograph("profile", "add", "local", "--url", server.url, "--key", server.key);
    const file = join(home, "heliograph/profiles.json");
    await writeFile(file, "[]");
    expect((await heliograph("send", NUMBER, "Hello")).stderr).toBe(
      `heliograph: ${file} is no file of profiles: remove it, and add the profiles again\n`,
    );
  });

  test("the key of a profile goes to no other address", async () => {
    await heliograph("profile", "add", "local", "--url", server.url, "--key", server.key);
    const sink = await openSink();
    const { stderr } = await heliograph("send", NUMBER, "Hello", "--url", sink.url);
    expect(stderr).toContain("give an API key as --key");
    await sink.close();
  });

  test("send prints the message ids, and with --wait the final state of each", async () => {
    const { stdout } = await ask("send", NUMBER, "Hello", "there");
    const [, messageId = ""] = /15550100100 +(\S+:1)$/m.exec(stdout) ?? [];
    const message = await server.message(messageId);
    expect(message).toMatchObject({ recipient: NUMBER });
    const waited = await ask("send", `${NUMBER},15550109001`, "Hello", "--wait");
    expect(waited.code).toBe(1);
    expect(waited.stdout).toMatch(/^15550100100 .* Delivered .*\n15550109001 .* Failed /m);
  });

  test("a refusal names the field and ends with exit code 2, and an absent server with 1", async () => {
    expect(await ask("send", "abc", "Hello")).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(/\(INVALID_RECIPIENT\)\n {2}to: Write the number internationally/),
    });
    const absent = await heliograph("why", "x", "--url", "http://127.0.0.1:1", "--key", "k");
    expect(absent).toMatchObject({ code: 1, stderr: "heliograph: no server answers at http://127.0.0.1:1\n" });
  });

  test("why prints each step with its reason", async () => {
    const sent = (await read("send", NUMBER, "Hello", "--wait")) as { messageId: string }[];
    const { stdout } = await ask("why", sent[0]?.messageId.slice(0, -2) ?? "");
    expect(stdout).toMatch(/to 15550100100: Delivered: /);
    expect(stdout).toMatch(/accepted +Accepted for 15550100100 as TRANS/);
    expect(stdout).toMatch(/end +Ended as delivered/);
  });

  test("verify sends a code, and verify check checks it", async () => {
    const { data } = (await read("verify", "15550100177")) as { data: string };
    const answer = await eventually(
      () => server.request<{ code?: string; otp?: string }>("GET", "/api/simulator/otp/latest?to=15550100177"),
      ({ status }) => status === 200,
    );
    const code = answer.body.otp ?? answer.body.code ?? "";
    const wrong = code === "000000" ? "111111" : "000000";
    expect(await ask("verify", "check", data, wrong)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("OTP_INCORRECT"),
    });
    expect(await ask("verify", "check", data, code)).toMatchObject({ code: 0, stdout: "OTP Verified Successfully!\n" });
  });

  test("keys are added, listed without secrets, and revoked after a confirmation", async () => {
    const made = (await read("keys", "add", "Shop", "--scopes", "sms,read", "--mode", "test")) as {
      id: string;
      key: string;
    };
    expect(made.key).toMatch(/^hg_test_/);
    const { stdout } = await ask("keys", "list");
    expect(stdout).toContain(made.id);
    expect(stdout).not.toContain(made.key);
    expect(await ask("keys", "revoke", made.id)).toMatchObject({ code: 3, stderr: expect.stringContaining("--yes") });
    expect(await ask("keys", "revoke", made.id, "--yes")).toMatchObject({ code: 0, stdout: "Shop is revoked.\n" });
    expect((await ask("keys", "list")).stdout).toMatch(new RegExp(`^${made.id} .*revoked$`, "m"));
    expect(await ask("keys", "add", "Shop")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--scopes is a"),
    });
  });

  test("trigger sends a sample event to the webhooks that subscribe to it", async () => {
    const sink = await openSink();
    const webhook = { name: "RCS", channel: "rcs", url: sink.url, events: ["message_status"] };
    expect((await server.request("POST", "/api/webhooks", webhook)).status).toBe(201);
    expect(await ask("trigger", "message_status")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^RCS at \S+: 200 in \d+ ms\n$/),
    });
    expect((await ask("trigger", "user_message")).stderr).toContain("no endpoint gets user_message");
    expect((await ask("trigger", "nothing")).stderr).toContain("EVENT is one of delivery_report,");
    await sink.close();
    const failed = await ask("trigger", "message_status", "--name", "RCS");
    expect(failed.code).toBe(1);
  });

  test("tail prints each change of a message's state until it is stopped", async () => {
    const child = spawn(process.execPath, [COMMAND_LINE, "tail", "--url", server.url, "--key", server.key], {
      env: environment(),
      stdio: ["ignore", "pipe", "inherit"],
    });
    let printed = "";
    let sent = 0;
    let sentAt = 0;
    child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
    // The stream shows what happens after it was opened, so messages are sent until one appears.
    await eventually(
      async () => {
        // At most 20 events a second are shown, so few are sent.
        if (!printed.includes("Messages of") || performance.now() - sentAt < 1000) return printed;
        sentAt = performance.now();
        sent += 1;
        await server.send({ to: "15550100123", text: `Hello ${sent}` });
        return printed;
      },
      (text) => /Z {2}sms {6}delivered +15550100123 {2}\S+:1$/m.test(text),
    );
    const exited = new Promise<number | null>((resolve) => child.on("exit", resolve));
    child.kill("SIGTERM");
    expect(await exited).toBe(0);
  });

  test("bench measures sends of a test key, and refuses a live one", async () => {
    const { body } = await server.request<{ key: string }>("POST", "/api/keys", {
      name: "Bench",
      mode: "test",
      scopes: ["sms"],
    });
    const options = ["--messages", "40", "--concurrency", "4", "--url", server.url, "--json"];
    const { stdout } = await heliograph("bench", ...options, "--key", body.key);
    expect(JSON.parse(stdout)).toMatchObject({ accepted: 40, failed: 0, milliseconds: { p50: expect.any(Number) } });
    expect((await ask("bench")).stderr).toContain("bench needs a test key");
    expect((await heliograph("bench", "--messages", "0", "--url", server.url, "--key", body.key)).stderr).toContain(
      "--messages is a whole number from 1 to 1000000",
    );
  });

  test("an option of another command is refused with the usage, and an unknown one with the nearest", async () => {
    expect(await heliograph("send", NUMBER, "Hello", "--dry-run")).toEqual({
      code: 2,
      stdout: "",
      stderr: `heliograph: send has no option --dry-run\n  ${COMMANDS.send.usage}\n`,
    });
    expect((await heliograph("send", NUMBER, "Hello", "--sendr", "X")).stderr).toBe(
      "heliograph: unknown option: --sendr\nDid you mean --sender?\n",
    );
    expect(nearestOption("frobnicate", ["sender", "json"])).toBeNull();
    const { stdout } = await heliograph("send", "--help");
    expect(stdout).toContain(COMMANDS.send.usage);
    expect(stdout).not.toContain(COMMANDS.backup.usage);
  });

  // Last, because live messages wait once there is a real carrier.
  test("carriers are listed with their state, and tested with their stored settings", async () => {
    const smpp = { host: "127.0.0.1", port: 1, systemId: "shop", password: "secret" };
    const made = await server.request("POST", "/api/carriers", { name: "nowhere", adapter: "smpp", smpp });
    expect(made.status).toBe(201);
    expect((await ask("carriers", "list")).stdout).toMatch(/^nowhere +smpp +down/m);
    const tried = await ask("carriers", "test", "nowhere");
    expect(tried).toMatchObject({ code: 1, stdout: expect.stringMatching(/^unreachable in \d+ ms: /) });
    expect((await ask("carriers", "test", "simulator")).stderr).toContain("it has no connection to test");
    expect((await ask("carriers", "test", "other")).stderr).toContain("there is no carrier other: 2 carriers: ");
  });
});

describe("completion", () => {
  const complete = async (script: string, words: string[]): Promise<string[]> => {
    const file = join(await mkdtemp(join(inject("scratchFolder"), "completion-")), "script");
    await writeFile(
      file,
      `${script}\nCOMP_WORDS=(${words.map((word) => `"${word}"`).join(" ")})\nCOMP_CWORD=${words.length - 1}\n_heliograph\nprintf '%s\\n' "\${COMPREPLY[@]}"\n`,
    );
    return new Promise((resolve, reject) => {
      execFile("bash", [file], (error, stdout) => (error ? reject(error) : resolve(stdout.trim().split("\n"))));
    });
  };

  test.each([
    [["heliograph", "ke"], ["keys"]],
    [["heliograph", "keys", "r"], ["revoke"]],
    [["heliograph", "keys", "add", "--s"], ["--scopes"]],
    [["heliograph", "send", "1555", "--w"], ["--wait"]],
  ])("in bash %j becomes %j", async (words, completions) => {
    expect(await complete(completionFor("bash", COMMANDS), words)).toEqual(completions);
  });

  test("has every command and option in each shell, and names the shells for another", () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const script = completionFor(shell, COMMANDS);
      for (const [name, { options }] of Object.entries(COMMANDS))
        for (const word of [...name.split(" "), ...options]) expect(script).toContain(word);
    }
    expect(() => completionFor("csh", COMMANDS)).toThrow("completion bash, completion zsh or completion fish");
  });
});
