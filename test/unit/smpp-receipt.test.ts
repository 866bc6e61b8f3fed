import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Incoming } from "../../src/smpp-text/incoming.ts";
import { readReceiptText } from "../../src/carriers/smpp/receipt-text.ts";
import {
  readReceipt,
  DEFAULT_RECEIPTS,
  type ReceiptSettings,
  type SmppReceipt,
} from "../../src/carriers/smpp/parse-receipt.ts";
import type { ReceiptState } from "../../src/model/receipt.ts";
import { repetitions } from "../support/repetitions.ts";

const NOW = Date.UTC(2024, 0, 15, 12, 31, 0);
const UUID = "3f2b8a90-7c1d-4e5f-9a6b-1c2d3e4f5a6b";

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");
const octets = (...values: number[]): Buffer => Buffer.from(values);
const tlv = (tag: number, value: Buffer): { tag: number; value: Buffer } => ({ tag, value });
const givenId = (text: string): { tag: number; value: Buffer } => tlv(0x001e, latin1(text));
const stateIs = (state: number): { tag: number; value: Buffer } => tlv(0x0427, octets(state));
const networkError = (type: number, code: number): { tag: number; value: Buffer } =>
  tlv(0x0423, octets(type, code >> 8, code & 0xff));

const pdu = (text: string, fields: Partial<Incoming> = {}): Incoming => ({
  esmClass: 0x04,
  dataCoding: 0,
  shortMessage: latin1(text),
  tlvs: [],
  ...fields,
});
const read = (message: Incoming, changes: Partial<ReceiptSettings> = {}, receivedAt = NOW): SmppReceipt | null =>
  readReceipt(message, { ...DEFAULT_RECEIPTS, ...changes }, receivedAt);

const HEAD = "sub:001 dlvrd:001 submit date:2401151229 done date:2401151230";
const whole = (id: string, stat: string, err = "000"): string => `id:${id} ${HEAD} stat:${stat} err:${err} text:Hello`;

type Expected = [id: string | null, state: ReceiptState, err: string | null];

