import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { encodeGsm7 } from "../../src/lib/gsm7.ts";
import { bind as bindClient, type BindOptions } from "../../src/smpp/client.ts";
import { submitSm, type DeliverSm, type Pdu, type SubmitSm } from "../../src/smpp/pdu.ts";
import { responseTo } from "../../src/smpp/respond.ts";
import type { Session } from "../../src/smpp/session.ts";
import { STATUS } from "../../src/smpp/status.ts";
import { findTlv, tlv } from "../../src/smpp/tlv.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer, type ErrorBody, type TestServer } from "../support/test-server.ts";

interface Credential {
  id: string;
  username: string;
  password: string;
}

/** A bound client that keeps what it receives. */
interface Client {
  session: Session;
  received: DeliverSm[];
  submit(fields?: Partial<SubmitSm>): Promise<{ status: number; messageId: string }>;
}

const PHONE = "15550100100";
const sourceOf = (address: string) => ({ ton: 5, npi: 0, address });
const phone = (address: string) => ({ ton: 1, npi: 1, address });
const textOf = ({ shortMessage }: DeliverSm): string => shortMessage.toString("latin1");
const statOf = (pdu: DeliverSm): string => /stat:(\w+)/.exec(textOf(pdu))?.[1] ?? "";
const idIn = (pdu: DeliverSm): string => /^id:(\S+)/.exec(textOf(pdu))?.[1] ?? "";

