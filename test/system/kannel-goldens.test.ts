import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import type { SubmitSm } from "../../src/smpp/pdu.ts";
import { Smsc } from "../../src/smsc/smsc.ts";
import { eventually } from "../support/eventually.ts";
import { KANNEL_USER, startKannel, type Kannel } from "../support/kannel.ts";
import { KANNEL_GOLDENS } from "../support/kannel-goldens.ts";

const LOGIN = { systemId: "kannel", password: "secret" };

/** `test/api/binary-messages.test.ts` compares ours with the same records. */
describe("the recorded messages of Kannel", () => {
  let smsc: Smsc;
  let kannel: Kannel;
  const submits: SubmitSm[] = [];

  beforeAll(async () => {
    smsc = await Smsc.open({
      host: "127.0.0.1",
      port: 0,
      clock: systemClock,
      behavior: { ...LOGIN, delayMs: 5 },
      onTaken: (submit) => submits.push({ ...submit, shortMessage: Buffer.from(submit.shortMessage) }),
    });
    kannel = await startKannel({ smsc: { port: smsc.port, ...LOGIN } });
  });
  afterAll(async () => {
    await kannel?.stop();
    await smsc?.close();
  });

  test.each(KANNEL_GOLDENS.map((golden, index) => ({ ...golden, index })))(
    "$query is submitted by a real Kannel as recorded",
    async ({ query, dataCoding, octets, protocolId = 0, index }) => {
      const to = String(15_550_180_000 + index);
      const login = new URLSearchParams({ ...KANNEL_USER, from: "ACME", to }).toString();
      const answer = await fetch(`${kannel.baseUrl}/cgi-bin/sendsms?${login}&${query}`);
      expect([answer.status, await answer.text()]).toEqual([202, "0: Accepted for delivery"]);
      const submit = await eventually(
        () => submits.find(({ destination }) => destination.address === to),
        (found) => found !== undefined,
      );
      expect([submit?.dataCoding, submit?.shortMessage.toString("hex"), submit?.protocolId]).toEqual([
        dataCoding,
        octets,
        protocolId,
      ]);
    },
  );
});