/** Receipt texts of all dialects in manuals and mailing lists, with their meaning. */
const TEXTS: readonly [string, string, Expected][] = [
  ["the form of the specification", whole("0123456789", "DELIVRD"), ["0123456789", "delivered", "000"]],
  ["a hex id", whole("abc000", "DELIVRD"), ["abc000", "delivered", "000"]],
  ["an id in capitals", whole("4F3A9C01", "DELIVRD"), ["4F3A9C01", "delivered", "000"]],
  ["a UUID", whole(UUID, "DELIVRD"), [UUID, "delivered", "000"]],
  ["an id with a space in it", whole("12 34", "DELIVRD"), ["12 34", "delivered", "000"]],
  ["a space after the colon", "id: 77 sub: 001 dlvrd: 001 stat: DELIVRD err: 000 text: x", ["77", "delivered", "000"]],
  ["a space before the colon", "id : 77 stat : DELIVRD err : 000 text : x", ["77", "delivered", "000"]],
  ["an id with signs in it", whole("MC-7_a.b/9", "DELIVRD"), ["MC-7_a.b/9", "delivered", "000"]],
  ["an id in quotes", 'id:"77" stat:"DELIVRD" err:"000"', ["77", "delivered", "000"]],
  [
    "an id longer than 64 bits",
    whole("98765432109876543210987", "DELIVRD"),
    ["98765432109876543210987", "delivered", "000"],
  ],
  [
    "capital keys",
    "ID:77 SUB:001 DLVRD:001 SUBMIT DATE:2401151229 DONE DATE:2401151230 STAT:DELIVRD ERR:000 TEXT:x",
    ["77", "delivered", "000"],
  ],
  [
    "mixed keys",
    "Id:77 Sub:001 Dlvrd:001 Submit Date:2401151229 Done Date:2401151230 Stat:DELIVRD Err:000 Text:x",
    ["77", "delivered", "000"],
  ],
  [
    "dates without a space in the key",
    "id:77 sub:001 dlvrd:001 submitdate:2401151229 donedate:2401151230 stat:DELIVRD err:000 text:x",
    ["77", "delivered", "000"],
  ],
  [
    "dates with an underscore",
    "id:77 submit_date:2401151229 done_date:2401151230 stat:DELIVRD err:000",
    ["77", "delivered", "000"],
  ],
  [
    "no sub and no dlvrd",
    "id:77 submit date:2401151229 done date:2401151230 stat:DELIVRD err:000 text:",
    ["77", "delivered", "000"],
  ],
  ["no dates", "id:77 sub:001 dlvrd:001 stat:DELIVRD err:000 text:x", ["77", "delivered", "000"]],
  ["no text", "id:77 sub:001 dlvrd:001 stat:DELIVRD err:000", ["77", "delivered", "000"]],
  ["no err", "id:77 stat:DELIVRD text:x", ["77", "delivered", null]],
  ["an empty err", "id:77 stat:UNDELIV err: text:x", ["77", "undelivered", null]],
  ["only id and stat", "id:77 stat:EXPIRED", ["77", "expired", null]],
  ["another order", "stat:UNDELIV err:27 id:77 done date:2401151230", ["77", "undelivered", "27"]],
  ["text in the middle", "text:Hello id:77 stat:REJECTD err:5", ["77", "rejected", "5"]],
  [
    "commas between fields",
    "id:77,sub:001,dlvrd:001,submit date:2401151229,done date:2401151230,stat:DELIVRD,err:000,text:x",
    ["77", "delivered", "000"],
  ],
  ["semicolons between fields", "id:77;stat:UNDELIV;err:27;text:x", ["77", "undelivered", "27"]],
  ["equals signs", "id=77 sub=001 dlvrd=001 stat=DELIVRD err=000 text=x", ["77", "delivered", "000"]],
  ["lines", "id:77\r\nsub:001\r\ndlvrd:001\r\nstat:DELIVRD\r\nerr:000\r\ntext:x", ["77", "delivered", "000"]],
  ["tabs", "id:77\tsub:001\tdlvrd:001\tstat:DELIVRD\terr:000\ttext:x", ["77", "delivered", "000"]],
  [
    "fields of fixed width without spaces",
    "id:0123456789sub:001dlvrd:001submit date:2401151229done date:2401151230stat:DELIVRD err:000",
    ["0123456789", "delivered", "000"],
  ],
  ["a NUL at the end", `${whole("77", "DELIVRD")}\0`, ["77", "delivered", "000"]],
  ["a NUL after the err", "id:77 stat:DELIVRD err:000\0", ["77", "delivered", "000"]],
  ["status for stat", "id:77 status:DELIVERED error:0", ["77", "delivered", "0"]],
  ["msgid and error code", "msgid:77 status:UNDELIVERED error code:27", ["77", "undelivered", "27"]],
  ["message_id", "message_id:77 stat:DELIVRD err:000", ["77", "delivered", "000"]],
  ["a hex err", whole("77", "UNDELIV", "0x1B"), ["77", "undelivered", "0x1B"]],
  ["an err of letters", whole("77", "UNDELIV", "EC_ABSENT_SUBSCRIBER"), ["77", "undelivered", "EC_ABSENT_SUBSCRIBER"]],
  ["a long err", whole("77", "REJECTD", "00612"), ["77", "rejected", "00612"]],
  ["a negative err", whole("77", "UNDELIV", "-1"), ["77", "undelivered", "-1"]],
  ["ENROUTE", whole("77", "ENROUTE"), ["77", "enroute", "000"]],
  ["ACCEPTD", whole("77", "ACCEPTD"), ["77", "enroute", "000"]],
  ["ACCEPTED", whole("77", "ACCEPTED"), ["77", "enroute", "000"]],
  ["ACKED", whole("77", "ACKED"), ["77", "enroute", "000"]],
  ["BUFFRED", whole("77", "BUFFRED"), ["77", "enroute", "000"]],
  ["BUFFERD", whole("77", "BUFFERD"), ["77", "enroute", "000"]],
  ["SCHEDULED", whole("77", "SCHEDULED"), ["77", "enroute", "000"]],
  ["QUEUED", whole("77", "QUEUED"), ["77", "enroute", "000"]],
  ["delivrd in small letters", whole("77", "delivrd"), ["77", "delivered", "000"]],
  ["DELIVERD", whole("77", "DELIVERD"), ["77", "delivered", "000"]],
  ["DELIVERED", whole("77", "DELIVERED"), ["77", "delivered", "000"]],
  ["DLVRD as a state", "id:77 stat:DLVRD err:0", ["77", "delivered", "0"]],
  ["EXPIRED", whole("77", "EXPIRED", "004"), ["77", "expired", "004"]],
  ["EXPIRD", whole("77", "EXPIRD", "004"), ["77", "expired", "004"]],
  ["DELETED", whole("77", "DELETED", "010"), ["77", "undelivered", "010"]],
  ["UNDELIV", whole("77", "UNDELIV", "001"), ["77", "undelivered", "001"]],
  ["UNDELIVERABLE", whole("77", "UNDELIVERABLE", "001"), ["77", "undelivered", "001"]],
  ["UNDELVD", whole("77", "UNDELVD", "001"), ["77", "undelivered", "001"]],
  ["FAILED", whole("77", "FAILED", "001"), ["77", "undelivered", "001"]],
  [
    "DELIVERY FAILED, which only begins like a delivery",
    whole("77", "DELIVERY FAILED", "001"),
    ["77", "undelivered", "001"],
  ],
  ["UNKNOWN", whole("77", "UNKNOWN", "001"), ["77", "unknown", "001"]],
  ["REJECTD", whole("77", "REJECTD", "602"), ["77", "rejected", "602"]],
  ["REJECTED", whole("77", "REJECTED", "602"), ["77", "rejected", "602"]],
  ["SKIPPED", whole("77", "SKIPPED", "001"), ["77", "undelivered", "001"]],
  ["a number for the state", whole("77", "2"), ["77", "delivered", "000"]],
  ["a word that nobody knows", whole("77", "WIBBLE", "9"), ["77", "unknown", "9"]],
  ["no state but a count of deliveries", "id:77 sub:001 dlvrd:001 err:000", ["77", "delivered", "000"]],
  ["no state and no delivery", "id:77 sub:001 dlvrd:000 err:001", ["77", "unknown", "001"]],
  [
    "keys in the text that it quotes",
    "id:77 stat:DELIVRD err:000 text:id:88 stat:REJECTD err:9",
    ["77", "delivered", "000"],
  ],
  ["an err only in the text that it quotes", "id:77 stat:DELIVRD text:say err:9 to them", ["77", "delivered", null]],
  ["a field twice", "id:77 id:88 stat:DELIVRD stat:REJECTD err:000", ["77", "delivered", "000"]],
  ["no id", "sub:001 dlvrd:001 stat:DELIVRD err:000", [null, "delivered", "000"]],
  ["nothing that can be read", "Your message has arrived", [null, "unknown", null]],
  ["nothing", "", [null, "unknown", null]],
];

