import { duplexPair, type Duplex } from "node:stream";
import { describe, expect, test } from "vitest";
import { encode } from "../../src/smpp/encode.ts";
import { Outbox } from "../../src/smpp/outbox.ts";
import { deliverSm, submitSm, type Pdu } from "../../src/smpp/pdu.ts";
import { RequestWindow, type Outcome } from "../../src/smpp/request-window.ts";
import { responseTo } from "../../src/smpp/respond.ts";
import { Session, type Answer, type Incoming, type SessionEnd } from "../../src/smpp/session.ts";
import { STATUS } from "../../src/smpp/status.ts";
import { MovedClock } from "../support/moved-clock.ts";
import { openTestConnection, settle } from "../support/smpp-connection.ts";

const message = submitSm({ destination: { ton: 1, npi: 1, address: "15550100100" }, shortMessage: Buffer.from("hi") });
const inbound = deliverSm({ shortMessage: Buffer.from("hi") });
const taken = (messageId: string, status = 0): Pdu => ({ command: "submit_sm_resp", status, messageId, tlvs: [] });
const pending = Symbol("pending");

/** The present value of a promise, or `pending`. */
async function now<T>(promise: Promise<T>): Promise<T | typeof pending> {
  await settle();
  return Promise.race([promise, Promise.resolve(pending)]);
}

