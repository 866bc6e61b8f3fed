import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, inject, test } from "vitest";
import { resume } from "../../src/cli/hold.ts";
import { migrate } from "../../src/cli/migrate.ts";
import { readConfig } from "../../src/config.ts";
import { freshDatabase } from "../support/databases.ts";
import { hasPostgres } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { closeAll, codeOf, environment, openSmsc, Restartable, terminalOf } from "../support/restartable-server.ts";

afterEach(closeAll);

const WINDOW = 2;
const NUMBERS = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `1555010020${n}`);

test.runIf(hasPostgres)(
  "a server goes on in PostgreSQL where it stopped in SQLite, and no longer in SQLite",
  async () => {
    const env = await environment("sqlite");
    const server = await new Restartable(env).start();
    // The SMSC answers nothing: the window is full, and the other messages wait.
    const { smsc, got } = await openSmsc({ silentPercent: 100 });
    await server.addCarrier(smsc.port, WINDOW);
    await eventually(
      () => smsc.sessions,
      (sessions) => sessions === 1,
    );
    for (const number of NUMBERS) await server.send(number, { campaignName: "spring" });
    await eventually(
      () => got.length,
      (count) => count >= WINDOW,
    );
    const before = await server.messages();
    await server.stop();
    const first = [...got];

    const database = await freshDatabase(inject("postgresUrl"));
    const moved = { ...env, HELIOGRAPH_DATABASE_URL: database.url };
    const said = await migrate(readConfig(moved), [], {}, terminalOf().terminal);
    expect(said).toMatch(/^messages +8 rows/m);
    expect(said).toMatch(/Not sent yet: (\d+)\. In doubt: (\d+);/);
    const [, waiting, inDoubt] = /Not sent yet: (\d+)\. In doubt: (\d+);/.exec(said) ?? [];
    expect(Number(waiting) + Number(inDoubt)).toBe(NUMBERS.length);

    // The original sends nothing, even with a carrier that answers again.
    smsc.setBehavior({ silentPercent: 0 });
    const original = await new Restartable(env).start();
    expect(codeOf(await original.send("15550100299"))).toBe("SERVICE_HELD");
    await sleep(300);
    expect(got).toEqual(first);
    await original.stop();
    const { terminal, lines } = terminalOf();
    await expect(resume(readConfig(env), [], {}, terminal)).rejects.toThrow("nothing was changed");
    expect(lines[0]).toContain("were copied to PostgreSQL");

    // The copy has the same keys, carriers and messages, and sends the rest.
    const copy = await new Restartable(moved).start();
    const after = await copy.messages();
    expect(after.map(({ messageId, recipient }) => [messageId, recipient])).toEqual(
      before.map(({ messageId, recipient }) => [messageId, recipient]),
    );
    await eventually(
      () => NUMBERS.filter((number) => !got.slice(first.length).includes(number) && !first.includes(number)),
      (missing) => missing.length === 0,
    );
    // Those that were being submitted are repeated, as after a crash; no other is sent twice.
    await eventually(
      () => copy.messages(),
      (messages) => messages.every(({ state }) => state === "delivered"),
    );
    const again = NUMBERS.filter((number) => got.filter((one) => one === number).length > 1);
    expect(again.filter((number) => !first.includes(number))).toEqual([]);
    expect((await copy.send("15550100298")).status).toBe(200);
    await copy.stop();
    await database.drop();
  },
);