describe("a receipt text", () => {
  test("the corpus has enough samples", () => {
    expect(TEXTS.length).toBeGreaterThanOrEqual(60);
    expect(new Set(TEXTS.map(([, text]) => text)).size).toBe(TEXTS.length);
  });

  test.each(TEXTS)("a receipt text with %s is parsed", (_dialect, text, [messageId, state, errorCode]) => {
    expect(read(pdu(text))).toMatchObject({ messageId, state, errorCode });
  });

  test.each(TEXTS)(
    "a receipt text with %s is parsed as a payload and in a data_sm",
    (_dialect, text, [messageId, state, errorCode]) => {
      const { shortMessage: _, ...dataSm } = pdu("", { tlvs: [tlv(0x0424, latin1(text))] });
      expect(read(dataSm)).toMatchObject({ messageId, state, errorCode });
    },
  );

  test("the standard format parses to the same result as a variant with an extra blank", () => {
    const word = fc.stringMatching(/^[A-Za-z0-9_-]{0,11}[A-Za-z0-9]$/);
    const digits = fc.stringMatching(/^[0-9]{1,14}$/);
    const letters = fc.stringMatching(/^[A-Za-z]{1,9}$/);
    const end = fc.constantFrom("", " text:", " Text:hello", " text:id:7 stat:UNDELIV err:9");
    fc.assert(
      fc.property(word, digits, digits, letters, word, end, (id, count, date, stat, err, rest) => {
        const fields = [`id:${id}`, `sub:${count}`, `dlvrd:${count}`, `submit date:${date}`, `done date:${date}`];
        const proposed = `${[...fields, `stat:${stat}`, `err:${err}`].join(" ")}${rest}`;
        expect(readReceiptText(proposed)).toEqual(readReceiptText(proposed.replace(" sub:", "  sub:")));
      }),
    );
  });

  test("in UCS-2 it is parsed", () => {
    const shortMessage = Buffer.from(whole("77", "DELIVRD"), "utf16le").swap16();
    expect(read(pdu("", { shortMessage, dataCoding: 8 }))).toMatchObject({ messageId: "77", state: "delivered" });
  });

  test("after a user data header it is parsed", () => {
    const shortMessage = Buffer.concat([octets(5, 0, 3, 1, 1, 1), latin1(whole("77", "DELIVRD"))]);
    expect(read(pdu("", { shortMessage, esmClass: 0x44 }))).toMatchObject({ messageId: "77", state: "delivered" });
  });

  test("parsing never throws", () => {
    const noise = fc.array(
      fc.constantFrom("id:", "stat:", "err", ":", "done date:", "2401151230", "DELIVRD", "text:", " ", "\0", "é", "9"),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          noise.map((each) => each.join("")),
          fc.string({ unit: "binary", maxLength: 120 }),
        ),
        fc.integer({ min: 0, max: 255 }),
        fc.array(fc.tuple(fc.constantFrom(0x001e, 0x0427, 0x0423, 0x0424, 0x001d), fc.uint8Array({ maxLength: 8 }))),
        (text, esmClass, parameters) => {
          const tlvs = parameters.map(([tag, value]) => tlv(tag, Buffer.from(value)));
          const { at } = read(pdu(text, { esmClass, tlvs })) ?? { at: NOW };
          expect(Math.abs(at - NOW)).toBeLessThanOrEqual(86_400_000);
        },
      ),
      { numRuns: repetitions(1000, 5000) },
    );
  });
});