describe("requests", () => {
  test("each request gets the response with its sequence number, in any order", async () => {
    const { session, peer: far } = openTestConnection();
    const outcomes = [session.request(message), session.request(message), session.request(message)];
    expect((await far.take(3)).map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    far.sendTogether([taken("c"), 3], [taken("a"), 1]);
    far.send(taken("b", STATUS.ESME_RTHROTTLED), 2);
    expect(await Promise.all(outcomes)).toEqual([
      { kind: "answer", pdu: taken("a") },
      { kind: "answer", pdu: taken("b", STATUS.ESME_RTHROTTLED) },
      { kind: "answer", pdu: taken("c") },
    ]);
  });

  test("a generic_nack is a response", async () => {
    const { session, peer: far } = openTestConnection();
    const outcome = session.request(message);
    await far.next();
    far.send({ command: "generic_nack", status: STATUS.ESME_RINVCMDID }, 1);
    expect(await outcome).toEqual({ kind: "answer", pdu: { command: "generic_nack", status: STATUS.ESME_RINVCMDID } });
  });

  test("a response of another command, or without a request, settles nothing and is reported", async () => {
    const { session, peer: far, violations } = openTestConnection();
    const outcome = session.request(message);
    await far.next();
    const wrong: Pdu = { command: "deliver_sm_resp", status: 0, messageId: "", tlvs: [] };
    far.sendTogether([wrong, 1], [taken("x"), 77]);
    expect(await now(outcome)).toBe(pending);
    expect(violations).toEqual([
      { kind: "stray", sequence: 1, pdu: wrong },
      { kind: "stray", sequence: 77, pdu: taken("x") },
    ]);
  });

  test("sequence numbers start at 1 and wrap around after 0x7FFFFFFF", () => {
    const [socket] = duplexPair();
    const window = new RequestWindow({ outbox: new Outbox(socket), now: () => 0, size: 1, sequence: 0x7fff_fffd });
    expect([1, 2, 3, 4].map(() => window.nextSequence())).toEqual([0x7fff_fffe, 0x7fff_ffff, 1, 2]);
  });

  test("many requests of one turn leave in few growing writes, the first before the turn ends", async () => {
    const [socket, far] = duplexPair();
    const pieces: number[] = [];
    far.on("data", (piece: Buffer) => pieces.push(piece.length));
    const outbox = new Outbox(socket);
    let firstWrittenAt = 0;
    for (let sequence = 1; sequence <= 500; sequence += 1) {
      outbox.put(message, sequence);
      if (firstWrittenAt === 0 && outbox.isWritten(1)) firstWrittenAt = sequence;
    }
    expect(firstWrittenAt).toBeGreaterThan(10);
    expect(firstWrittenAt).toBeLessThan(100);
    await settle();
    const allButLast = pieces.slice(0, -1);
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.length).toBeLessThan(6);
    expect(allButLast).toEqual(allButLast.toSorted((a, b) => a - b));
    const length = encode(message, 1).length;
    expect(pieces.reduce((sum, piece) => sum + piece, 0)).toBe(500 * length);
    outbox.put(message, 501);
    await settle();
    expect(pieces.at(-1)).toBe(length);
  });

  test("few requests of one turn leave in one write, and so do responses", async () => {
    const { session, peer: far } = openTestConnection({
      window: 100,
      onRequest: (pdu) => (pdu.command === "deliver_sm" ? responseTo(pdu) : null),
    });
    for (let index = 0; index < 50; index += 1) void session.request(message);
    await far.take(50);
    expect(far.chunks).toBe(1);
    far.sendTogether(...Array.from({ length: 50 }, (_, index): [Pdu, number] => [inbound, index]));
    await far.take(50);
    expect(far.chunks).toBe(2);
  });

  test("a request with a callback is settled by it, at once if the session is closed", async () => {
    const { session, peer: far } = openTestConnection();
    const seen: Outcome[] = [];
    session.sendRequest(message, (outcome) => seen.push(outcome));
    expect(seen).toEqual([]);
    await far.next();
    far.send(taken("a"), 1);
    await settle();
    session.destroy();
    session.sendRequest(message, (outcome) => seen.push(outcome));
    expect(seen).toEqual([
      { kind: "answer", pdu: taken("a") },
      { kind: "closed", wasWritten: false },
    ]);
  });

  test("requests beyond one chunk leave in order, long and short ones", async () => {
    const { session, peer: far } = openTestConnection({ window: 1000 });
    const long = submitSm({ tlvs: [{ tag: 0x0424, value: Buffer.alloc(60_000, 0x61) }] });
    for (let index = 0; index < 600; index += 1) void session.request(index % 100 === 50 ? long : message);
    const heard = await far.take(600);
    expect(heard.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 600 }, (_, index) => index + 1));
    expect(heard.filter(({ pdu }) => pdu.command === "submit_sm" && pdu.tlvs.length === 1)).toHaveLength(6);
  });

  test("a request that cannot be encoded rejects and affects no other", async () => {
    const { session, peer: far } = openTestConnection({ window: 2 });
    const bad = submitSm({ serviceType: "too long" });
    await expect(session.request(bad)).rejects.toThrow("serviceType has 8 characters; it takes 5");
    const good = [session.request(message), session.request(message)];
    await expect(session.request(bad)).rejects.toThrow(RangeError);
    const [first, second] = await far.take(2);
    far.sendTogether([taken("a"), first?.sequence ?? 0], [taken("b"), second?.sequence ?? 0]);
    expect((await Promise.all(good)).map(({ kind }) => kind)).toEqual(["answer", "answer"]);
    expect([session.pending, session.queued]).toEqual([0, 0]);
  });
});