describe.each(ENGINES)("the SMPP server on %s", (engine) => {
  let server: TestServer;
  let credential: Credential;
  const open: Session[] = [];

  beforeAll(async () => {
    server = await startTestServer(engine, { env: { HELIOGRAPH_SMPP_PORT: "0", HELIOGRAPH_SMPP_RECEIPT_HOURS: "72" } });
    credential = await create();
  });
  afterEach(() => {
    for (const session of open.splice(0)) session.destroy();
  });
  afterAll(() => server.close());

  async function create(fields: Record<string, unknown> = {}): Promise<Credential> {
    const answer = await server.request<Credential & { error?: ErrorBody }>("POST", "/api/credentials", {
      kind: "smpp",
      name: "Reseller",
      ...fields,
    });
    expect(answer.status).toBe(201);
    return answer.body;
  }

  async function tryBind(as: Credential = credential, more: Partial<BindOptions> = {}) {
    const received: DeliverSm[] = [];
    const result = await bindClient({
      host: "127.0.0.1",
      port: server.app.smppPorts.plain ?? 0,
      systemId: as.username,
      password: as.password,
      onRequest: (pdu) => {
        if (pdu.command !== "deliver_sm") return null;
        received.push({ ...pdu, shortMessage: Buffer.from(pdu.shortMessage) });
        return responseTo(pdu);
      },
      ...more,
    });
    return { result, received };
  }

  async function connect(as: Credential = credential, more: Partial<BindOptions> = {}): Promise<Client> {
    const { result, received } = await tryBind(as, more);
    if (result.kind !== "bound") throw new Error(`not bound: ${JSON.stringify(result)}`);
    const { session } = result;
    open.push(session);
    const submit: Client["submit"] = async (fields) => {
      const outcome = await session.request(submitSm({ ...ordinary(), ...fields }));
      if (outcome.kind !== "answer") throw new Error(`no answer: ${outcome.kind}`);
      const pdu: Pdu = outcome.pdu;
      return { status: pdu.status, messageId: "messageId" in pdu ? pdu.messageId : "" };
    };
    return { session, received, submit };
  }

  const ordinary = (): Partial<SubmitSm> => ({
    source: sourceOf("SHOP"),
    destination: phone(PHONE),
    registeredDelivery: 1,
    shortMessage: encodeGsm7("Hello {SMPP} €") ?? Buffer.alloc(0),
  });

  it("a submitted message goes to the phone, and its receipt comes back under its id", async () => {
    const client = await connect();
    const { status, messageId } = await client.submit({ destination: phone("15550100200") });
    expect(status).toBe(STATUS.ESME_ROK);
    expect(messageId).toMatch(/^[0-9a-f]{32}$/);
    await eventually(
      () => client.received.length,
      (count) => count === 1,
    );
    const [receipt] = client.received as [DeliverSm];
    expect(receipt.esmClass).toBe(0x04);
    expect(idIn(receipt)).toBe(messageId);
    expect(statOf(receipt)).toBe("DELIVRD");
    expect(findTlv(receipt.tlvs, "receipted_message_id")).toBe(messageId);
    expect(findTlv(receipt.tlvs, "message_state")).toBe(2);
    expect(receipt.source).toEqual(phone("15550100200"));
    expect(receipt.destination).toEqual(sourceOf("SHOP"));
    const [onPhone] = await server.onPhone("15550100200");
    expect(onPhone).toMatchObject({ text: "Hello {SMPP} €", sender: "SHOP" });
  });

  it("the parts of a long text arrive as one message, on any bind, with one receipt for each part", async () => {
    const [first, second] = [await connect(), await connect()];
    const part = (index: number, text: string): Partial<SubmitSm> => ({
      destination: phone("15550100201"),
      esmClass: 0x40,
      shortMessage: Buffer.concat([Buffer.from([5, 0, 3, 9, 2, index]), encodeGsm7(text) ?? Buffer.alloc(0)]),
    });
    const later = await second.submit(part(2, "y".repeat(20)));
    const earlier = await first.submit(part(1, "x".repeat(153)));
    expect([later.status, earlier.status]).toEqual([0, 0]);
    expect(later.messageId).not.toBe(earlier.messageId);
    const receipts = () => [...first.received, ...second.received].map(idIn);
    await eventually(receipts, (ids) => [earlier, later].every(({ messageId }) => ids.includes(messageId)));
    const [onPhone] = await server.onPhone("15550100201");
    expect(onPhone?.text).toBe("x".repeat(153) + "y".repeat(20));
  });

  it("long texts whose parts arrive at once are each accepted once, and no part is reported as rejected", async () => {
    const client = await connect(await create({ window: 1000 }));
    const texts = Array.from({ length: 20 }, (_, reference) => ({ reference, to: `155501003${10 + reference}` }));
    const submits = texts.flatMap(({ reference, to }) =>
      [1, 2, 3].map((index) =>
        client.submit({
          destination: phone(to),
          esmClass: 0x40,
          shortMessage: Buffer.concat([Buffer.from([5, 0, 3, reference, 3, index]), Buffer.from(`part ${index} `)]),
        }),
      ),
    );
    const answers = await Promise.all(submits);
    expect(answers.filter(({ status }) => status !== STATUS.ESME_ROK)).toEqual([]);
    const receipts = await eventually(
      () => client.received.map((pdu) => [idIn(pdu), statOf(pdu)].join(" ")),
      (seen) => new Set(seen).size >= answers.length,
    );
    expect(new Set(receipts)).toEqual(new Set(answers.map(({ messageId }) => `${messageId} DELIVRD`)));
    for (const { to } of texts)
      expect((await server.onPhone(to)).map(({ text }) => text)).toEqual(["part 1 part 2 part 3 "]);
  });

  it("a repeated last part of a long text gets the same id and creates no second message", async () => {
    const client = await connect();
    const to = "15550100218";
    const part = (index: number): Partial<SubmitSm> => ({
      destination: phone(to),
      esmClass: 0x40,
      shortMessage: Buffer.concat([Buffer.from([5, 0, 3, 12, 2, index]), Buffer.from(`secret ${index} `)]),
    });
    const first = await client.submit(part(1));
    expect(
      JSON.stringify(await server.app.store.listSubmittedTexts({ before: 0, expiredBefore: Date.now() + 1 }, 9)),
    ).not.toContain(Buffer.from("secret 1 ").toString("base64").slice(0, 8));
    const last = await client.submit(part(2));
    expect(await client.submit(part(2))).toEqual(last);
    await eventually(
      () => client.received.map(idIn),
      (ids) => [first, last].every(({ messageId }) => ids.includes(messageId)),
    );
    expect((await server.onPhone(to)).map(({ text }) => text)).toEqual(["secret 1 secret 2 "]);
    // A whole text that comes again is a new message, under the ids that its parts have.
    expect(await client.submit(part(1))).toEqual(first);
    await eventually(
      () => server.onPhone(to),
      ({ length }) => length === 2,
    );
  });

  it("parts repeated while their text is accepted get the ids of their receipts", async () => {
    const client = await connect(await create({ window: 1000 }), { window: 1000 });
    const part = (reference: number, index: number): Partial<SubmitSm> => ({
      destination: phone(String(15_550_100_600 + reference)),
      esmClass: 0x40,
      shortMessage: Buffer.concat([Buffer.from([5, 0, 3, reference, 2, index]), Buffer.from(`again ${index} `)]),
    });
    const references = Array.from({ length: 20 }, (_, reference) => reference);
    /** A busy machine may refuse for the moment, and then the client submits again. */
    const submitted = (fields: Partial<SubmitSm>) =>
      eventually(
        () => client.submit(fields),
        ({ status }) => status !== STATUS.ESME_RMSGQFUL,
      );
    const first = await Promise.all(references.map((reference) => submitted(part(reference, 1))));
    // The last part comes with repetitions of both, as after a cut.
    const rest = await Promise.all(
      references.flatMap((reference) =>
        [2, 1, 2, 1, 2].map(async (index) => ({ reference, index, ...(await submitted(part(reference, index))) })),
      ),
    );
    const idsOf = (reference: number, index: number) =>
      new Set([
        ...(index === 1 ? [first[reference]?.messageId] : []),
        ...rest.filter((each) => each.reference === reference && each.index === index).map((each) => each.messageId),
      ]);
    for (const reference of references)
      expect([idsOf(reference, 1).size, idsOf(reference, 2).size], `text ${reference}`).toEqual([1, 1]);
    const ids = new Set([...first, ...rest].map(({ messageId }) => messageId));
    await eventually(
      () => new Set(client.received.map(idIn)),
      (seen) => [...ids].every((id) => seen.has(id)),
    );
  });

  it("a long text whose time has come before its last part is sent at once", async () => {
    const client = await connect();
    const part = (index: number): Partial<SubmitSm> => ({
      destination: phone("15550100217"),
      esmClass: 0x40,
      scheduleDeliveryTime: "000000000001000R",
      shortMessage: Buffer.concat([Buffer.from([5, 0, 3, 11, 2, index]), Buffer.from(`part ${index} `)]),
    });
    const due = Date.now() + 1000;
    expect((await client.submit(part(1))).status).toBe(STATUS.ESME_ROK);
    await eventually(
      () => Date.now(),
      (now) => now > due + 100,
    );
    expect((await client.submit({ ...part(2), scheduleDeliveryTime: "" })).status).toBe(STATUS.ESME_ROK);
    const [onPhone] = await eventually(
      () => server.onPhone("15550100217"),
      (messages) => messages.length === 1,
    );
    expect(onPhone?.text).toBe("part 1 part 2 ");
  });

  it("receipts wait for a client that is away", async () => {
    const client = await connect(credential);
    const { messageId } = await client.submit({ destination: phone("15550100202") });
    client.session.destroy();
    await server.settled(`${uuidOf(messageId)}:1`);
    const next = await connect(credential);
    const ids = await eventually(
      () => next.received.map(idIn),
      (seen) => seen.includes(messageId),
    );
    expect(ids.filter((id) => id === messageId)).toHaveLength(1);
  });

  it("a wrong password and an unknown system id are refused alike", async () => {
    const wrong = await tryBind({ ...credential, password: "wrong" });
    const unknown = await tryBind({ ...credential, username: "nothere" });
    expect(wrong.result).toMatchObject({ kind: "refused", status: STATUS.ESME_RINVPASWD });
    expect(unknown.result).toMatchObject({ kind: "refused", status: STATUS.ESME_RINVPASWD });
  });

  it("binds beyond the limit of the system id are refused", async () => {
    const one = await create({ maxBinds: 1 });
    await connect(one);
    expect((await tryBind(one)).result).toMatchObject({ kind: "refused", status: STATUS.ESME_RBINDFAIL });
  });

  it("a text from a phone goes to the system ids whose sender it was sent to", async () => {
    const mine = await create({ senders: ["15550009999"] });
    const [receiver, other] = [await connect(mine), await connect(await create({ senders: ["15550008888"] }))];
    await receiver.submit({
      source: sourceOf("15550009999"),
      destination: phone("15550100210"),
      registeredDelivery: 0,
    });
    await eventually(
      () => server.onPhone("15550100210"),
      (messages) => messages.length === 1,
    );
    const answer = await server.request("POST", "/api/simulator/phones/15550100210/reply", {
      to: "15550009999",
      text: "Où est ma commande ? ".repeat(10),
    });
    expect(answer.status).toBeLessThan(300);
    await eventually(
      () => receiver.received.length,
      (count) => count === 2,
    );
    expect(receiver.received.map(({ esmClass }) => esmClass)).toEqual([0x40, 0x40]);
    expect(receiver.received[0]).toMatchObject({ source: phone("15550100210"), destination: phone("15550009999") });
    expect(other.received).toEqual([]);
  });

  it("query_sm and cancel_sm find a message by its id, for its own system id only", async () => {
    const client = await connect();
    const { messageId } = await client.submit({
      destination: phone("15550100211"),
      scheduleDeliveryTime: "000001000000000R",
      registeredDelivery: 1,
    });
    const source = sourceOf("SHOP");
    const query = async () => {
      const outcome = await client.session.request({ command: "query_sm", messageId, source, tlvs: [] });
      return outcome.kind === "answer" ? outcome.pdu : null;
    };
    expect(await query()).toMatchObject({ status: 0, messageId, messageState: 1, finalDate: "" });
    for (const stranger of [await connect(await create()), await connect(await create({ mode: "test" }))]) {
      const ask = { source, messageId, tlvs: [] };
      const queried = await stranger.session.request({ command: "query_sm", ...ask });
      expect(queried).toMatchObject({ pdu: { status: STATUS.ESME_RQUERYFAIL } });
      const destination = phone("15550100211");
      const cancelled = await stranger.session.request({ command: "cancel_sm", serviceType: "", destination, ...ask });
      expect(cancelled).toMatchObject({ pdu: { status: STATUS.ESME_RINVMSGID } });
    }
    const cancel = async (id: string) => {
      const destination = phone("15550100211");
      const outcome = await client.session.request({
        command: "cancel_sm",
        serviceType: "",
        messageId: id,
        source,
        destination,
        tlvs: [],
      });
      return outcome.kind === "answer" ? outcome.pdu.status : null;
    };
    expect(await cancel(messageId)).toBe(STATUS.ESME_ROK);
    expect(await query()).toMatchObject({ status: 0, messageState: 4 });
    expect(await cancel("0".repeat(32))).toBe(STATUS.ESME_RINVMSGID);
    await eventually(
      () => client.received.filter((pdu) => idIn(pdu) === messageId).map(statOf),
      (stats) => stats.includes("DELETED"),
    );
  });

  it("submit_multi sends one text to several numbers under one id", async () => {
    const client = await connect();
    const { source, registeredDelivery, shortMessage } = ordinary();
    const submit = submitSm({
      source: source ?? sourceOf("SHOP"),
      registeredDelivery: registeredDelivery ?? 1,
      shortMessage: shortMessage ?? Buffer.alloc(0),
    });
    const { destination: _, ...fields } = submit;
    const outcome = await client.session.request({
      ...fields,
      command: "submit_multi",
      destinations: ["15550100212", "15550100213"].map((number) => ({
        kind: "address" as const,
        address: phone(number),
      })),
    });
    const messageId = outcome.kind === "answer" && "messageId" in outcome.pdu ? outcome.pdu.messageId : "";
    expect(messageId).not.toBe("");
    const numbers = () =>
      client.received.filter((pdu) => idIn(pdu) === messageId).map(({ source: from }) => from.address);
    await eventually(numbers, (seen) => seen.includes("15550100212") && seen.includes("15550100213"));
  });

  it("cancel_sm of a message to several numbers cancels the one that it names, or none", async () => {
    const client = await connect();
    const source = sourceOf("SHOP");
    const { destination: _, ...fields } = submitSm({
      source,
      shortMessage: Buffer.from("later"),
      scheduleDeliveryTime: "000001000000000R",
    });
    const destinations = ["15550100218", "15550100219"].map((number) => ({
      kind: "address" as const,
      address: phone(number),
    }));
    const outcome = await client.session.request({ ...fields, command: "submit_multi", destinations });
    const messageId = outcome.kind === "answer" && "messageId" in outcome.pdu ? outcome.pdu.messageId : "";
    const cancel = async (number: string) => {
      const destination = phone(number);
      const ask = { command: "cancel_sm", serviceType: "", messageId, source, destination, tlvs: [] } as const;
      const answer = await client.session.request(ask);
      return answer.kind === "answer" ? answer.pdu.status : null;
    };
    const stateOf = async (n: number) => (await server.message(`${uuidOf(messageId)}:${n}`)).status;
    expect(await cancel("15550100299")).toBe(STATUS.ESME_RINVMSGID);
    expect(await cancel("15550100219")).toBe(STATUS.ESME_ROK);
    expect([await stateOf(1), await stateOf(2)]).toEqual(["Pending", "Failed"]);
  });

  it("replace_sm is answered as unknown, and a feature that the system id lacks is refused", async () => {
    const client = await connect(await create({ features: [] }));
    const source = sourceOf("SHOP");
    const outcome = await client.session.request({ command: "query_sm", messageId: "x", source, tlvs: [] });
    expect(outcome).toMatchObject({ kind: "answer", pdu: { status: STATUS.ESME_RPROHIBITED } });
    const replaced = await client.session.request({
      command: "replace_sm",
      messageId: "x",
      source,
      scheduleDeliveryTime: "",
      validityPeriod: "",
      registeredDelivery: 0,
      defaultMessageId: 0,
      shortMessage: Buffer.from("x"),
      tlvs: [],
    });
    expect(replaced).toMatchObject({ kind: "answer", pdu: { status: STATUS.ESME_RINVCMDID } });
  });

  it("submits beyond the rate of the system id are throttled", async () => {
    const client = await connect(await create({ messagesPerSecond: 1 }));
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.submit()));
    expect(answers[0]?.status).toBe(STATUS.ESME_ROK);
    expect(answers.some(({ status }) => status === STATUS.ESME_RTHROTTLED)).toBe(true);
  });

  it("messages of a test system id go to the simulator and are shown as test messages", async () => {
    const client = await connect(await create({ mode: "test" }));
    const { messageId } = await client.submit({ destination: phone("15550100214") });
    expect(await server.message(`${uuidOf(messageId)}:1`)).toMatchObject({ test: true });
  });

  describe("options of a system id for its receipts", () => {
    const failing = "15550109001";
    const finalStates = new Set(["DELIVRD", "UNDELIV", "FAILED", "DELETED"]);
    /** The receipts of a submit, up to the final one. */
    async function receiptsOf(client: Client, fields: Partial<SubmitSm>): Promise<DeliverSm[]> {
      const { messageId } = await client.submit(fields);
      const own = () => client.received.filter((pdu) => idIn(pdu) === messageId);
      return eventually(own, (receipts) => receipts.some((pdu) => finalStates.has(statOf(pdu))));
    }
    const errOf = (pdu: DeliverSm | undefined): string => /err:(\S*)/.exec(pdu ? textOf(pdu) : "")?.[1] ?? "";

    it("intermediateReceipts: ENROUTE comes before the final receipt, if the submit asks for it", async () => {
      const client = await connect();
      const asked = await receiptsOf(client, { registeredDelivery: 0x11 });
      expect(asked.map(statOf)).toEqual(["ENROUTE", "DELIVRD"]);
      expect(asked.map(({ esmClass }) => esmClass)).toEqual([0x20, 0x04]);
      expect(asked.map(({ tlvs }) => findTlv(tlvs, "message_state"))).toEqual([1, 2]);
      const unasked = await receiptsOf(client, { registeredDelivery: 1 });
      expect(unasked.map(statOf)).toEqual(["DELIVRD"]);
    });

    it("intermediateReceipts: false sends final receipts only, also to submits that ask for ENROUTE", async () => {
      const client = await connect(await create({ intermediateReceipts: false }));
      // Receipts of one message come in order, so an ENROUTE would be before the final one.
      expect((await receiptsOf(client, { registeredDelivery: 0x11 })).map(statOf)).toEqual(["DELIVRD"]);
    });

    it("receiptWords replace the word of their state only, and not its number", async () => {
      const client = await connect(await create({ receiptWords: { undelivered: "FAILED" } }));
      const [failed] = await receiptsOf(client, { destination: phone(failing) });
      expect(failed && [statOf(failed), findTlv(failed.tlvs, "message_state")]).toEqual(["FAILED", 5]);
      expect((await receiptsOf(client, {})).map(statOf)).toEqual(["DELIVRD"]);
    });

    it("receiptErrors replace the carrier's code and ours in err, and other codes stay", async () => {
      const client = await connect(await create({ receiptErrors: { "001": "0AB", CANCELLED: "070" } }));
      const [failed] = await receiptsOf(client, { destination: phone(failing) });
      expect(errOf(failed)).toBe("0AB");
      const [delivered] = await receiptsOf(client, {});
      expect(errOf(delivered)).toBe("000");

      const { messageId } = await client.submit({ scheduleDeliveryTime: "000000010000000R" });
      const { source, destination } = { ...submitSm(ordinary()) };
      const cancel = { command: "cancel_sm", serviceType: "", messageId, source, destination, tlvs: [] } as const;
      expect(await client.session.request(cancel)).toMatchObject({ kind: "answer", pdu: { status: STATUS.ESME_ROK } });
      const [cancelled] = await eventually(
        () => client.received.filter((pdu) => idIn(pdu) === messageId),
        (receipts) => receipts.length > 0,
      );
      expect(errOf(cancelled)).toBe("070");
      expect(cancelled && findTlv(cancelled.tlvs, "network_error_code")).toEqual(Buffer.from([0, 0, 70]));

      const usual = await connect();
      expect((await receiptsOf(usual, { destination: phone(failing) })).map(errOf)).toEqual(["001"]);
    });

    it("a changed option applies to the receipts of an open bind", async () => {
      const created = await create();
      const client = await connect(created);
      await server.request("PATCH", `/api/credentials/${created.id}`, { receiptWords: { delivered: "DONE" } });
      const sendAgain = async (): Promise<string> => {
        const { messageId } = await client.submit({ destination: phone("15550100219") });
        const stats = await eventually(
          () => client.received.filter((pdu) => idIn(pdu) === messageId).map(statOf),
          ({ length }) => length > 0,
        );
        return stats[0] ?? "";
      };
      expect(await eventually(sendAgain, (stat) => stat !== "DELIVRD")).toBe("DONE");
    });
  });

  it("a revoked credential loses its binds and cannot bind again", async () => {
    const one = await create();
    const client = await connect(one);
    expect((await server.request("DELETE", `/api/credentials/${one.id}`)).status).toBe(200);
    expect(await client.session.closed).toMatchObject({ reason: "unbound", by: "peer" });
    expect((await tryBind(one)).result).toMatchObject({ kind: "refused" });
  });

  it("people see the binds with their counters and PDUs, and disconnect one", async () => {
    const one = await create();
    const client = await connect(one);
    await client.submit({ destination: phone("15550100215"), registeredDelivery: 0 });
    interface Bind {
      id: string;
      systemId: string;
      accepted: number;
    }
    const findBind = async () => {
      const { body } = await server.request<{ data: Bind[] }>("GET", "/api/smpp-binds");
      return body.data.find(({ systemId }) => systemId === one.username);
    };
    const bound = await eventually(findBind, (bind) => bind?.accepted === 1);
    const pdus = await eventually(
      () =>
        server.request<{ data: { command: string; destination: string }[] | null }>(
          "GET",
          `/api/smpp-binds/${bound?.id}/pdus`,
        ),
      ({ body }) => body.data !== null,
    );
    expect(pdus.body.data).toContainEqual(
      expect.objectContaining({ command: "submit_sm", destination: "•••••••0215" }),
    );
    expect(JSON.stringify(pdus.body)).not.toContain("15550100215");
    expect((await server.request("DELETE", `/api/smpp-binds/${bound?.id}`)).body).toEqual({ closing: true });
    expect(await client.session.closed).toMatchObject({ reason: "unbound", by: "peer" });
    await eventually(findBind, (bind) => bind === undefined);
    for (const id of [bound?.id, "", "x"]) {
      expect((await server.request("GET", `/api/smpp-binds/${id}/pdus`)).status).toBe(404);
      expect((await server.request("DELETE", `/api/smpp-binds/${id}`)).status).toBe(404);
    }
  });

  it("the timeline says that the message came by SMPP, and from where", async () => {
    const client = await connect();
    const { messageId } = await client.submit({ destination: phone("15550100216") });
    const { body } = await server.request<{ timeline: { step: string; what: string }[] }>(
      "GET",
      `/api/messages/${uuidOf(messageId)}:1`,
    );
    expect(body.timeline).toContainEqual(
      expect.objectContaining({ step: "arrived", what: "Arrived by SMPP from 127.0.0.1" }),
    );
  });

  it("a refused submit has the status of its fault, and nothing is stored", async () => {
    const client = await connect();
    const cases: [Partial<SubmitSm>, number][] = [
      [{ destination: phone("12") }, STATUS.ESME_RINVDSTADR],
      [{ source: sourceOf("") }, STATUS.ESME_RINVSRCADR],
      [{ shortMessage: Buffer.alloc(0) }, STATUS.ESME_RINVMSGLEN],
      [{ esmClass: 0x40 }, STATUS.ESME_RINVESMCLASS],
      [{ scheduleDeliveryTime: "991332250000000+" }, STATUS.ESME_RINVSCHED],
      [{ validityPeriod: "200101000000000+" }, STATUS.ESME_RINVEXPIRY],
      [{ esmClass: 0x08 }, STATUS.ESME_RINVESMCLASS],
      [{ priorityFlag: 4 }, STATUS.ESME_RINVPRTFLG],
      [{ replaceIfPresent: 1 }, STATUS.ESME_RINVREPFLAG],
      [{ defaultMessageId: 1 }, STATUS.ESME_RINVDFTMSGID],
      [{ tlvs: [tlv("message_payload", Buffer.from("x"))] }, STATUS.ESME_ROPTPARNOTALLWD],
    ];
    for (const [fields, status] of cases)
      expect([fields, (await client.submit(fields)).status]).toEqual([fields, status]);
  });
});

const uuidOf = (digits: string): string => digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
