import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import type { SubmitSm } from "../../src/smpp/pdu.ts";
import { STATUS } from "../../src/smpp/status.ts";
import { Smsc } from "../../src/smsc/smsc.ts";
import { createLogin, type Login } from "../support/credential.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { KANNEL_GOLDENS } from "../support/kannel-goldens.ts";
import { phone, senderOf, SmppTestClients } from "../support/smpp-client.ts";
import { startTestServer, type MessageBody, type TestServer } from "../support/test-server.ts";

/** Application ports 5505 and 5506. */
const PORTS = "06050415821583";
const BINARY_NUMBER = "1555019";

const DLT = [
  { tag: "0x1400", type: "octets", source: "template.dltEntityId" },
  { tag: "0x1401", type: "octets", source: "template.dltContentId" },
];
let phones = 15_550_190_000;
const nextPhone = (): string => String((phones += 1));

/** From the APIs of other products to an SMPP carrier. */
describe.each(ENGINES)("a binary message on %s", (engine) => {
  let server: TestServer;
  let smsc: Smsc;
  let kannel: Login;
  let jasmin: Login;
  let clients: SmppTestClients;
  const taken: SubmitSm[] = [];

  beforeAll(async () => {
    server = await startTestServer(engine, { env: { HELIOGRAPH_SMPP_PORT: "0" } });
    smsc = await Smsc.open({
      host: "127.0.0.1",
      port: 0,
      clock: systemClock,
      behavior: { delayMs: 5 },
      // The octets lie in a read buffer that is reused.
      onTaken: (submit) =>
        taken.push({
          ...submit,
          shortMessage: Buffer.from(submit.shortMessage),
          tlvs: submit.tlvs.map(({ tag, value }) => ({ tag, value: Buffer.from(value) })),
        }),
    });
    const smpp = { host: "127.0.0.1", port: smsc.port, systemId: "esme", password: "secret", window: 50, tlvs: DLT };
    await server.request("POST", "/api/carriers", { name: "line", adapter: "smpp", smpp });
    await server.request("POST", "/api/routes", { name: "by smpp", channel: "sms", carrier: "line", priority: 1 });
    kannel = await createLogin(server, "kannel");
    jasmin = await createLogin(server, "jasmin");
    clients = new SmppTestClients(server);
    await eventually(
      () => smsc.sessions,
      (sessions) => sessions === 1,
    );
  });
  afterAll(async () => {
    clients?.closeAll();
    await smsc?.close();
    await server?.close();
  });

  const submitsTo = (number: string, count: number): Promise<SubmitSm[]> =>
    eventually(
      () => taken.filter(({ destination }) => destination.address === number),
      (found) => found.length === count,
    );
  const messageTo = async (to: string): Promise<MessageBody | undefined> =>
    (await server.request<{ data: MessageBody[] }>("GET", `/v1/messages?recipient=${to}`)).body.data[0];
  const escaped = (hex: string): string => hex.replaceAll(/../g, "%$&");
  const sendKannel = async (to: string, more: string): Promise<string> => {
    const query = new URLSearchParams({ ...loginOf(kannel), from: "HELIOG", to });
    const answer = await fetch(`${server.url}/cgi-bin/sendsms?${query.toString()}&${more}`);
    return `${answer.status} ${await answer.text()}`;
  };
  const loginOf = ({ username, password }: Login): Record<string, string> => ({ username, password });
  const ACCEPTED = "202 0: Accepted for delivery";

  test("Kannel's udh and coding 1 go to the carrier octet by octet, with the message class", async () => {
    const to = nextPhone();
    expect(await sendKannel(to, `udh=${escaped(PORTS)}&text=${escaped("00ff1b41")}&coding=1&mclass=1`)).toBe(ACCEPTED);
    const [submit] = await submitsTo(to, 1);
    expect(submit).toMatchObject({ esmClass: 0x40, dataCoding: 0x15 });
    expect(submit?.shortMessage.toString("hex")).toBe(`${PORTS}00ff1b41`);
    expect(await messageTo(to)).toMatchObject({ text: "00ff1b41", segments: 1, credits: 1 });
    expect(await messageTo(to)).toMatchObject({ encoding: "binary", dataCoding: 0x15, udh: PORTS });
    // Its octets are no words.
    const found = await server.request<{ data: MessageBody[] }>("GET", `/v1/messages?recipient=${to}&text=ff1b`);
    expect(found.body.data).toEqual([]);
  });

  test("alt-dcs chooses the group of data_coding, and a header without a coding marks data", async () => {
    const [alternative, unmarked] = [nextPhone(), nextPhone()];
    expect(await sendKannel(alternative, "text=%01&coding=1&mclass=2&alt-dcs=1")).toBe(ACCEPTED);
    expect(await sendKannel(unmarked, `text=%01&udh=${escaped(PORTS)}`)).toBe(ACCEPTED);
    expect((await submitsTo(alternative, 1))[0]?.dataCoding).toBe(0xf6);
    expect((await submitsTo(unmarked, 1))[0]?.dataCoding).toBe(0x04);
  });

  test("a text keeps its alphabet beside a header", async () => {
    const to = nextPhone();
    expect(await sendKannel(to, `text=Hi&coding=0&udh=${escaped(PORTS)}`)).toBe(ACCEPTED);
    const [submit] = await submitsTo(to, 1);
    expect(submit).toMatchObject({ esmClass: 0x40, dataCoding: 0 });
    expect(submit?.shortMessage.toString("hex")).toBe(`${PORTS}4869`);
  });

  test.each(KANNEL_GOLDENS)(
    "a sendsms request goes to the carrier as Kannel 1.4.5 sends it: $query",
    async ({ query, dataCoding, octets, protocolId = 0, ours = { dataCoding, octets } }) => {
      const to = nextPhone();
      expect(await sendKannel(to, query)).toBe(ACCEPTED);
      const [submit] = await submitsTo(to, 1);
      expect([submit?.dataCoding, submit?.shortMessage.toString("hex"), submit?.protocolId]).toEqual([
        ours.dataCoding,
        ours.octets,
        protocolId,
      ]);
    },
  );

  test.each([
    ["a text cut within a character loses it", "text=ab%E2%82", "ab"],
    ["other octets that are not of the charset become question marks", "text=%80a%FFb%C3%28", "?a?b?("],
    ["the same with a charset by name", "text=a%FFb%C3&charset=utf-8", "a?b"],
    ["and in UTF-16", "text=%00a%DE%00%00b%D8%3D&coding=2", "a?b"],
  ])("%s, because Kannel accepts it too", async (_, query, text) => {
    const to = nextPhone();
    expect(await sendKannel(to, query)).toBe(ACCEPTED);
    expect(await messageTo(to)).toMatchObject({ text });
  });

  test("Kannel's pid goes to the carrier as protocol_id, in every part, beside text and data", async () => {
    const [text, data, ordinary] = [nextPhone(), nextPhone(), nextPhone()];
    expect(await sendKannel(text, `text=${"x".repeat(200)}&pid=65&mwi=1`)).toBe(ACCEPTED);
    expect(await sendKannel(data, `text=%01&coding=1&pid=127&udh=${escaped(PORTS)}`)).toBe(ACCEPTED);
    expect(await sendKannel(ordinary, "text=hi&pid=0")).toBe(ACCEPTED);
    const parts = await submitsTo(text, 2);
    expect(parts.map(({ protocolId, dataCoding }) => [protocolId, dataCoding])).toEqual([[65, 0xd9], [65, 0xd9]]); // prettier-ignore
    expect((await submitsTo(data, 1))[0]).toMatchObject({ protocolId: 127, dataCoding: 0x04, esmClass: 0x40 });
    expect((await submitsTo(ordinary, 1))[0]).toMatchObject({ protocolId: 0, dataCoding: 0 });
  });

  test.each([
    ["text=hi&mwi=8", "400 MWI field misformed, rejected"],
    ["text=hi&mwi=-2", "400 MWI field misformed, rejected"],
    ["text=hi&pid=256", "400 PID field misformed, rejected"],
    ["text=hi&pid=-2", "400 PID field misformed, rejected"],
    ["text=%01&coding=1&mwi=0", "400 MWI field misformed, rejected. mwi needs a text: coding 0 or 2."],
    ["text=hi&mwi=x&pid=x", ACCEPTED],
    ["text=hi&mwi=-1&pid=-1&coding=-1&mclass=-1&priority=-1", ACCEPTED],
  ])(
    "a wrong mwi or pid is refused in Kannel's words, and one that is no number is ignored: %s",
    async (query, answer) => {
      const to = nextPhone();
      expect(await sendKannel(to, query)).toBe(answer);
      expect((await messageTo(to)) !== undefined).toBe(answer === ACCEPTED);
    },
  );

  test("parts that the client numbers itself go one by one", async () => {
    const to = nextPhone();
    for (const part of ["01", "02"])
      expect(await sendKannel(to, `text=%0${part}&coding=1&udh=${escaped(`0500032a02${part}`)}`)).toBe(ACCEPTED);
    const submits = await submitsTo(to, 2);
    expect(submits.map(({ shortMessage }) => shortMessage.toString("hex").slice(0, 12)).toSorted()).toEqual([
      "0500032a0201",
      "0500032a0202",
    ]);
  });

  test("more octets than one segment holds are split, and each segment costs", async () => {
    const to = nextPhone();
    const octets = "a5".repeat(300);
    const body = { to, from: "HELIOG", coding: 4, "hex-content": octets };
    const authorization = `Basic ${btoa(`${jasmin.username}:${jasmin.password}`)}`;
    const answer = await fetch(`${server.url}/secure/send`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(200);
    const submits = await submitsTo(to, 3);
    expect(submits.map(({ shortMessage }) => shortMessage.subarray(6).toString("hex")).join("")).toBe(octets);
    expect(await messageTo(to)).toMatchObject({ text: octets, segments: 3, credits: 3 });
    const rate = new URLSearchParams({ ...loginOf(jasmin), to, coding: "4", "hex-content": octets });
    expect(await (await fetch(`${server.url}/rate?${rate.toString()}`)).json()).toEqual({
      unit_rate: 1,
      submit_sm_count: 3,
    });
  });

  test("a client that binds submits data with a header, whole and in parts", async () => {
    const client = await clients.connect(await clients.create());
    const [whole, inParts] = [nextPhone(), nextPhone()];
    const submit = (to: string, hex: string) =>
      client.submit({
        source: senderOf("HELIOG"),
        destination: phone(to),
        esmClass: 0x40,
        dataCoding: 0xf5,
        shortMessage: Buffer.from(hex, "hex"),
      });
    expect(await submit(whole, `${PORTS}0102`)).toMatchObject({ status: STATUS.ESME_ROK });
    expect(await submit(inParts, "0b0504158215830003070202bbbb")).toMatchObject({ status: STATUS.ESME_ROK });
    expect(await submit(inParts, "0b0504158215830003070201aaaa")).toMatchObject({ status: STATUS.ESME_ROK });
    const [first] = await submitsTo(whole, 1);
    expect(first).toMatchObject({ esmClass: 0x40, dataCoding: 0xf5 });
    expect(first?.shortMessage.toString("hex")).toBe(`${PORTS}0102`);
    expect((await submitsTo(inParts, 1))[0]?.shortMessage.toString("hex")).toBe(`${PORTS}aaaabbbb`);
    expect(await submit(whole, "7f0504158215")).toMatchObject({ status: STATUS.ESME_RINVESMCLASS });
  });

  test("DLT ids and vendor TLVs of a client that binds reach the carrier", async () => {
    const client = await clients.connect(await clients.create());
    const to = nextPhone();
    const given: [number, string][] = [
      [0x1400, "1101456780000012345"],
      [0x1401, "1107161234567890123"],
      [0x1501, "tariff-7"],
    ];
    const tlvs = given.map(([tag, value]) => ({ tag, value: Buffer.from(value) }));
    expect(await client.submit({ source: senderOf("HELIOG"), destination: phone(to), tlvs })).toMatchObject({
      status: STATUS.ESME_ROK,
    });
    const [submit] = await submitsTo(to, 1);
    const passed = submit?.tlvs.map(({ tag, value }) => [tag, value.toString("latin1")]);
    expect(passed).toEqual(expect.arrayContaining(given));
  });

  test("a carrier by HTTP refuses what it cannot send as it is meant, with the reason, and the next route takes it", async () => {
    const http = {
      preset: "kannel",
      baseUrl: "http://127.0.0.1:1",
      values: { username: "heliograph" },
      secrets: { password: "secret" },
    };
    await server.request("POST", "/api/carriers", { name: "texts", adapter: "http", http });
    const route = { name: "texts only", channel: "sms", carrier: "texts", priority: 0, prefixes: [BINARY_NUMBER] };
    const { body } = await server.request<{ id: string }>("POST", "/api/routes", route);
    for (const [index, query] of ["text=%01&coding=1", "text=a&mwi=0", "text=a&pid=64"].entries()) {
      const to = `${BINARY_NUMBER}999${index}`;
      expect(await sendKannel(to, query)).toBe(ACCEPTED);
      const [submit] = await submitsTo(to, 1);
      expect(submit?.shortMessage.length).toBe(1);
      const message = await messageTo(to);
      const { body: detail } = await server.request<object>("GET", `/api/messages/${message?.messageId ?? ""}`);
      expect(JSON.stringify(detail)).toContain("the carrier takes plain texts only");
    }
    await server.request("DELETE", `/api/routes/${body.id}`);
  });

  test.each([
    ["a header that is cut off", "text=%01&coding=1&udh=%06%05%04", "400 UDH field misformed, rejected"],
    [
      "a header that is too long",
      `text=%01&coding=1&udh=${escaped(`8c${"00".repeat(140)}`)}`,
      "400 UDH field is too long, rejected",
    ],
    ["octets for too many segments", `text=${escaped("a5".repeat(1700))}&coding=1`, "400 Charset or body misformed"],
    [
      "a numbered part that is too long",
      `text=${escaped("a5".repeat(135))}&coding=1&udh=%05%00%03%2a%02%01`,
      "400 UDH field misformed",
    ],
  ])("%s is refused, and nothing is stored", async (_, more, answer) => {
    const to = nextPhone();
    expect((await sendKannel(to, more)).startsWith(answer)).toBe(true);
    expect(await messageTo(to)).toBeUndefined();
  });
});