describe("the window", () => {
  test("no more requests are in flight than the window holds; the others are queued visibly", async () => {
    const { session, peer: far } = openTestConnection({ window: 2 });
    expect(session.free).toBe(2);
    const outcomes = [1, 2, 3, 4].map(() => session.request(message));
    await settle();
    expect([far.received.length, session.pending, session.queued, session.free]).toEqual([2, 2, 2, 0]);
    far.send(taken("a"), 1);
    await settle();
    expect([far.received.length, session.pending, session.queued, session.free]).toEqual([3, 2, 1, 0]);
    far.sendTogether([taken("b"), 2], [taken("c"), 3]);
    await settle();
    far.send(taken("d"), 4);
    expect(await Promise.all(outcomes)).toEqual(["a", "b", "c", "d"].map((id) => ({ kind: "answer", pdu: taken(id) })));
    expect([session.pending, session.queued, session.free]).toEqual([0, 0, 2]);
  });

  test("a queued request that may no longer be sent is settled as unwritten and uses no slot", async () => {
    const { session, peer: far } = openTestConnection({ window: 1 });
    let isStopped = false;
    const first = session.request(message);
    const stopped = [1, 2].map(() => session.request(message, () => !isStopped));
    const last = session.request(message, () => true);
    await settle();
    isStopped = true;
    far.send(taken("a"), 1);
    expect(await Promise.all(stopped)).toEqual([1, 2].map(() => ({ kind: "closed", wasWritten: false })));
    expect(await first).toEqual({ kind: "answer", pdu: taken("a") });
    await settle();
    expect([far.received.length, session.pending, session.queued]).toEqual([2, 1, 0]);
    far.send(taken("d"), 4);
    expect(await last).toEqual({ kind: "answer", pdu: taken("d") });
    expect(await session.request(message, () => false)).toEqual({ kind: "closed", wasWritten: false });
    await settle();
    expect(far.received).toHaveLength(2);
  });

  test("onFree is called once per batch of freed slots", async () => {
    const told: number[] = [];
    const { session, peer: far } = openTestConnection({ window: 3, onFree: ({ free }) => told.push(free) });
    for (let index = 0; index < 3; index += 1) void session.request(message);
    await far.take(3);
    far.sendTogether([taken("a"), 1], [taken("b"), 2]);
    await settle();
    far.send(taken("c"), 3);
    await settle();
    expect(told).toEqual([2, 3]);
  });

  test("a caller that fills the window in onFree keeps it full and never queues", async () => {
    let sent = 0;
    let most = 0;
    const fill = (session: Session): void => {
      while (session.free > 0 && sent < 100) {
        sent += 1;
        void session.request(message);
      }
      most = Math.max(most, session.pending);
    };
    const { session, peer: far } = openTestConnection({ window: 7, onFree: fill });
    fill(session);
    for (let answered = 0; answered < 100; answered += 1) far.send(taken("x"), (await far.next()).sequence);
    await settle();
    expect([sent, most, session.queued, session.pending]).toEqual([100, 7, 0, 0]);
  });

  test("a request made in a callback queues behind the waiting ones", async () => {
    const { session, peer: far } = openTestConnection({ window: 1 });
    const named = (text: string) => submitSm({ shortMessage: Buffer.from(text) });
    session.sendRequest(named("first"), () => session.sendRequest(named("third"), () => {}));
    session.sendRequest(named("second"), () => {});
    const texts: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      const { pdu, sequence } = await far.next();
      texts.push(pdu.command === "submit_sm" ? pdu.shortMessage.toString() : pdu.command);
      far.send(taken("x"), sequence);
    }
    expect(texts).toEqual(["first", "second", "third"]);
  });

  test("the window can grow while requests are queued", async () => {
    const { session, peer: far } = openTestConnection({ window: 1 });
    for (let index = 0; index < 3; index += 1) void session.request(message);
    await settle();
    session.window = 3;
    expect((await far.take(3)).length).toBe(3);
    expect(session.queued).toBe(0);
  });
});

