import { expect, test } from "vitest";
import type { Carrier } from "../../src/carriers/carrier.ts";
import type { Message } from "../../src/model/message.ts";
import type { Receipt, ReceiptState } from "../../src/model/receipt.ts";
import { eventually } from "../support/eventually.ts";

/** A carrier whose peer the test controls. */
export interface CarrierBench {
  carrier: Carrier;
  /** Messages with these scripted outcomes. */
  deliverable(): Message;
  undeliverable(): Message;
  /** State of an undelivered message; default: undelivered. */
  undeliveredAs?: ReceiptState;
  refusable(): Message;
  /** Advances time until the peer sends or repeats receipts. */
  letReportsCome(): Promise<void>;
  close(): Promise<void>;
}

/** The contract that every carrier fulfils. */
export function carrierSuite(open: () => Promise<CarrierBench>): void {
  const withBench = async (run: (bench: CarrierBench) => Promise<void>): Promise<void> => {
    const bench = await open();
    try {
      await run(bench);
    } finally {
      await bench.close();
    }
  };
  const collecting = (): { receipts: Receipt[]; take: (receipt: Receipt) => Promise<void> } => {
    const receipts: Receipt[] = [];
    return { receipts, take: async (receipt) => void receipts.push(receipt) };
  };

  test("a valid message is accepted under its own id", () =>
    withBench(async ({ carrier, deliverable }) => {
      await carrier.start(async () => {});
      const outcomes = await Promise.all([carrier.submit(deliverable()), carrier.submit(deliverable())]);
      const ids = outcomes.map((outcome) => (outcome.kind === "taken" ? outcome.carrierMessageId : outcome.kind));
      expect(new Set(ids).size).toBe(2);
      expect(ids.every((id) => id !== "")).toBe(true);
    }));

  test("a refused message is a value with code and description", () =>
    withBench(async ({ carrier, refusable }) => {
      await carrier.start(async () => {});
      const outcome = await carrier.submit(refusable());
      expect(outcome).toMatchObject({
        kind: "refused",
        code: expect.stringMatching(/./),
        description: expect.stringMatching(/./),
      });
    }));

  test("a receipt names the carrier and the id of the accepted message", () =>
    withBench(async ({ carrier, deliverable, letReportsCome }) => {
      const { receipts, take } = collecting();
      await carrier.start(take);
      const outcome = await carrier.submit(deliverable());
      await letReportsCome();
      await eventually(
        () => receipts,
        (seen) => seen.some((receipt) => receipt.state === "delivered"),
      );
      const carrierMessageId = outcome.kind === "taken" ? outcome.carrierMessageId : "";
      for (const receipt of receipts) expect(receipt).toMatchObject({ carrier: carrier.name, carrierMessageId });
    }));

  test("an undelivered message is reported with the carrier's code", () =>
    withBench(async ({ carrier, undeliverable, undeliveredAs = "undelivered", letReportsCome }) => {
      const { receipts, take } = collecting();
      await carrier.start(take);
      await carrier.submit(undeliverable());
      await letReportsCome();
      const seen = await eventually(
        () => receipts.find((receipt) => receipt.state === undeliveredAs),
        (receipt) => receipt !== undefined,
      );
      expect(seen?.errorCode).toMatch(/./);
    }));

  test("a receipt that could not be stored is repeated", () =>
    withBench(async ({ carrier, deliverable, letReportsCome }) => {
      let tries = 0;
      await carrier.start(async () => {
        tries += 1;
        if (tries === 1) throw new Error("the store is away");
      });
      await carrier.submit(deliverable());
      await letReportsCome();
      await letReportsCome();
      expect(
        await eventually(
          () => tries,
          (seen) => seen >= 2,
        ),
      ).toBeGreaterThanOrEqual(2);
    }));

  test("after stop no receipt is passed on; the next start delivers the missing ones", () =>
    withBench(async ({ carrier, deliverable, letReportsCome }) => {
      const before = collecting();
      await carrier.start(before.take);
      await carrier.submit(deliverable());
      await carrier.stop();
      await letReportsCome();
      expect(before.receipts).toEqual([]);
      const after = collecting();
      await carrier.start(after.take);
      await letReportsCome();
      await eventually(
        () => after.receipts,
        (seen) => seen.some((receipt) => receipt.state === "delivered"),
      );
    }));
}
