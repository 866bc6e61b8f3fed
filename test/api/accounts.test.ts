import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { checkPassword, hashPassword, OWASP_COST } from "../../src/accounts/passwords.ts";
import { COMMAND_LINE } from "../support/entries.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer } from "../support/test-server.ts";

describe("passwords", () => {
  test("passwords are hashed with argon2id and a salt each, and only the right one passes", async () => {
    const [first, second] = await Promise.all(
      ["correct horse", "correct horse"].map((password) => hashPassword(password, OWASP_COST)),
    );
    expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(first).not.toBe(second);
    expect(await checkPassword("correct horse", first ?? "")).toBe(true);
    expect(await checkPassword("correct house", first ?? "")).toBe(false);
  });

  test("a stored value that is not a hash never passes", async () => {
    for (const stored of ["", "correct horse", "$argon2id$v=19$m=1,t=1,p=1$$"])
      expect(await checkPassword("correct horse", stored)).toBe(false);
  });
});

describe.each(ENGINES)("the first start on %s", (engine) => {
  test("the first start creates the owner with a password that passes and is not stored in clear", async () => {
    const server = await startTestServer(engine, {
      env: { HELIOGRAPH_ADMIN_PASSWORD: "correct horse", HELIOGRAPH_ADMIN_EMAIL: "owner@example.com" },
    });
    const owner = await server.app.store.findUser("owner@example.com");
    expect(owner).toMatchObject({ role: "owner", email: "owner@example.com" });
    expect(await checkPassword("correct horse", owner?.passwordHash ?? "")).toBe(true);
    await server.close();
  });
});

describe.each(ENGINES)("heliograph account add on %s", (engine) => {
  test("an added account has keys that work on the running server, separate from other accounts", async () => {
    const server = await startTestServer(engine);
    const run = (...args: string[]) =>
      promisify(execFile)(process.execPath, [COMMAND_LINE, ...args], {
        env: server.env,
      });
    const { stdout } = await run("account", "add", "acme");
    // The servers of tests hash cheaply; a process of its own shows the cost that operators get.
    const email = /Owner\s+(\S+)/.exec(stdout)?.[1] ?? "";
    expect((await server.app.store.findUser(email))?.passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    const apikey = /Live key\s+(\S+)/.exec(stdout)?.[1] ?? "";
    const asAcme = { apikey };
    await eventually(
      () => server.request("GET", "/v1/messages", undefined, asAcme),
      (answer) => answer.status === 200,
    );
    const sent = await server.send({}, asAcme);
    expect(
      (await server.request("GET", `/v1/messages/${sent.body.data[0]?.messageId}`, undefined, asAcme)).status,
    ).toBe(200);
    expect((await server.request("GET", `/v1/messages/${sent.body.data[0]?.messageId}`)).status).toBe(404);

    await expect(run("account", "add", "acme")).rejects.toMatchObject({
      code: 2,
      stderr: "heliograph: there is an account acme already\n",
    });
    await expect(run("account", "add", "Not a name")).rejects.toMatchObject({ code: 2 });
    await server.close();
  });
});