describe("time-outs and keep-alive", () => {
  test("a request without a response times out, and its late response is reported with its sequence", async () => {
    const {
      session,
      peer: far,
      clock,
      violations,
    } = openTestConnection({ responseTimeoutMs: 5000, enquireAfterMs: null });
    const first = session.request(message);
    await far.next();
    clock.advance(3000);
    const second = session.request(message);
    await far.next();
    clock.advance(1000);
    expect(await now(first)).toBe(pending);
    clock.advance(1000);
    expect(await first).toEqual({ kind: "timeout", sequence: 1 });
    expect(await now(second)).toBe(pending);
    far.sendTogether([taken("late"), 1], [taken("b"), 2]);
    expect(await second).toEqual({ kind: "answer", pdu: taken("b") });
    expect(violations).toEqual([{ kind: "stray", sequence: 1, pdu: taken("late") }]);
  });

  test("a slot freed by a time-out is reported and used by the queue", async () => {
    let told = 0;
    const {
      session,
      peer: far,
      clock,
    } = openTestConnection({
      window: 1,
      responseTimeoutMs: 5000,
      enquireAfterMs: null,
      onFree: () => (told += 1),
    });
    void session.request(message);
    const second = session.request(message);
    await far.next();
    clock.advance(6000);
    expect((await far.next()).sequence).toBe(2);
    far.send(taken("b"), 2);
    expect(await second).toEqual({ kind: "answer", pdu: taken("b") });
    expect(told).toBe(2);
  });

  test("a queued request gets its full time-out from when it is sent", async () => {
    const {
      session,
      peer: far,
      clock,
    } = openTestConnection({ window: 1, responseTimeoutMs: 5000, enquireAfterMs: null });
    void session.request(message);
    const second = session.request(message);
    await far.next();
    clock.advance(6000);
    await far.next();
    clock.advance(3000);
    expect(await now(second)).toBe(pending);
  });

  test("after silence an enquire_link is sent; any data is a sign of life", async () => {
    const { session, peer: far, clock } = openTestConnection({ enquireAfterMs: 30_000, responseTimeoutMs: 10_000 });
    clock.advance(29_000);
    await settle();
    expect(far.received).toEqual([]);
    clock.advance(1000);
    expect(await far.next()).toEqual({ kind: "pdu", sequence: 1, pdu: { command: "enquire_link" } });
    far.send({ command: "enquire_link_resp", status: 0 }, 1);
    await settle();
    clock.advance(29_000);
    await settle();
    expect(far.received).toHaveLength(1);
    clock.advance(1000);
    await far.next();
    far.send({ command: "enquire_link" }, 1);
    await settle();
    clock.advance(29_000);
    await settle();
    expect(session.isOpen).toBe(true);
    expect(far.received.map(({ pdu }) => pdu.command)).toEqual(["enquire_link", "enquire_link", "enquire_link_resp"]);
  });

  test("two unanswered enquire_link PDUs end the session", async () => {
    const { session, peer: far, clock } = openTestConnection({ enquireAfterMs: 30_000, responseTimeoutMs: 10_000 });
    clock.advance(49_000);
    await settle();
    expect([session.isOpen, far.received.length]).toEqual([true, 2]);
    clock.advance(1000);
    expect(await session.closed).toEqual({ reason: "silent" });
  });

  test("a missed enquire_link is forgotten once data arrives", async () => {
    const { session, peer: far, clock } = openTestConnection({ enquireAfterMs: 30_000, responseTimeoutMs: 10_000 });
    for (let round = 0; round < 5; round += 1) {
      clock.advance(45_000);
      far.send({ command: "enquire_link" }, round + 1);
      await settle();
    }
    expect(session.isOpen).toBe(true);
  });

  test("with null no enquire_link is sent", async () => {
    const { session, peer: far, clock } = openTestConnection({ enquireAfterMs: null });
    clock.advance(3_600_000);
    await settle();
    expect([session.isOpen, far.received]).toEqual([true, []]);
  });

  test("an enquire_link_resp is no violation and uses no window slot", async () => {
    const { session, peer: far, clock, violations } = openTestConnection({ window: 1, enquireAfterMs: 30_000 });
    clock.advance(30_000);
    await far.next();
    expect(session.free).toBe(1);
    far.send({ command: "enquire_link_resp", status: 0 }, 1);
    await settle();
    expect(violations).toEqual([]);
  });
});