describe("receipt TLVs", () => {
  test.each<[string, Incoming, Partial<SmppReceipt>]>([
    [
      "the id in a parameter counts before the text's",
      pdu(whole("77", "DELIVRD"), { tlvs: [givenId("88\0")] }),
      { messageId: "88" },
    ],
    [
      "an id may lack its NUL",
      pdu("", { tlvs: [givenId("AB12"), stateIs(2)] }),
      { messageId: "AB12", state: "delivered" },
    ],
    ["an id may have several NULs", pdu("", { tlvs: [givenId("AB12\0\0"), stateIs(2)] }), { messageId: "AB12" }],
    ["an empty id is none", pdu(whole("77", "DELIVRD"), { tlvs: [givenId("\0")] }), { messageId: "77" }],
    [
      "the state in a parameter counts before the text's",
      pdu(whole("77", "ENROUTE"), { tlvs: [stateIs(5)] }),
      { state: "undelivered" },
    ],
    [
      "the id may be in a parameter and the state in the text",
      pdu(whole("77", "EXPIRED"), { tlvs: [givenId("88")] }),
      { messageId: "88", state: "expired" },
    ],
    [
      "the state may be in a parameter and the id in the text",
      pdu("id:77", { tlvs: [stateIs(8)] }),
      { messageId: "77", state: "rejected" },
    ],
    [
      "a state that SMPP does not have leaves it to the text",
      pdu(whole("77", "DELIVRD"), { tlvs: [stateIs(200)] }),
      { state: "delivered" },
    ],
    [
      "a state without a value leaves it to the text",
      pdu(whole("77", "DELIVRD"), { tlvs: [tlv(0x0427, octets())] }),
      { state: "delivered" },
    ],
    ["a state of two octets is read", pdu("id:77", { tlvs: [tlv(0x0427, octets(0, 2))] }), { state: "delivered" }],
    [
      "a network error is the code where the text has none",
      pdu("id:77 stat:UNDELIV", { tlvs: [networkError(3, 27)] }),
      { errorCode: "27" },
    ],
    [
      "the text's code counts before the network's",
      pdu(whole("77", "UNDELIV", "612"), { tlvs: [networkError(3, 27)] }),
      { errorCode: "612" },
    ],
    [
      "a text that says no error gives way to a network error",
      pdu(whole("77", "UNDELIV", "000"), { tlvs: [networkError(3, 27)] }),
      { errorCode: "27" },
    ],
    [
      "two zeros are a zero, as the text spells it",
      pdu(whole("77", "DELIVRD", "000"), { tlvs: [networkError(3, 0)] }),
      { errorCode: "000" },
    ],
    [
      "a network error of one octet is read",
      pdu("id:77 stat:UNDELIV", { tlvs: [tlv(0x0423, octets(9))] }),
      { errorCode: "9" },
    ],
    [
      "a network error without a value is none",
      pdu("id:77 stat:UNDELIV", { tlvs: [tlv(0x0423, octets())] }),
      { errorCode: null },
    ],
    [
      "what the carrier says in words is the description",
      pdu(whole("77", "UNDELIV", "9"), { tlvs: [tlv(0x001d, latin1("Barred by operator\0"))] }),
      { description: "Barred by operator" },
    ],
  ])("%s", (_promise, message, expected) => {
    expect(read(message)).toMatchObject(expected);
  });

  test.each<[number, ReceiptState, boolean]>([
    [0, "enroute", false],
    [1, "enroute", false],
    [2, "delivered", true],
    [3, "expired", true],
    [4, "undelivered", true],
    [5, "undelivered", true],
    [6, "enroute", false],
    [7, "unknown", true],
    [8, "rejected", true],
    [9, "undelivered", true],
  ])("message_state %i is %s, final: %s", (number, state, final) => {
    expect(read(pdu("", { tlvs: [givenId("77"), stateIs(number)] }))).toMatchObject({ state, final });
  });
});

