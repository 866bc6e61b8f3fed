import { describe, expect, test } from "vitest";
import { composeSms } from "../../src/channels/sms/compose.ts";
import { DEFAULT_SETTINGS } from "../../src/model/account.ts";
import { readSms } from "../../src/channels/sms/read.ts";
import { DEFAULT_SMS_LIMITS } from "../../src/model/message.ts";
import {
  headerElements,
  isNumberedPart,
  isWholeHeader,
  segmentsOf,
  splitUserData,
  writeHeader,
} from "../../src/model/user-data.ts";
import { assemble, partOf } from "../../src/smpp-text/reassemble.ts";
import { DEFAULT_CODING, type SmppText } from "../../src/smpp-text/coding.ts";
import { bodyOf } from "../../src/smpp-text/incoming.ts";
import { partsOf, type LongMessage } from "../../src/smpp-text/parts.ts";

/** Application ports 5505 and 5506. */
const PORTS = "06050415821583";
const NUMBERED = "0500032a0201";
const FORMS: readonly LongMessage[] = ["udh8", "udh16", "sar", "payload"];

const octets = (count: number): string => "a5".repeat(count);
const data = (text: string, udh = ""): SmppText => ({
  text,
  encoding: "binary",
  flash: false,
  dataCoding: 0xf5,
  ...(udh !== "" && { udh }),
});
const submitted = (message: SmppText, longMessage: LongMessage = "udh8") =>
  partsOf(message, { ...DEFAULT_CODING, longMessage, messagingMode: 0 }, () => 0x1234);

describe("the segments of user data", () => {
  test.each<[string, Parameters<typeof segmentsOf>[0], number]>([
    ["140 octets are one", { text: octets(140), encoding: "binary" }, 1],
    ["141 octets are two of 134", { text: octets(141), encoding: "binary" }, 2],
    ["268 octets are two", { text: octets(268), encoding: "binary" }, 2],
    ["269 octets are three", { text: octets(269), encoding: "binary" }, 3],
    ["a header of seven octets leaves 133", { text: octets(133), encoding: "binary", udh: PORTS }, 1],
    ["the header comes again in each of two", { text: octets(134), encoding: "binary", udh: PORTS }, 2],
    ["and leaves 128 there", { text: octets(257), encoding: "binary", udh: PORTS }, 3],
    ["a header of seven octets leaves 152 septets", { text: "a".repeat(152), encoding: "gsm7", udh: PORTS }, 1],
    ["one septet more takes two", { text: "a".repeat(153), encoding: "gsm7", udh: PORTS }, 2],
    ["a header of seven octets leaves 66 units of UCS-2", { text: "ж".repeat(66), encoding: "ucs2", udh: PORTS }, 1],
    ["one unit more takes two", { text: "ж".repeat(67), encoding: "ucs2", udh: PORTS }, 2],
  ])("%s", (_, message, count) => {
    expect(segmentsOf(message)).toBe(count);
    expect(splitUserData(message)).toHaveLength(count);
    expect(splitUserData(message).join("")).toBe(message.text);
  });
});

describe("a header", () => {
  test.each(["06050415821583", "0500032a0201", "0b0504158215830003070201"])("%s is whole", (hex) => {
    expect(isWholeHeader(Buffer.from(hex, "hex"))).toBe(true);
  });

  test.each(["", "00", "06", "0605041582", "050003", "07050415821583", "06050515821583", `8c${"00".repeat(140)}`])(
    "%j is broken",
    (hex) => {
      expect(isWholeHeader(Buffer.from(hex, "hex"))).toBe(false);
    },
  );

  test("of a numbered part is recognised", () => {
    expect(isNumberedPart({ udh: NUMBERED })).toBe(true);
    expect(isNumberedPart({ udh: "060804002a0201" })).toBe(true);
    expect(isNumberedPart({ udh: PORTS })).toBe(false);
    expect(isNumberedPart({})).toBe(false);
  });
});