describe("requests of the peer", () => {
  test("a request is answered with its own sequence number when the handler resolves", async () => {
    const answers: ((answer: Answer) => void)[] = [];
    const { peer: far } = openTestConnection({
      onRequest: () => new Promise<Answer>((resolve) => answers.push(resolve)),
    });
    far.sendTogether([inbound, 50], [inbound, 60]);
    await settle();
    answers[1]?.(responseTo(inbound, { status: STATUS.ESME_RX_T_APPN }));
    expect(await far.next()).toMatchObject({ sequence: 60, pdu: { command: "deliver_sm_resp", status: 0x64 } });
    answers[0]?.(responseTo(inbound));
    expect(await far.next()).toMatchObject({ sequence: 50, pdu: { command: "deliver_sm_resp", status: 0 } });
  });

  test("enquire_link is answered without the handler", async () => {
    const asked: Incoming[] = [];
    const { peer: far } = openTestConnection({ onRequest: (pdu) => (asked.push(pdu), null) });
    far.send({ command: "enquire_link" }, 9);
    expect(await far.next()).toMatchObject({ sequence: 9, pdu: { command: "enquire_link_resp", status: 0 } });
    expect(asked).toEqual([]);
  });

  test.each<[string, (pdu: Incoming) => Answer | Promise<Answer>]>([
    ["throws", () => { throw new Error("broken"); }],
    ["rejects", () => Promise.reject(new Error("broken"))],
    ["gives another command's answer", () => taken("x") as Answer],
    ["gives an answer that cannot be written", () => responseTo(inbound, { messageId: "x".repeat(65) })],
  ])("a request whose handler %s is answered with a system error and reported", async (_how, onRequest) => {
    const { session, peer: far, violations } = openTestConnection({ onRequest });
    far.send(inbound, 5);
    expect(await far.next()).toMatchObject({ sequence: 5, pdu: { command: "deliver_sm_resp", status: STATUS.ESME_RSYSERR } });
    expect(violations).toMatchObject([{ kind: "handler failed", pdu: { command: "deliver_sm" } }]);
    expect(session.isOpen).toBe(true);
  }); // prettier-ignore

  test("null leaves a request unanswered", async () => {
    const { session, peer: far } = openTestConnection({ onRequest: () => null });
    far.send(inbound, 5);
    await settle();
    expect([far.received, session.isOpen]).toEqual([[], true]);
  });

  test("notices reach the handler and are never answered", async () => {
    const seen: string[] = [];
    const { session, peer: far } = openTestConnection({
      onRequest: (pdu) => {
        seen.push(pdu.command);
        throw new Error("broken");
      },
    });
    const nobody = { ton: 0, npi: 0, address: "" };
    far.send({ command: "alert_notification", source: nobody, esme: nobody, tlvs: [] }, 1);
    far.send({ command: "outbind", systemId: "smsc", password: "", tlvs: [] }, 2);
    await settle();
    expect([seen, far.received]).toEqual([["alert_notification", "outbind"], []]);
    session.notify({ command: "outbind", systemId: "us", password: "", tlvs: [] });
    expect(await far.next()).toMatchObject({ sequence: 1, pdu: { command: "outbind" } });
  });

  test("an unknown command gets a generic_nack; an unknown response is not answered", async () => {
    const { session, peer: far, violations } = openTestConnection();
    far.sendOctets("00000010 00000111 00000000 00000042  00000010 80000111 00000000 00000043");
    expect(await far.next()).toMatchObject({ sequence: 0x42, pdu: { command: "generic_nack", status: 3 } });
    await settle();
    expect([far.received.length, session.isOpen]).toEqual([1, true]);
    expect(violations.map(({ kind }) => kind)).toEqual(["malformed", "malformed"]);
  });

  test("a malformed request is answered with its status, and the next one is read", async () => {
    const { peer: far } = openTestConnection();
    far.sendOctets("00000012 00000004 00000000 00000042 0005");
    expect(await far.next()).toMatchObject({ sequence: 0x42, pdu: { command: "submit_sm_resp", status: 2 } });
    far.sendOctets("00000011 0000000b 00000000 00000043 41");
    expect(await far.next()).toMatchObject({ sequence: 0x43, pdu: { command: "generic_nack", status: 2 } });
    far.send({ command: "enquire_link" }, 1);
    expect(await far.next()).toMatchObject({ pdu: { command: "enquire_link_resp" } });
  });

  test.each(["00000000", "0000000f", "00010401", "ffffffff"])(
    "a length of 0x%s ends the session after a generic_nack",
    async (length) => {
      const { session, peer: far } = openTestConnection();
      const outcome = session.request(message);
      await far.next();
      far.sendOctets(`00000010 00000015 00000000 00000001 ${length} 00000015`);
      expect((await far.take(2)).map(({ sequence, pdu }) => [sequence, pdu])).toEqual([
        [1, { command: "enquire_link_resp", status: 0 }],
        [0, { command: "generic_nack", status: STATUS.ESME_RINVCMDLEN }],
      ]);
      await far.ended();
      expect(await session.closed).toEqual({ reason: "unframeable" });
      expect(await outcome).toEqual({ kind: "closed", wasWritten: true });
    },
  );
});