describe("detection of receipts", () => {
  test.each([0x04, 0x08, 0x20, 0x44, 0x84, 0x07, 0x24])("esm_class %i marks a receipt", (esmClass) => {
    expect(read(pdu(whole("77", "DELIVRD"), { esmClass }))).toMatchObject({ messageId: "77", state: "delivered" });
  });

  test.each([0x00, 0x03, 0x40, 0x80, 0x10])("esm_class %i is an inbound message, whatever its text", (esmClass) => {
    expect(read(pdu(whole("77", "DELIVRD"), { esmClass }))).toBeNull();
  });

  test("receipted_message_id marks a receipt, because phones cannot set it", () => {
    expect(read(pdu("", { esmClass: 0, tlvs: [givenId("77"), stateIs(2)] }))).toMatchObject({ messageId: "77" });
  });

  test("an unmarked receipt is detected only for carriers that never mark them", () => {
    const unmarked = { unmarkedReceipts: true };
    expect(read(pdu(whole("77", "DELIVRD"), { esmClass: 0 }), unmarked)).toMatchObject({ messageId: "77" });
    expect(read(pdu("Call me, my id:77", { esmClass: 0 }), unmarked)).toBeNull();
    expect(read(pdu("id:77 stat:hungry", { esmClass: 0 }), unmarked)).toBeNull();
  });

  test("an intermediate notification is never a failure, because the network keeps trying", () => {
    expect(read(pdu(whole("77", "UNDELIV", "27"), { esmClass: 0x20 }))).toMatchObject({
      state: "enroute",
      final: false,
      errorCode: "27",
      description: "Not delivered yet",
    });
    expect(read(pdu(whole("77", "DELIVRD"), { esmClass: 0x20 }))).toMatchObject({ state: "delivered", final: true });
    expect(read(pdu(whole("77", "UNDELIV"), { esmClass: 0x24 }))).toMatchObject({ state: "undelivered", final: true });
  });

  test("an unknown state word is not final", () => {
    expect(read(pdu(whole("77", "WIBBLE")))).toMatchObject({
      state: "unknown",
      final: false,
      description: 'The network says "WIBBLE", which is no state that SMPP knows',
    });
  });
});

describe("error descriptions", () => {
  const errors = { "27": "The phone is switched off", "0A": "Barred", "000": "Arrived" };

  test.each([
    ["27", "The phone is switched off"],
    ["027", "The phone is switched off"],
    ["0a", "Barred"],
    ["0", "Arrived"],
    ["28", "The phone could not be reached"],
    ["constructor", "The phone could not be reached"],
  ])("the carrier's code %s is %j", (code, description) => {
    expect(read(pdu(whole("77", "UNDELIV", code)), { errors })).toMatchObject({ errorCode: code, description });
  });
});

