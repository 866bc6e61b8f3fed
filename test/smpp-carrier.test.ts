import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Carrier, Inbound, InboundPart, LateAnswer, Receipt } from "../src/carriers/carrier.ts";
import { createSmppCarrier } from "../src/carriers/smpp/smpp-carrier.ts";
import { systemClock } from "../src/lib/clock.ts";
import { createLog } from "../src/lib/log.ts";
import type { Message, RouteClass } from "../src/model/message.ts";
import { SMPP_DEFAULTS, type SmppSettings } from "../src/model/smpp-line.ts";
import type { SubmitSm } from "../src/smpp/pdu.ts";
import { Smsc } from "../src/smsc/smsc.ts";
import type { Whims } from "../src/smsc/whims.ts";
import { carrierSuite } from "./carrier.suite.ts";
import { eventually } from "./support/eventually.ts";
import { messageInHand } from "./support/message.ts";

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
  take(receipt: Receipt): Promise<void>;
  bound(): Promise<void>;
  close(): Promise<void>;
}

/** A carrier over SMPP with a simulated SMSC at the other end of a real connection. */
async function openTrial(
  whims: Partial<Whims> = {},
  settings: Partial<SmppSettings> = {},
  share = { connections: 1 },
  learnedIdForm: string | null = null,
): Promise<Trial> {
  const taken: Trial["taken"] = [];
  const smsc = await Smsc.open({
    host: "127.0.0.1",
    port: 0,
    clock: systemClock,
    whims: { ...QUICK, systemId: "esme", password: "secret", ...whims },
    // What lies in the buffer that was read is gone a moment later.
    onTaken: (submit, id) => taken.push({ submit: { ...submit, shortMessage: Buffer.from(submit.shortMessage) }, id }),
  });
  const receipts: Receipt[] = [];
  const inbound: Inbound[] = [];
  const parts: InboundPart[] = [];
  const lates: LateAnswer[] = [];
  const learned: string[] = [];
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
    log: createLog("silent"),
    meters: { carrierErrors: () => ({ inc: () => {} }) },
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
    take: async (receipt) => void receipts.push(receipt),
    bound,
    async close() {
      await carrier.stop();
      await smsc.close();
    },
  };
}

const messageTo = (recipient: string, changes: Partial<Message> = {}): Message =>
  messageInHand({ recipient, ...changes });

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

describe("a carrier over SMPP keeps a carrier's promises", () => {
  carrierSuite(async () => {
    // Long enough that a stop comes before it, however busy the machine is.
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
      // The other end is in real time, and repeats by itself what was not taken.
      letReportsCome: () => Promise.resolve(),
      close: trial.close,
    };
  });
});