describe("backpressure", () => {
  test("reading pauses while a thousand requests wait for the handler, and time-outs pause too", async () => {
    const answers: ((answer: Answer) => void)[] = [];
    const {
      session,
      peer: far,
      clock,
    } = openTestConnection({
      responseTimeoutMs: 5000,
      enquireAfterMs: 10_000,
      onRequest: () => new Promise<Answer>((resolve) => answers.push(resolve)),
    });
    const outcome = session.request(message);
    await far.next();
    for (let sent = 0; sent < 1500; sent += 1) far.send(inbound, sent + 1);
    far.send(taken("a"), 1);
    await settle();
    expect(answers.length).toBeLessThan(1500);
    clock.advance(600_000);
    await settle();
    expect([session.isOpen, session.pending]).toEqual([true, 1]);
    while (answers.length > 0) {
      for (const answer of answers.splice(0)) answer(responseTo(inbound));
      await settle();
    }
    expect(await outcome).toEqual({ kind: "answer", pdu: taken("a") });
    expect((await far.take(1500)).length).toBe(1500);
  });

  test("a peer that does not read receives no further requests", async () => {
    const { session, peer: far } = openTestConnection({ window: 10_000, enquireAfterMs: null });
    far.socket.pause();
    const long = submitSm({ tlvs: [{ tag: 0x0424, value: Buffer.alloc(50_000) }] });
    void session.request(long);
    await settle();
    for (let index = 0; index < 20; index += 1) void session.request(long);
    await settle();
    const { pending: sent } = session;
    expect(sent).toBeLessThan(10);
    expect(session.queued).toBe(21 - sent);
    far.send(taken("a"), 1);
    await settle();
    expect([session.pending, session.queued]).toEqual([sent - 1, 21 - sent]);
    far.socket.resume();
    await far.take(21);
    expect([session.pending, session.queued]).toEqual([20, 0]);
  });

  test("unread responses pause reading before they fill the memory", async () => {
    const { peer: far } = openTestConnection({ enquireAfterMs: null });
    far.socket.pause();
    const enquiries = Buffer.concat(
      Array.from({ length: 1000 }, () => Buffer.from("00000010000000150000000000000001", "hex")),
    );
    let said = 0;
    for (; said < 1000; said += 1) {
      if (!far.socket.write(enquiries)) await settle();
      if (far.socket.writableNeedDrain) break;
    }
    expect(said).toBeGreaterThan(60);
    expect(said).toBeLessThan(100);
    far.socket.resume();
    await settle();
    expect(far.socket.writableNeedDrain).toBe(false);
  });
});