describe("a binary message over SMPP", () => {
  test("keeps its data_coding and its octets", () => {
    expect(submitted(data("00ff1b"))).toEqual([
      { esmClass: 0, dataCoding: 0xf5, shortMessage: Buffer.from("00ff1b", "hex"), tlvs: [] },
    ]);
  });

  test("has its header in front, and UDHI says so", () => {
    expect(submitted(data("00ff1b", PORTS))).toEqual([
      { esmClass: 0x40, dataCoding: 0xf5, shortMessage: Buffer.from(`${PORTS}00ff1b`, "hex"), tlvs: [] },
    ]);
  });

  test("in several parts repeats its header in each, followed by the number", () => {
    const parts = submitted(data(octets(140), PORTS)) ?? [];
    expect(parts.map(({ shortMessage }) => shortMessage.subarray(0, 12).toString("hex"))).toEqual([
      "0b0504158215830003340201",
      "0b0504158215830003340202",
    ]);
    for (const { esmClass, shortMessage } of parts) {
      expect(esmClass).toBe(0x40);
      expect(shortMessage.length).toBeLessThanOrEqual(140);
    }
  });

  test.each(FORMS)("arrives whole with %s, and so does its header", (longMessage) => {
    const parts = submitted(data(octets(300), PORTS), longMessage) ?? [];
    const incoming = parts.map((part) => partOf(part));
    const [first] = parts;
    if (!first) throw new Error("no parts");
    const whole =
      longMessage === "payload"
        ? bodyOf(first).bytes.toString("hex")
        : assemble(
            incoming.flatMap((part) => part ?? []),
            "gsm7",
          )?.text;
    expect(whole).toBe(octets(300));
    for (const part of parts)
      expect(bodyOf(part).elements).toContainEqual({ id: 0x05, value: Buffer.from("15821583", "hex") });
  });

  test("that its sender has numbered is not split again", () => {
    expect(submitted(data(octets(134), NUMBERED))).toHaveLength(1);
    expect(submitted(data(octets(135), NUMBERED))).toBeNull();
  });
});

describe("a header that fills the whole part", () => {
  const compose = (udh: string, text: string, dataCoding: number | null) => {
    const draft = readSms(
      { sender: "HELIOG", to: "15550100100", text, type: "TRANS" },
      DEFAULT_SMS_LIMITS,
      DEFAULT_SETTINGS,
      0,
    );
    const choices = { template: null, textMismatch: "refuse", linkBase: "", rules: DEFAULT_SMS_LIMITS } as const;
    return composeSms({ ...draft, userData: { udh, dataCoding } }, choices).shared?.segments;
  };
  const header = (count: number): string => writeHeader([{ id: 0x70, value: Buffer.alloc(count - 3) }]);

  test.each<[count: number, text: string, dataCoding: number | null]>([
    [140, "a5", 4],
    [133, octets(8), 4],
    [140, "a", null],
    [131, "ж".repeat(5), null],
  ])("of %i octets is refused", (count, text, dataCoding) => {
    const fault = { parameter: "udh", message: expect.stringContaining("leaves no room") as string };
    expect(() => compose(header(count), text, dataCoding)).toThrow(
      expect.objectContaining({ code: "MESSAGE_TOO_LONG", faults: [fault] }) as Error,
    );
  });

  test("is accepted where one segment holds all", () => {
    expect(compose(header(133), octets(7), 4)).toBe(1);
    expect(compose(header(132), octets(10), 4)).toBe(4);
  });
});

test("a text with a header keeps its alphabet", () => {
  const text = { text: "Hi €", encoding: "gsm7" as const, flash: false, udh: PORTS };
  expect(submitted(text)).toEqual([
    { esmClass: 0x40, dataCoding: 0, shortMessage: Buffer.from(`${PORTS}4869201b65`, "hex"), tlvs: [] },
  ]);
  expect(headerElements(Buffer.from(PORTS, "hex").subarray(1))).toHaveLength(1);
});
