import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Carrier, Inbound, LateAnswer } from "../../src/carriers/carrier.ts";
import { createSmppCarrier } from "../../src/carriers/smpp/carrier.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createLog } from "../../src/lib/log.ts";
import type { InboundPart } from "../../src/model/inbound.ts";
import type { Message, RouteClass } from "../../src/model/message.ts";
import type { Receipt } from "../../src/model/receipt.ts";
import { SMPP_DEFAULTS, type SmppSettings } from "../../src/model/smpp-connection.ts";
import type { SubmitSm } from "../../src/smpp/pdu.ts";
import { responseTo } from "../../src/smpp/respond.ts";
import { listen } from "../../src/smpp/server.ts";
import { STATUS } from "../../src/smpp/status.ts";
import { Smsc } from "../../src/smsc/smsc.ts";
import type { SmscBehavior } from "../../src/smsc/behavior.ts";
import { carrierSuite } from "./carrier.suite.ts";
import { eventually } from "../support/eventually.ts";
import { sampleMessage } from "../support/message.ts";

const QUICK = { delayMs: 5 } as const;

interface Trial {
  smsc: Smsc;
  carrier: Carrier;
  taken: { submit: SubmitSm; id: string }[];
  receipts: Receipt[];
  inbound: Inbound[];
  parts: InboundPart[];
  lates: LateAnswer[];
  learned: string[];
  logged: string[];
  take(receipt: Receipt): Promise<void>;
  bound(): Promise<void>;
  close(): Promise<void>;
}

/** An SMPP carrier connected to a simulated SMSC over TCP. */
async function openTrial(
  behavior: Partial<SmscBehavior> = {},
  settings: Partial<SmppSettings> = {},
  share = { connections: 1 },
  learnedIdForm: string | null = null,
): Promise<Trial> {
  const taken: Trial["taken"] = [];
  const smsc = await Smsc.open({
    host: "127.0.0.1",
    port: 0,
    clock: systemClock,
    behavior: { ...QUICK, systemId: "esme", password: "secret", ...behavior },
    // Copied: the read buffer is reused.
    onTaken: (submit, id) => taken.push({ submit: { ...submit, shortMessage: Buffer.from(submit.shortMessage) }, id }),
  });
  const receipts: Receipt[] = [];
  const inbound: Inbound[] = [];
  const parts: InboundPart[] = [];
  const lates: LateAnswer[] = [];
  const learned: string[] = [];
  const logged: string[] = [];
  const carrier = createSmppCarrier({
    name: "1/line",
    accountId: 1,
    settings: { ...SMPP_DEFAULTS, host: "127.0.0.1", systemId: "esme", ...settings, port: settings.port ?? smsc.port },
    secrets: { password: "secret", tlsKey: null },
    share: () => share,
    messagesPerSecond: () => null,
    addressOf: (host) => Promise.resolve(host),
    onInbound: async (message) => void inbound.push(message),
    onInboundPart: async (part) => void parts.push(part),
    onLateAnswer: async (late) => void lates.push(late),
    learnedIdForm,
    onLearned: (form) => void learned.push(form),
    clock: systemClock,
    log: createLog("warn", { write: (line: string) => void logged.push(line) }),
    metrics: { carrierErrors: () => ({ inc: () => {} }) },
  });
  const bound = async (): Promise<void> => {
    await eventually(() => carrier.isUp(), Boolean);
  };
  return {
    smsc,
    carrier,
    taken,
    receipts,
    inbound,
    parts,
    lates,
    learned,
    logged,
    take: async (receipt) => void receipts.push(receipt),
    bound,
    async close() {
      await carrier.stop();
      await smsc.close();
    },
  };
}

const messageTo = (recipient: string, changes: Partial<Message> = {}): Message =>
  sampleMessage({ recipient, ...changes });

const RECEIPT: Receipt = {
  carrier: "1/line",
  carrierMessageId: "",
  state: "delivered",
  errorCode: null,
  description: null,
  at: 0,
};

const LONG = "Dear customer, ".repeat(30);
const long = (to = "15550100100"): Message =>
  messageTo(to, { content: { text: LONG, encoding: "gsm7", flash: false }, segments: 3 });

describe("an SMPP carrier fulfils the carrier contract", () => {
  carrierSuite(async () => {
    // Long enough that stop comes first, also on a busy machine.
    const trial = await openTrial({ delayMs: 400 });
    const { carrier } = trial;
    const start = carrier.start.bind(carrier);
    carrier.start = async (onReceipt) => {
      await start(onReceipt);
      await trial.bound();
    };
    return {
      carrier,
      deliverable: () => messageTo("15550100100"),
      undeliverable: () => messageTo("15550109001"),
      refusable: () => messageTo("15550109003"),
      // The SMSC runs in real time and repeats unacknowledged receipts by itself.
      letReportsCome: () => Promise.resolve(),
      close: trial.close,
    };
  });
});