describe("the end of a session", () => {
  test("unbind waits for outstanding responses, returns unsent requests and closes", async () => {
    const { session, peer: far } = openTestConnection({ window: 1 });
    const sent = session.request(message);
    const queued = session.request(message);
    await far.next();
    const over = session.unbind();
    expect(await queued).toEqual({ kind: "closed", wasWritten: false });
    expect(await session.request(message)).toEqual({ kind: "closed", wasWritten: false });
    await settle();
    expect([far.received.length, session.free, session.isOpen]).toEqual([1, 0, false]);
    far.send(taken("a"), 1);
    expect(await sent).toEqual({ kind: "answer", pdu: taken("a") });
    const unbind = await far.next();
    expect(unbind.pdu).toEqual({ command: "unbind" });
    far.send({ command: "unbind_resp", status: 0 }, unbind.sequence);
    expect(await over).toEqual({ reason: "unbound", by: "us" });
    await far.ended();
    expect(far.received).toHaveLength(2);
  });

  test("unbind waits for the handler's responses", async () => {
    let answer: (answer: Answer) => void = () => {};
    const { session, peer: far } = openTestConnection({
      onRequest: () => new Promise<Answer>((resolve) => (answer = resolve)),
    });
    far.send(inbound, 7);
    await settle();
    void session.unbind();
    await settle();
    expect(far.received).toEqual([]);
    answer(responseTo(inbound));
    expect((await far.take(2)).map(({ pdu }) => pdu.command)).toEqual(["deliver_sm_resp", "unbind"]);
  });

  test("data written in the turn of the peer's unbind counts as written", async () => {
    const { session, peer: far, clock } = openTestConnection();
    const outcomes: Outcome[] = [];
    session.sendRequest(message, () => session.sendRequest(message, (outcome) => outcomes.push(outcome)));
    await far.next();
    far.sendTogether([taken("a"), 1], [{ command: "unbind" }, 9]);
    await settle();
    clock.advance(3000);
    expect((await far.take(2)).map(({ pdu }) => pdu.command)).toEqual(["submit_sm", "unbind_resp"]);
    expect(outcomes).toEqual([{ kind: "closed", wasWritten: true }]);
  });

  test("a connection that the peer does not close is destroyed", async () => {
    const [near, other] = duplexPair({ allowHalfOpen: true });
    const clock = new MovedClock();
    const session = new Session(near, { clock, onRequest: () => null });
    other.resume().write(Buffer.from("00000010000000060000000000000001", "hex"));
    expect(await session.closed).toEqual({ reason: "unbound", by: "peer" });
    await settle();
    expect(near.destroyed).toBe(false);
    clock.advance(1000);
    expect(near.destroyed).toBe(true);
  });

  test("unbind never waits for ever", async () => {
    const { session, peer: far, clock } = openTestConnection({ enquireAfterMs: null });
    const outcome = session.request(message);
    await far.next();
    const over = session.unbind();
    clock.advance(10_000);
    expect((await far.next()).pdu).toEqual({ command: "unbind" });
    clock.advance(5000);
    expect(await over).toEqual({ reason: "unbound", by: "us" });
    expect(await outcome).toEqual({ kind: "closed", wasWritten: true });
    await far.ended();
  });

  test("unbind waits no longer than its time-outs", async () => {
    const { session, peer: far, clock } = openTestConnection({ enquireAfterMs: null });
    const outcome = session.request(message);
    await far.next();
    const over = session.unbind({ drainMs: 500, unbindMs: 100 });
    clock.advance(500);
    expect((await far.next()).pdu).toEqual({ command: "unbind" });
    clock.advance(100);
    expect(await over).toEqual({ reason: "unbound", by: "us" });
    expect(await outcome).toEqual({ kind: "closed", wasWritten: true });
  });

  test("a peer that unbinds may still answer, and receives no new requests", async () => {
    const { session, peer: far } = openTestConnection({ window: 1 });
    const sent = session.request(message);
    const queued = session.request(message);
    await far.next();
    far.send({ command: "unbind" }, 9);
    expect(await queued).toEqual({ kind: "closed", wasWritten: false });
    expect(far.received).toHaveLength(1);
    far.send(taken("a"), 1);
    expect(await sent).toEqual({ kind: "answer", pdu: taken("a") });
    expect((await far.next()).pdu.command).toBe("unbind_resp");
    expect(await session.closed).toEqual({ reason: "unbound", by: "peer" });
  });

  test("a peer that unbinds gets its outstanding responses before unbind_resp", async () => {
    let answer: (answer: Answer) => void = () => {};
    const {
      session,
      peer: far,
      clock,
    } = openTestConnection({
      onRequest: () => new Promise<Answer>((resolve) => (answer = resolve)),
    });
    const ours = session.request(message);
    await far.next();
    far.sendTogether([inbound, 1], [{ command: "unbind" }, 2]);
    await settle();
    clock.advance(3000);
    await settle();
    expect([far.received.length, session.isOpen]).toEqual([1, false]);
    answer(responseTo(inbound));
    expect((await far.take(2)).map(({ sequence, pdu }) => [sequence, pdu.command])).toEqual([
      [1, "deliver_sm_resp"],
      [2, "unbind_resp"],
    ]);
    await far.ended();
    expect(await session.closed).toEqual({ reason: "unbound", by: "peer" });
    expect(await ours).toEqual({ kind: "closed", wasWritten: true });
  });

  test.each<[string, (session: Session, near: Duplex, other: Duplex) => void, SessionEnd]>([
    ["the other side hangs up", (_session, _near, other) => other.destroy(), { reason: "hung up" }],
    ["it is destroyed", (session) => session.destroy(), { reason: "destroyed" }],
    ["the socket fails", (_session, near) => near.destroy(new Error("reset")), { reason: "failed", error: new Error("reset") }],
  ])("when %s, every request is settled first, and the end is reported once", async (_how, end, told) => {
    const [near, other] = duplexPair();
    const session = new Session(near, { window: 1, onRequest: () => null });
    const seen: (Outcome | SessionEnd)[] = [];
    void session.request(message).then((outcome) => seen.push(outcome));
    void session.request(message).then((outcome) => seen.push(outcome));
    void session.closed.then((closed) => seen.push(closed));
    await settle();
    end(session, near, other);
    await session.closed;
    session.destroy();
    expect(await session.unbind()).toEqual(told);
    await settle();
    expect(seen).toEqual([{ kind: "closed", wasWritten: true }, { kind: "closed", wasWritten: false }, told]);
    expect([session.isOpen, session.pending, session.queued, session.free]).toEqual([false, 0, 0, 0]);
    expect(await session.request(message)).toEqual({ kind: "closed", wasWritten: false });
  }); // prettier-ignore

  test("requests of the turn in which the session is destroyed count as unwritten", async () => {
    const { session, peer: far } = openTestConnection();
    const first = session.request(message);
    await far.next();
    const second = session.request(message);
    session.destroy();
    expect([await first, await second]).toEqual([
      { kind: "closed", wasWritten: true },
      { kind: "closed", wasWritten: false },
    ]);
    await settle();
    expect(far.received).toHaveLength(1);
  });

  test("a response after the end is dropped", async () => {
    let answer: (answer: Answer) => void = () => {};
    const {
      session,
      peer: far,
      violations,
    } = openTestConnection({
      onRequest: () => new Promise<Answer>((resolve) => (answer = resolve)),
    });
    far.send(inbound, 1);
    await settle();
    session.destroy();
    answer(responseTo(inbound));
    await settle();
    expect([far.received, violations]).toEqual([[], []]);
  });

  test("a closed session leaves no timer", async () => {
    const { session, peer: far, clock } = openTestConnection({ enquireAfterMs: 1000 });
    session.destroy();
    clock.advance(3_600_000);
    await settle();
    expect(far.received).toEqual([]);
  });

  test("a session on a destroyed socket is closed", async () => {
    const [near] = duplexPair();
    near.destroy();
    await settle();
    const session = new Session(near, { onRequest: () => null });
    expect(await session.closed).toEqual({ reason: "hung up" });
    expect(await session.request(message)).toEqual({ kind: "closed", wasWritten: false });
  });
});
