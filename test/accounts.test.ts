import { describe, expect, test } from "vitest";
import { checkPassword, hashPassword } from "../src/accounts/passwords.ts";
import { ENGINES } from "./support/engines.ts";
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
