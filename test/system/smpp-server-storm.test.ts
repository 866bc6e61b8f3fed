import { describe, expect, inject, it } from "vitest";
import { repetitions, testSeed } from "../support/repetitions.ts";
import { runSmppStorm } from "../torture/smpp-run.ts";

/** `npm run torture:smpp` cuts and kills as often as it is told to. */
const CUTS = repetitions(20, 250);
const KILLS = repetitions(3, 50);

describe("an SMPP server whose binds are cut and whose process is killed under load", () => {
  it.each(["sqlite", "postgres"] as const)(
    "loses no acknowledged message, and delivers each receipt at least once (%s)",
    { timeout: 1_200_000 },
    async (engine) => {
      const seed = testSeed(process.env["TORTURE_SEED"]);
      const postgresUrl = engine === "postgres" ? inject("postgresUrl") : null;
      const { violations, ...report } = await runSmppStorm({ postgresUrl, cuts: CUTS, kills: KILLS, seed });
      process.stdout.write(`SMPP storm on ${engine}, TORTURE_SEED=${seed}: ${JSON.stringify(report)}\n`);
      expect(violations).toEqual([]);
      expect(report).toMatchObject({ cuts: CUTS, kills: KILLS });
      expect(report.repeated).toBeGreaterThan(0);
      expect(report.receipts).toBeGreaterThanOrEqual(report.acknowledged);
    },
  );
});