describe("the done date", () => {
  const at = (doneDate: string, zone = "UTC", receivedAt = NOW): string => {
    const receipt = read(pdu(`id:77 done date:${doneDate} stat:DELIVRD err:000`), { zone }, receivedAt);
    return new Date(receipt?.at ?? 0).toISOString();
  };
  const received = new Date(NOW).toISOString();

  test.each<[string, string, string, string]>([
    ["ten digits", "2401151230", "UTC", "2024-01-15T12:30:00.000Z"],
    ["twelve digits with seconds", "240115123045", "UTC", "2024-01-15T12:30:45.000Z"],
    ["twelve digits with a year of four", "202401151230", "UTC", "2024-01-15T12:30:00.000Z"],
    ["fourteen digits", "20240115123045", "UTC", "2024-01-15T12:30:45.000Z"],
    ["a written date", "2024-01-15 12:30:45", "UTC", "2024-01-15T12:30:45.000Z"],
    ["a date with slashes", "2024/01/15 12:30", "UTC", "2024-01-15T12:30:00.000Z"],
    ["parts of seconds", "2024-01-15 12:30:45.123", "UTC", "2024-01-15T12:30:45.000Z"],
    ["ISO with Z", "2024-01-15T12:30:45Z", "Asia/Kolkata", "2024-01-15T12:30:45.000Z"],
    ["ISO with its own zone", "2024-01-15T18:00:45+05:30", "UTC", "2024-01-15T12:30:45.000Z"],
    ["SMPP's absolute form", "240115180045022+", "UTC", "2024-01-15T12:30:45.000Z"],
    ["seconds since the epoch", "1705321845", "UTC", "2024-01-15T12:30:45.000Z"],
    ["milliseconds since the epoch", "1705321845123", "UTC", "2024-01-15T12:30:45.123Z"],
    ["India", "2401151800", "Asia/Kolkata", "2024-01-15T12:30:00.000Z"],
    ["Brazil", "2401150930", "America/Sao_Paulo", "2024-01-15T12:30:00.000Z"],
    ["a zone in winter", "2401151330", "Europe/Berlin", "2024-01-15T12:30:00.000Z"],
    ["a zone that no machine knows", "2401151230", "Moon/Base", "2024-01-15T12:30:00.000Z"],
  ])("%s is parsed", (_form, doneDate, zone, expected) => {
    expect(at(doneDate, zone)).toBe(expected);
  });

  test.each<[string, string]>([
    ["no such month", "2413151230"],
    ["no such day", "2402301230"],
    ["no such hour", "2401152530"],
    ["no such minute", "2401151199"],
    ["no such second", "240115123099"],
    ["zeros", "0000000000"],
    ["letters", "yesterday"],
    ["too few digits", "240115"],
    ["too many digits", "2401151230455555555"],
    ["a day and a minute before", "2401141230"],
    ["two days later", "2401171230"],
    ["another century", "9901151230"],
    ["a relative time", "000000001000000R"],
  ])("%s is ignored in favour of the time of receipt", (_fault, doneDate) => {
    expect(at(doneDate)).toBe(received);
  });

  test("a date up to one day off is accepted", () => {
    expect(at("2401141231")).toBe("2024-01-14T12:31:00.000Z");
  });

  test("daylight saving time and clock changes follow the zone's rules", () => {
    const around = Date.UTC(2024, 2, 31, 1, 0);
    expect(at("2407011430", "Europe/Berlin", Date.UTC(2024, 6, 1, 12, 0))).toBe("2024-07-01T12:30:00.000Z");
    expect(at("2403310159", "Europe/Berlin", around)).toBe("2024-03-31T00:59:00.000Z");
    expect(at("2403310300", "Europe/Berlin", around)).toBe("2024-03-31T01:00:00.000Z");
    // 02:30 does not exist on that day.
    expect(at("2403310230", "Europe/Berlin", around)).toMatch(/^2024-03-31T0[01]:30/);
  });

  test("a missing date is the time of receipt", () => {
    expect(read(pdu("id:77 stat:DELIVRD"))?.at).toBe(NOW);
  });

  test("text after the last field is not part of the date", () => {
    const receipt = read(pdu("id:77 stat:DELIVRD done date:2401151230 by gate 45"));
    expect(receipt?.at).toBe(Date.UTC(2024, 0, 15, 12, 30));
  });

  test("any minute of any zone reads back equal", () => {
    const zones = ["UTC", "Asia/Kolkata", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia"];
    fc.assert(
      fc.property(
        fc.integer({ min: Date.UTC(2015, 0) / 60_000, max: Date.UTC(2035, 0) / 60_000 }),
        fc.constantFrom(...zones),
        (minute, zone) => {
          const moment = minute * 60_000;
          const wall = wallOf(moment, zone);
          const found = read(pdu(`id:7 stat:DELIVRD done date:${wall}`), { zone }, moment)?.at ?? 0;
          // A time that is repeated by a clock change may be read as either.
          expect(wallOf(found, zone)).toBe(wall);
        },
      ),
      { numRuns: 500 },
    );
  });
});

function wallOf(at: number, zone: string): string {
  const parts = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    year: "2-digit",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  }).formatToParts(at);
  const part = (type: string): string => parts.find((each) => each.type === type)?.value ?? "";
  return part("year") + part("month") + part("day") + part("hour") + part("minute");
}