describe("a carrier over SMPP", () => {
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

  test("says who, to whom, how long it is worth it and how urgent it is", async () => {
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
  ] as const)("asked for %j, says that it reports nothing: %s", async (settings, reportsNothing) => {
    const { carrier } = await open({}, settings);
    expect(carrier.reportsNothing).toBe(reportsNothing);
  });

  test("takes a long message as parts with an id each, all on one bind and in order", async () => {
    const { carrier, taken } = await open({}, { connections: 3 }, { connections: 3 });
    const outcome = await carrier.submit(long());
    const ids = taken.map(({ id }) => id);
    expect(outcome).toMatchObject({ kind: "taken", carrierMessageId: ids[0], partIds: ids });
    expect(taken.map(({ submit }) => submit.shortMessage[5])).toEqual([1, 2, 3]);
    expect(taken.every(({ submit }) => (submit.esmClass & 0x40) !== 0)).toBe(true);
  });

  test("a part that is throttled is said again, because the others have been taken", async () => {
    const { carrier, smsc } = await open({ messagesPerSecond: 2 });
    const outcome = await carrier.submit(long());
    expect(outcome.kind).toBe("taken");
    expect(smsc.counts.throttled).toBeGreaterThan(0);
  });

  test("throttling halves the speed, and the carrier has room again afterwards", async () => {
    const { carrier } = await open({ throttledPercent: 100 });
    expect(carrier.messagesPerSecond).toBeNull();
    expect(await carrier.submit(messageTo("15550100100"))).toMatchObject({ kind: "busy" });
    expect(carrier.messagesPerSecond).toBeGreaterThan(0);
  });

  test("is down while nobody listens, with the reason, and bound again by itself when somebody does", async () => {
    const { carrier, smsc } = await open({}, { responseSeconds: 1 });
    const { port } = smsc;
    await smsc.close();
    await eventually(
      () => carrier.isUp(),
      (up) => !up,
    );
    const outcome = await carrier.submit(messageTo("15550100100"));
    expect(outcome).toMatchObject({ kind: "down", description: expect.stringMatching(/./) });
    const again = await Smsc.open({ host: "127.0.0.1", port, clock: systemClock, whims: QUICK });
    await trial.bound();
    expect(await carrier.submit(messageTo("15550100100"))).toMatchObject({ kind: "taken" });
    await carrier.stop();
    await again.close();
  });

  test("a wrong password is told in words, with the time of the next try, and alarms", async () => {
    trial = await openTrial({ password: "another" });
    const { carrier, take } = trial;
    await carrier.start(take);
    const bind = await eventually(
      () => carrier.state?.().binds[0],
      (found) => found?.state === "refused",
    );
    expect(bind).toMatchObject({ reason: expect.stringContaining("password"), nextTryAt: expect.any(Number) });
    expect((bind?.nextTryAt ?? 0) - (bind?.since ?? 0)).toBeGreaterThanOrEqual(60_000);
    expect(carrier.isUp()).toBe(false);
  });

  test("an answer that never comes leaves the message in doubt", async () => {
    const { carrier } = await open({ silentPercent: 100 }, { responseSeconds: 1 });
    expect(await carrier.submit(messageTo("15550100100"))).toMatchObject({ kind: "unknown" });
  });

  test("an answer that comes late is handed in, with the ids of all parts, once all of them have one", async () => {
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

  test("a refusal that comes late is handed in as one", async () => {
    const { carrier, lates } = await open({ answerAfterMs: 4000 }, { responseSeconds: 1 });
    expect(await carrier.submit(messageTo("15550109003"))).toMatchObject({ kind: "unknown" });
    const [late] = await eventually(
      () => lates,
      (seen) => seen.length === 1,
    );
    expect(late?.outcome).toMatchObject({ kind: "refused", fault: "message", code: "0x0000000B" });
    expect(carrier.state?.().errors).toEqual({ "0x0000000B": 1 });
  });

  test("a line that is cut in the middle leaves what was sent in doubt, and what was not as it was", async () => {
    const { carrier, smsc } = await open({ hangUpAfter: 3 }, { window: 3 });
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => carrier.submit(messageTo("15550100100"))));
    const kinds = outcomes.map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "taken")).toHaveLength(3);
    expect(kinds.every((kind) => ["taken", "unknown", "down"].includes(kind))).toBe(true);
    // Whatever the other end has, nobody is told that it has not.
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
    "ids that are %s in answers and %s in receipts: receipts name the spelling once it is learned",
    async (idForm, receiptIdForm) => {
      const { carrier, receipts } = await open({ idForm, receiptIdForm });
      const first = await carrier.submit(messageTo("15550100100"));
      const [early] = await eventually(
        () => receipts,
        (seen) => seen.length === 1,
      );
      const id = first.kind === "taken" ? first.carrierMessageId : "";
      expect([early?.carrierMessageId, ...(early?.respell?.() ?? [])]).toContain(id);
      expect(early?.recipient).toBe("15550100100");
      if (early && early.carrierMessageId !== id) carrier.learned?.(early, id);
      const second = await carrier.submit(messageTo("15550100100"));
      const [, late] = await eventually(
        () => receipts,
        (seen) => seen.length === 2,
      );
      expect(late?.carrierMessageId).toBe(second.kind === "taken" ? second.carrierMessageId : "");
    },
  );

  test("what was learned of ids stays until three receipts in a row say the same of another form", async () => {
    const { carrier } = await open();
    const form = (): string | null | undefined => carrier.state?.().learnedIdForm;
    const heard = (spelt: string, knownAs: string): void =>
      carrier.learned?.({ ...RECEIPT, carrierMessageId: knownAs, spelt }, knownAs);
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

  test("what is learned of ids is told once, and what was learned before counts from the first receipt on", async () => {
    const { carrier, learned } = await open();
    for (const each of ["255", "254"]) carrier.learned?.({ ...RECEIPT, spelt: each }, Number(each).toString(16));
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

  test("what was learned of ids counts no more once somebody has said how they are spelt", async () => {
    const { carrier } = await open({}, { idForm: "exact" }, { connections: 1 }, "from decimal to hex, in lower case");
    expect(carrier.state?.().learnedIdForm).toBeNull();
  });

  test("a receipt tells whose network the phone is in, where the line says which parameters do", async () => {
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

  test("a text that its phone has counted is handed over as the only part of itself", async () => {
    const { smsc, inbound, parts } = await open();
    smsc.text("15550100100", "HELIOG", "Yes", 7);
    smsc.text("15550100100", "HELIOG", "No", 0);
    await eventually(
      () => inbound.length + parts.length,
      (seen) => seen === 2,
    );
    expect(parts).toMatchObject([{ reference: 7, total: 1, index: 1, octets: Buffer.from("Yes") }]);
    expect(inbound).toMatchObject([{ content: { kind: "text", text: "No" } }]);
  });

  test("nothing is learned of a receipt that does not have its id as the carrier spelt it", async () => {
    const { carrier } = await open();
    carrier.learned?.({ ...RECEIPT, carrierMessageId: "255", otherIds: ["ff"] }, "ff");
    expect(carrier.state?.().learnedIdForm).toBeNull();
  });

  test("a receipt has the id as the carrier spelt it, also when another form is learned", async () => {
    const { carrier, receipts } = await open({ idForm: "hex", receiptIdForm: "decimal" });
    carrier.learned?.({ ...RECEIPT, spelt: "255" }, "ff");
    const outcome = await carrier.submit(messageTo("15550100100"));
    const [receipt] = await eventually(
      () => receipts,
      (seen) => seen.length === 1,
    );
    const id = outcome.kind === "taken" ? outcome.carrierMessageId : "";
    expect([receipt?.carrierMessageId, receipt?.spelt]).toEqual([id, String(Number(`0x${id}`))]);
  });

  test("a receipt on another bind is the same carrier's", async () => {
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

  test("what a phone sends is handed over in its own words", async () => {
    const { smsc, inbound } = await open();
    smsc.text("15550100100", "HELIOG", "STOP ☂");
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

  test("binds come and go with the node's share, and what is under way is answered first", async () => {
    const share = { connections: 3 };
    const { carrier, smsc } = await open({ answerAfterMs: 50 }, { connections: 3 }, share);
    await eventually(
      () => smsc.sessions,
      (sessions) => sessions === 3,
    );
    const under = Promise.all(Array.from({ length: 20 }, () => carrier.submit(messageTo("15550100100"))));
    share.connections = 1;
    carrier.onShare?.();
    expect((await under).every(({ kind }) => kind === "taken")).toBe(true);
    await eventually(
      () => smsc.sessions,
      (sessions) => sessions === 1,
    );
  });

  test("stop unbinds once the answers are there, and loses none of them", async () => {
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

  test("stop waits no longer than it is told to: what is not answered is in doubt, what was not sent is not", async () => {
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
