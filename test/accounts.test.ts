import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { checkPassword, hashPassword } from "../src/accounts/passwords.ts";
import { ENGINES } from "./support/engines.ts";
import { eventually } from "./support/eventually.ts";
import { openHouse } from "./support/house.ts";

describe("passwords", () => {
  test("are kept as argon2id with a salt of their own, and only the right one passes", async () => {
    const [first, second] = await Promise.all([hashPassword("correct horse"), hashPassword("correct horse")]);
    expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(first).not.toBe(second);
    expect(await checkPassword("correct horse", first)).toBe(true);
    expect(await checkPassword("correct house", first)).toBe(false);
  });

  test("something that is no such hash never passes", async () => {
    for (const stored of ["", "correct horse", "$argon2id$v=19$m=1,t=1,p=1$$"])
      expect(await checkPassword("correct horse", stored)).toBe(false);
  });
});

describe.each(ENGINES)("the first start on %s", (engine) => {
  test("makes the owner with a password that passes, and it is not in the store in clear", async () => {
    const house = await openHouse(engine, {
      env: { HELIOGRAPH_ADMIN_PASSWORD: "correct horse", HELIOGRAPH_ADMIN_EMAIL: "owner@example.com" },
    });
    const owner = await house.app.store.findUser("owner@example.com");
    expect(owner).toMatchObject({ role: "owner", email: "owner@example.com" });
    expect(await checkPassword("correct horse", owner?.passwordHash ?? "")).toBe(true);
    await house.close();
  });
});

describe.each(ENGINES)("heliograph account add on %s", (engine) => {
  test("makes an account whose keys work on the running server within seconds, apart from all others", async () => {
    const house = await openHouse(engine);
    const run = (...args: string[]) =>
      promisify(execFile)(process.execPath, [join(import.meta.dirname, "../src/cli/heliograph.ts"), ...args], {
        env: house.env,
      });
    const { stdout } = await run("account", "add", "acme");
    const apikey = /Live key\s+(\S+)/.exec(stdout)?.[1] ?? "";
    const asAcme = { apikey };
    await eventually(
      () => house.ask("GET", "/v1/messages", undefined, asAcme),
      (answer) => answer.status === 200,
    );
    const sent = await house.send({}, asAcme);
    expect((await house.ask("GET", `/v1/messages/${sent.body.data[0]?.messageId}`, undefined, asAcme)).status).toBe(
      200,
    );
    expect((await house.ask("GET", `/v1/messages/${sent.body.data[0]?.messageId}`)).status).toBe(404);

    await expect(run("account", "add", "acme")).rejects.toMatchObject({
      code: 2,
      stderr: "heliograph: there is an account acme already\n",
    });
    await expect(run("account", "add", "Not a name")).rejects.toMatchObject({ code: 2 });
    await house.close();
  });
});