describe("an SMPP carrier", () => {
  let trial: Trial;
  const open = async (...given: Parameters<typeof openTrial>): Promise<Trial> => {
    trial = await openTrial(...given);
    await trial.carrier.start(trial.take);
    await trial.bound();
    return trial;
  };
  beforeEach(() => {
    trial = undefined as never;
  });
  afterEach(() => trial?.close());

  test("every part of a text carries the TLVs of the client", async () => {
    const { carrier, taken } = await open();
    const tlvs = [{ tag: 0x1500, value: "6d617900" }];
    const content = { text: LONG, encoding: "gsm7", flash: false, tlvs } as const;
    await carrier.submit(messageTo("15550100100", { content, segments: 3 }));
    expect(taken).toHaveLength(3);
    for (const { submit } of taken) expect(submit.tlvs).toContainEqual({ tag: 0x1500, value: Buffer.from("may\0") });
  });

  test("submit_sm carries sender, recipient, validity and priority", async () => {
    const { carrier, taken } = await open();
    const classes: RouteClass[] = ["OTP", "TRANS", "PROMO"];
    for (const routeClass of classes) await carrier.submit(messageTo("15550100100", { routeClass }));
    expect(taken.map(({ submit }) => submit.priorityFlag)).toEqual([2, 1, 0]);
    expect(taken[0]?.submit).toMatchObject({
      source: { ton: 5, npi: 0, address: "HELIOG" },
      destination: { ton: 1, npi: 1, address: "15550100100" },
      registeredDelivery: 1,
      dataCoding: 0,
      validityPeriod: expect.stringMatching(/^0000000[01]\d{4}000R$/),
    });
    expect(taken[0]?.submit.shortMessage.toString("latin1")).toBe("Hello");
  });

  test.each([
    [{ receipts: "all" }, false],
    [{ receipts: "failures" }, false],
    [{ receipts: "none", intermediateReceipts: true }, false],
    [{ receipts: "none" }, true],
  ] as const)("with receipts %j the carrier says whether it sends none: %s", async (settings, reportsNothing) => {
    const { carrier } = await open({}, settings);
    expect(carrier.sendsNoReceipts).toBe(reportsNothing);
  });

  test("a long message is submitted as parts on one bind in order, each with its own id", async () => {
    const { carrier, taken } = await open({}, { connections: 3 }, { connections: 3 });
    const outcome = await carrier.submit(long());
    const ids = taken.map(({ id }) => id);
    expect(outcome).toMatchObject({ kind: "taken", carrierMessageId: ids[0], partIds: ids });
    expect(taken.map(({ submit }) => submit.shortMessage[5])).toEqual([1, 2, 3]);
    expect(taken.every(({ submit }) => (submit.esmClass & 0x40) !== 0)).toBe(true);
  });

  test("a throttled part is submitted again, because the other parts were accepted", async () => {
    const { carrier, smsc } = await open({ messagesPerSecond: 2 });
    const outcome = await carrier.submit(long());
    expect(outcome.kind).toBe("taken");
    expect(smsc.counts.throttled).toBeGreaterThan(0);
  });

  test("throttling halves the rate, and capacity returns after the pause", async () => {
    const { carrier } = await open({ throttledPercent: 100 });
    expect(carrier.messagesPerSecond).toBeNull();
    expect(await carrier.submit(messageTo("15550100100"))).toMatchObject({ kind: "busy" });
    expect(carrier.messagesPerSecond).toBeGreaterThan(0);
  });

  test("the carrier is down with a reason while no SMSC listens, and rebinds by itself", async () => {
    const { carrier, smsc } = await open({}, { responseSeconds: 1 });
    const { port } = smsc;
    await smsc.close();
    await eventually(
      () => carrier.isUp(),
      (up) => !up,
    );
    const outcome = await carrier.submit(messageTo("15550100100"));
    expect(outcome).toMatchObject({ kind: "down", description: expect.stringMatching(/./) });
    const again = await Smsc.open({ host: "127.0.0.1", port, clock: systemClock, behavior: QUICK });
    await trial.bound();
    expect(await carrier.submit(messageTo("15550100100"))).toMatchObject({ kind: "taken" });
    await carrier.stop();
    await again.close();
  });

  test("a wrong password is reported with the time of the next attempt, and raises an alarm", async () => {
    trial = await openTrial({ password: "another" });
    const { carrier, take } = trial;
    await carrier.start(take);
    const bind = await eventually(
      () => carrier.state?.().binds[0],
      (found) => found?.state === "refused",
    );
    expect(bind).toMatchObject({ reason: expect.stringContaining("password"), nextTryAt: expect.any(Number) });
    expect((bind?.nextTryAt ?? 0) - (bind?.since ?? 0)).toBeGreaterThanOrEqual(60_000);
    const line = trial.logged.find((each) => each.includes("SMPP bind refused")) ?? "{}";
    expect(JSON.parse(line)).toMatchObject({ carrier: "1/line", errorCode: expect.stringMatching(/^[\w.:-]+$/) });
    expect(carrier.isUp()).toBe(false);
  });

  test("a refusal that an operator has to end is logged with its code", async () => {
    const strict = await listen({
      host: "127.0.0.1",
      port: 0,
      onBind: () => ({
        kind: "accepted",
        onRequest: (pdu) => (pdu.command === "submit_sm" ? responseTo(pdu, { status: STATUS.ESME_RINVDCS }) : null),
      }),
    });
    const { carrier, logged } = await open({}, { port: strict.port });
    expect(await carrier.submit(messageTo("15550100100"))).toMatchObject({ kind: "refused" });
    const line = logged.find((each) => each.includes("SMPP messages refused")) ?? "{}";
    expect(JSON.parse(line)).toMatchObject({ carrier: "1/line", errorCode: "0x00000104" });
    await carrier.stop();
    await strict.close();
  });

  test.each([
    ["an error of the SMSC names no pause, so the message comes again after the usual pauses of its type", 0x08, {}],
    ["a full queue pauses the message as it pauses the connection", 0x14, { retryAfterMs: 5000 }],
  ])("%s", async (_, status, pause) => {
    const troubled = await listen({
      host: "127.0.0.1",
      port: 0,
      onBind: () => ({
        kind: "accepted",
        onRequest: (pdu) => (pdu.command === "submit_sm" ? responseTo(pdu, { status }) : null),
      }),
    });
    const { carrier } = await open({}, { port: troubled.port });
    const { exchange: _exchange, ...outcome } = await carrier.submit(messageTo("15550100100"));
    expect(outcome).toEqual({ kind: "busy", ...pause });
    await carrier.stop();
    await troubled.close();
  });

  test("a missing response leaves the outcome unknown", async () => {
    const { carrier } = await open({ silentPercent: 100 }, { responseSeconds: 1 });
    expect(await carrier.submit(messageTo("15550100100"))).toMatchObject({ kind: "unknown" });
  });

  test("a late response is reported with the ids of all parts, once every part has one", async () => {
    const { carrier, lates, taken, receipts } = await open({ answerAfterMs: 4000 }, { responseSeconds: 1 });
    const message = messageTo("15550100100");
    const several = long("15550100101");
    const outcomes = await Promise.all([carrier.submit(message), carrier.submit(several)]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(["unknown", "unknown"]);
    expect(lates).toEqual([]);
    await eventually(
      () => lates,
      (seen) => seen.length === 2,
    );
    const [one, ...parts] = taken.map(({ id }) => id);
    const refOf = ({ accountId, requestId, n }: Message) => ({ accountId, requestId, n });
    expect(lates).toEqual([
      {
        message: refOf(message),
        carrier: "1/line",
        outcome: { kind: "taken", carrierMessageId: one, exchange: expect.stringContaining(`taken ${one}`) },
      },
      {
        message: refOf(several),
        carrier: "1/line",
        outcome: { kind: "taken", carrierMessageId: parts[0], partIds: parts, exchange: expect.any(String) },
      },
    ]);
    await eventually(
      () => receipts,
      (seen) => seen.length === 4,
    );
    expect(lates).toHaveLength(2);
  });

  test("a late refusal is reported as a refusal", async () => {
    const { carrier, lates } = await open({ answerAfterMs: 4000 }, { responseSeconds: 1 });
    expect(await carrier.submit(messageTo("15550109003"))).toMatchObject({ kind: "unknown" });
    const [late] = await eventually(
      () => lates,
      (seen) => seen.length === 1,
    );
    expect(late?.outcome).toMatchObject({ kind: "refused", fault: "message", code: "0x0000000B" });
    expect(carrier.state?.().errors).toEqual({ "0x0000000B": 1 });
  });

  test("a cut connection leaves sent messages unknown and unsent ones unsent", async () => {
    const { carrier, smsc } = await open({ hangUpAfter: 3 }, { window: 3 });
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => carrier.submit(messageTo("15550100100"))));
    const kinds = outcomes.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "taken")).toHaveLength(3);
    expect(kinds.every((kind) => ["taken", "unknown", "down"].includes(kind))).toBe(true);
    // A message that the SMSC has is never reported as not accepted.
    expect(kinds.filter((kind) => kind === "taken" || kind === "unknown").length).toBeGreaterThanOrEqual(
      smsc.counts.taken,
    );
  });

  test.each([
    ["hex", "decimal"],
    ["decimal", "hex"],
    ["decimal", "padded"],
    ["HEX", "hex"],
    ["uuid", "uuid"],
  ] as const)(
    "with ids %s in responses and %s in receipts, receipts carry the converted id once it is learned",
    async (idForm, receiptIdForm) => {
      const { carrier, receipts } = await open({ idForm, receiptIdForm });
      let submitted = 0;
      const submit = async (): Promise<{ id: string; receipt: Receipt | undefined }> => {
        const outcome = await carrier.submit(messageTo("15550100100"));
        submitted += 1;
        const seen = await eventually(
          () => receipts,
          ({ length }) => length === submitted,
        );
        return { id: outcome.kind === "taken" ? outcome.carrierMessageId : "", receipt: seen.at(-1) };
      };
      // An id without letters is the same in some formats, so nothing is learned from it.
      for (let isLearned = false; !isLearned && submitted < 50;) {
        const { id, receipt: early } = await submit();
        expect([early?.carrierMessageId, ...(early?.alternateIds?.() ?? [])]).toContain(id);
        expect(early?.recipient).toBe("15550100100");
        isLearned = early !== undefined && early.carrierMessageId !== id;
        if (early && isLearned) carrier.learnIdFormat?.(early, id);
      }
      const { id, receipt: late } = await submit();
      expect(late?.carrierMessageId).toBe(id);
    },
  );

  test("a learned id format stays until three receipts in a row agree on another", async () => {
    const { carrier } = await open();
    const form = (): string | null | undefined => carrier.state?.().learnedIdForm;
    const heard = (spelt: string, knownAs: string): void =>
      carrier.learnIdFormat?.({ ...RECEIPT, carrierMessageId: knownAs, spelt }, knownAs);
    heard("255", "ff");
    expect(form()).toBe("from decimal to hex, in lower case");
    for (const each of ["00a1", "00a2"]) heard(each, each.slice(2));
    heard("A3", "a3");
    heard("00a4", "a4");
    expect(form()).toBe("from decimal to hex, in lower case");
    heard("00a5", "a5");
    heard("00a6", "a6");
    expect(form()).toBe("without leading zeros");
  });

  test("a learned id format is reported once, and applies from the first receipt after a restart", async () => {
    const { carrier, learned } = await open();
    for (const each of ["255", "254"]) carrier.learnIdFormat?.({ ...RECEIPT, spelt: each }, Number(each).toString(16));
    expect(learned).toEqual(["from decimal to hex, in lower case"]);
    await trial.close();

    const known = "from decimal to hex, in lower case";
    const again = await open({ idForm: "hex", receiptIdForm: "decimal" }, {}, { connections: 1 }, known);
    expect(again.carrier.state?.().learnedIdForm).toBe(known);
    const outcome = await again.carrier.submit(messageTo("15550100100"));
    const [receipt] = await eventually(
      () => again.receipts,
      (seen) => seen.length === 1,
    );
    expect(receipt?.carrierMessageId).toBe(outcome.kind === "taken" ? outcome.carrierMessageId : "");
    expect(again.learned).toEqual([]);
  });

  test("a configured id format overrides a learned one", async () => {
    const { carrier } = await open({}, { idForm: "exact" }, { connections: 1 }, "from decimal to hex, in lower case");
    expect(carrier.state?.().learnedIdForm).toBeNull();
  });

  test("a receipt carries the phone's network if the connection maps its TLVs", async () => {
    const receiptTlvs = [
      { tag: 0x1401, type: "cstring", field: "operator" },
      { tag: 0x1402, type: "octets", field: "circle" },
    ] as const;
    const { carrier, receipts } = await open({ operator: "Airtel", circle: "Punjab" }, { receiptTlvs });
    await carrier.submit(messageTo("15550100100"));
    const [receipt] = await eventually(
      () => receipts,
      (seen) => seen.length === 1,
    );
    expect(receipt).toMatchObject({ state: "delivered", operator: "Airtel", circle: "Punjab" });
  });

  test("an inbound message with a message reference is passed on as a single part", async () => {
    const { smsc, inbound, parts } = await open();
    smsc.sendFromPhone("15550100100", "HELIOG", "Yes", 7);
    smsc.sendFromPhone("15550100100", "HELIOG", "No", 0);
    await eventually(
      () => inbound.length + parts.length,
      (seen) => seen === 2,
    );
    expect(parts).toMatchObject([{ reference: 7, total: 1, index: 1, octets: Buffer.from("Yes") }]);
    expect(inbound).toMatchObject([{ content: { kind: "text", text: "No" } }]);
  });

  test("a receipt without the carrier's original id teaches no format", async () => {
    const { carrier } = await open();
    carrier.learnIdFormat?.({ ...RECEIPT, carrierMessageId: "255", otherIds: ["ff"] }, "ff");
    expect(carrier.state?.().learnedIdForm).toBeNull();
  });

  test("a receipt keeps the carrier's original id after a format is learned", async () => {
    const { carrier, receipts } = await open({ idForm: "hex", receiptIdForm: "decimal" });
    carrier.learnIdFormat?.({ ...RECEIPT, spelt: "255" }, "ff");
    const outcome = await carrier.submit(messageTo("15550100100"));
    const [receipt] = await eventually(
      () => receipts,
      (seen) => seen.length === 1,
    );
    const id = outcome.kind === "taken" ? outcome.carrierMessageId : "";
    expect([receipt?.carrierMessageId, receipt?.spelt]).toEqual([id, String(Number(`0x${id}`))]);
  });

  test("a receipt on another bind belongs to the same carrier", async () => {
    const { carrier, receipts } = await open({}, { bindAs: "transmitter and receiver" });
    await eventually(
      () => trial.smsc.sessions,
      (sessions) => sessions === 2,
    );
    await carrier.submit(messageTo("15550100100"));
    await eventually(
      () => receipts,
      (seen) => seen.length === 1,
    );
    expect(carrier.state?.().binds.map(({ as, state }) => [as, state])).toEqual([
      ["transmitter", "bound"],
      ["receiver", "bound"],
    ]);
  });

  test("an inbound message is passed on with its text", async () => {
    const { smsc, inbound } = await open();
    smsc.sendFromPhone("15550100100", "HELIOG", "STOP ☂");
    const [message] = await eventually(
      () => inbound,
      (seen) => seen.length === 1,
    );
    expect(message).toMatchObject({
      accountId: 1,
      channel: "sms",
      from: "15550100100",
      to: "HELIOG",
      content: { kind: "text", text: "STOP ☂" },
    });
  });

  test("binds follow the node's share, and messages in flight are answered first", async () => {
    const share = { connections: 3 };
    const { carrier, smsc } = await open({ answerAfterMs: 50 }, { connections: 3 }, share);
    await eventually(
      () => smsc.sessions,
      (sessions) => sessions === 3,
    );
    const under = Promise.all(Array.from({ length: 20 }, () => carrier.submit(messageTo("15550100100"))));
    share.connections = 1;
    carrier.onShareChanged?.();
    expect((await under).every(({ kind }) => kind === "taken")).toBe(true);
    await eventually(
      () => smsc.sessions,
      (sessions) => sessions === 1,
    );
  });

  test("stop unbinds after all responses have come", async () => {
    const { carrier, smsc } = await open({ answerAfterMs: 100 });
    const under = Promise.all(Array.from({ length: 10 }, () => carrier.submit(messageTo("15550100100"))));
    await eventually(
      () => smsc.counts.submits,
      (submits) => submits === 10,
    );
    await carrier.stop();
    expect((await under).map(({ kind }) => kind)).toEqual(Array.from({ length: 10 }, () => "taken"));
    expect(smsc.sessions).toBe(0);
  });

  test("stop waits no longer than its time-outs: unanswered is unknown, unsent is unsent", async () => {
    const { carrier, smsc } = await open({ silentPercent: 100 }, { window: 1 });
    const [sent, queued] = [carrier.submit(messageTo("15550100100")), carrier.submit(messageTo("15550100101"))];
    await eventually(
      () => smsc.counts.submits,
      (submits) => submits === 1,
    );
    const over = carrier.stop({ drainMs: 20, unbindMs: 1000 });
    expect(await queued).toMatchObject({ kind: "busy" });
    expect(await carrier.submit(messageTo("15550100102"))).toMatchObject({ kind: "busy" });
    expect(await sent).toMatchObject({ kind: "unknown" });
    await over;
    await eventually(
      () => smsc.sessions,
      (sessions) => sessions === 0,
    );
  });
});
