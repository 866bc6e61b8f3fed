import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { readMessageId, writeMessageId } from "../../src/facades/smpp/message-id.ts";
import { readSubmit, submitOfData, SubmitRefused } from "../../src/facades/smpp/read-submit.ts";
import { receiptOf, wantsReceipt } from "../../src/facades/smpp/receipt.ts";
import { PROBLEM_STATUSES, statusOfProblem, statusTable } from "../../src/facades/smpp/status-of-problem.ts";
import { readSmppTime, writeReceiptDate, writeSmppTime } from "../../src/facades/smpp/time.ts";
import { smppAccessOf } from "../../src/model/smpp-access.ts";
import { submitSm, type DataSm } from "../../src/smpp/pdu.ts";
import { describeStatus, STATUS } from "../../src/smpp/status.ts";
import { findTlv, tlv, TLVS } from "../../src/smpp/tlv.ts";

const NOON = Date.UTC(2026, 0, 31, 12);
const DAY_MS = 86_400_000;

describe("times of SMPP", () => {
  it.each([
    ["", null],
    ["260131120000000+", NOON],
    ["260131173000022+", NOON],
    ["260131070000020-", NOON],
    ["260131120000500+", NOON + 500],
    ["000001000000000R", NOON + DAY_MS],
    ["000000010203000R", NOON + 3_723_000],
    ["000100000000000R", Date.UTC(2026, 2, 3, 12)],
    ["010000000000000R", Date.UTC(2027, 0, 31, 12)],
    ["261331120000000+", undefined],
    ["260231120000000+", undefined],
    ["260131240000000+", undefined],
    ["260131126000000+", undefined],
    ["260131120000049+", undefined],
    ["260131120000000", undefined],
    ["2601311200000000+", undefined],
    ["tomorrow", undefined],
  ])("%j is read", (written, expected) => {
    expect(readSmppTime(written, NOON)).toBe(expected);
  });

  it("a time is written in UTC and read back", () => {
    expect(writeSmppTime(NOON + 300)).toBe("260131120000300+");
    expect(readSmppTime(writeSmppTime(NOON + 300), 0)).toBe(NOON + 300);
    expect(writeReceiptDate(NOON)).toBe("2601311200");
  });
});

describe("message ids", () => {
  const id = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";

  it.each(["hex", "uuid", "decimal"] as const)("an id in the form %s is read back", (form) => {
    const written = writeMessageId(id, form);
    expect(written.length).toBeLessThanOrEqual(64);
    expect(readMessageId(written)).toBe(id);
    expect(readMessageId(written.toUpperCase())).toBe(id);
  });

  it.each(["", "4711", "x".repeat(32), "9".repeat(39), `${id}:1`])("%j is no id", (written) => {
    expect(readMessageId(written)).toBeNull();
  });
});

describe("a submit", () => {
  const access = smppAccessOf({});
  const read = (fields: Parameters<typeof submitSm>[0], more = {}) =>
    readSubmit(
      submitSm({
        source: { ton: 5, npi: 0, address: "SHOP" },
        shortMessage: Buffer.from("Hi"),
        ...fields,
      }),
      { ...access, ...more },
      NOON,
    );
  const refusal = (run: () => unknown): string => {
    try {
      run();
    } catch (error) {
      if (error instanceof SubmitRefused) return describeStatus(error.status).name;
      throw error;
    }
    return "accepted";
  };

  it("without settings has the type TRANS and no times", () => {
    expect(read({})).toMatchObject({
      sender: "SHOP",
      routeClass: "TRANS",
      body: { kind: "whole", text: "Hi" },
      ucs2: false,
      flash: false,
      sendAt: null,
      expiresAt: null,
      dlt: null,
    });
  });

  it("its service_type chooses the route type, in any case", () => {
    expect(read({ serviceType: "otp" }).routeClass).toBe("OTP");
    expect(read({ serviceType: "CMT" }, { defaultType: "PROMO" }).routeClass).toBe("PROMO");
  });

  it("a relative validity counts from the scheduled time", () => {
    const { sendAt, expiresAt } = read({
      scheduleDeliveryTime: "000001000000000R",
      validityPeriod: "000000010000000R",
    });
    expect(sendAt).toBe(NOON + DAY_MS);
    expect(expiresAt).toBe(NOON + DAY_MS + 3_600_000);
  });

  it("a scheduled time that is over means now", () => {
    expect(read({ scheduleDeliveryTime: "250101000000000+" }).sendAt).toBeNull();
  });

  it("the validity of the system id holds where the submit names none", () => {
    expect(read({}, { validitySeconds: 600 }).expiresAt).toBe(NOON + 600_000);
  });

  it("a data_sm is valid for its qos_time_to_live, and otherwise for the validity of the system id", () => {
    const validityOf = (tlvs: DataSm["tlvs"]): number | null => {
      const { serviceType, source, destination, esmClass, registeredDelivery, dataCoding } = submitSm({});
      const payload = tlv("message_payload", Buffer.from("Hi"));
      const fields = { serviceType, destination, esmClass, registeredDelivery, dataCoding };
      const pdu: DataSm = {
        command: "data_sm",
        ...fields,
        source: { ...source, address: "SHOP" },
        tlvs: [payload, ...tlvs],
      };
      return readSubmit(submitOfData(pdu), { ...access, validitySeconds: 600 }, NOON).expiresAt;
    };
    expect(validityOf([tlv("qos_time_to_live", 90)])).toBe(NOON + 90_000);
    expect(validityOf([])).toBe(NOON + 600_000);
    expect(refusal(() => validityOf([tlv("qos_time_to_live", 0)]))).toBe("ESME_RINVEXPIRY");
  });

  it.each([0x10, 0xf0, 0x18])("data_coding %i is flash", (dataCoding) => {
    expect(read({ dataCoding, shortMessage: Buffer.from("\0H\0i") }).flash).toBe(true);
  });

  it.each([0x00, 0x08, 0x11, 0xf1])("data_coding %i is not flash", (dataCoding) => {
    expect(read({ dataCoding, shortMessage: Buffer.from("\0H\0i") }).flash).toBe(false);
  });

  it("UCS-2 is kept as the client asked", () => {
    expect(read({ dataCoding: 8, shortMessage: Buffer.from([0x09, 0x05]) })).toMatchObject({
      ucs2: true,
      body: { text: "अ" },
    });
  });

  it("the text may be in message_payload", () => {
    const tlvs = [tlv("message_payload", Buffer.from("long"))];
    expect(read({ shortMessage: Buffer.alloc(0), tlvs }).body).toEqual({ kind: "whole", text: "long" });
  });

  it("DLT ids come from their TLVs", () => {
    const tlvs = [
      { tag: 0x1400, value: Buffer.from("1101\0") },
      { tag: 0x1401, value: Buffer.from("1107") },
    ];
    expect(read({ tlvs }).dlt).toEqual({ entityId: "1101", contentId: "1107" });
  });

  it("vendor TLVs and descriptive ones are passed on, and those that would change the text or the route are not", () => {
    const tlvs = [
      { tag: 0x1402, value: Buffer.from([1, 2]) },
      tlv("user_message_reference", 7),
      tlv("dest_addr_subunit", 0),
      { tag: 0x4001, value: Buffer.from("x") },
    ];
    expect(read({ tlvs }).tlvs).toEqual([
      { tag: 0x1402, value: "0102" },
      { tag: 0x0204, value: "0007" },
    ]);
  });

  it("a TLV with too many octets or no registration is refused", () => {
    const refusalOf = (tag: number, value: Buffer) => refusal(() => read({ tlvs: [{ tag, value }] }));
    expect(refusalOf(0x1402, Buffer.alloc(513))).toBe("ESME_RINVOPTPARAMVAL");
    expect(refusalOf(0x1400, Buffer.from("two words"))).toBe("ESME_RINVOPTPARAMVAL");
  });

  it("a part has its number, by UDH or by sar TLVs", () => {
    const udh = read({ esmClass: 0x40, shortMessage: Buffer.from([5, 0, 3, 7, 2, 1, 0x48]) });
    expect(udh.body).toMatchObject({ kind: "part", part: { reference: 7, total: 2, index: 1 } });
    const tlvs = [tlv("sar_msg_ref_num", 300), tlv("sar_total_segments", 3), tlv("sar_segment_seqnum", 2)];
    expect(read({ tlvs }).body).toMatchObject({ kind: "part", part: { reference: 300, total: 3, index: 2 } });
  });

  it("a sender that the system id may not use is refused", () => {
    expect(refusal(() => read({}, { senders: ["OTHER"] }))).toBe("ESME_RINVSRCADR");
    expect(refusal(() => read({}, { senders: ["OTHER", "SHOP"] }))).toBe("accepted");
  });

  it("the first sender of the system id stands in for a missing one", () => {
    expect(read({ source: { ton: 0, npi: 0, address: "" } }, { senders: ["SHOP"] }).sender).toBe("SHOP");
  });

  it("scheduling is a feature that the system id may lack", () => {
    const run = () => read({ scheduleDeliveryTime: "000001000000000R" }, { features: [] });
    expect(refusal(run)).toBe("ESME_RINVSCHED");
  });

  it("a user data header is kept without its concatenation, and data has its data_coding", () => {
    const ports = "06050415821583";
    const octets = (hex: string) => ({ esmClass: 0x40, shortMessage: Buffer.from(hex, "hex") });
    expect(read(octets(`${ports}48`)).userData).toEqual({ udh: ports, dataCoding: null });
    expect(read(octets("0b050415821583000307020148")).userData).toEqual({ udh: ports, dataCoding: null });
    expect(read(octets("05000307020148")).userData).toBeNull();
    expect(read({ dataCoding: 4 }).userData).toEqual({ udh: "", dataCoding: 4 });
  });

  it.each(["03240101", "03250103"])("a text with the national language header %s is refused", (header) => {
    const octets = { esmClass: 0x40, shortMessage: Buffer.from(`${header}1b53`, "hex") };
    expect(refusal(() => read(octets))).toBe("ESME_RINVESMCLASS");
    expect(refusal(() => read({ ...octets, dataCoding: 4 }))).toBe("accepted");
    expect(refusal(() => read({ ...octets, dataCoding: 8 }))).toBe("accepted");
  });

  it.each(["060504158215", "7f0548", "00"])("a broken user data header %s is refused", (hex) => {
    const shortMessage = Buffer.from(hex, "hex");
    expect(refusal(() => read({ esmClass: 0x40, shortMessage }))).toBe("ESME_RINVESMCLASS");
  });
});

describe("receipts", () => {
  it.each([
    [0, "delivered", false],
    [1, "delivered", true],
    [1, "undelivered", true],
    [2, "delivered", false],
    [2, "expired", true],
    [3, "delivered", true],
    [3, "rejected", false],
    [1, "submitted", false],
    [0x11, "submitted", true],
    [0x10, "delivered", false],
    [1, "enroute", false],
  ] as const)("with registered_delivery %i a receipt of %s is wanted: %s", (bits, state, expected) => {
    expect(wantsReceipt(bits, state)).toBe(expected);
  });

  const facts = {
    id: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47",
    state: "undelivered" as const,
    errorCode: "27",
    source: { ton: 5, npi: 0, address: "SHOP" },
    destination: { ton: 1, npi: 1, address: "15550100100" },
    submittedAt: NOON,
    at: NOON + 60_000,
  };

  it("the text has the form that clients parse, and the TLVs say the same", () => {
    const receipt = receiptOf(facts, smppAccessOf({}));
    expect(receipt.shortMessage.toString()).toBe(
      "id:0198f3a27c407d1e9a513f0c8e2b6d47 sub:001 dlvrd:000 submit date:2601311200 done date:2601311201 stat:UNDELIV err:027 text:",
    );
    expect(findTlv(receipt.tlvs, "message_state")).toBe(5);
    expect(findTlv(receipt.tlvs, "network_error_code")).toEqual(Buffer.from([0, 0, 27]));
    expect(receipt.esmClass).toBe(0x04);
  });

  it("a client may want the text or the TLVs alone", () => {
    expect(receiptOf(facts, smppAccessOf({ receiptForm: "text" })).tlvs).toEqual([]);
    expect(receiptOf(facts, smppAccessOf({ receiptForm: "parameters" })).shortMessage).toHaveLength(0);
  });

  it("a client can have its own status texts, error codes and TLVs", () => {
    const access = smppAccessOf({
      receiptWords: { undelivered: "FAILED" },
      receiptErrors: { "27": "000A", NO_ROUTE: "068" },
      receiptTlvs: ["message_state"],
    });
    const receipt = receiptOf(facts, access);
    expect(receipt.shortMessage.toString()).toContain(" stat:FAILED err:000A text:");
    expect(receipt.tlvs).toEqual([tlv("message_state", 5)]);
    const unrouted = receiptOf({ ...facts, errorCode: "NO_ROUTE" }, { ...access, receiptTlvs: ["network_error_code"] });
    expect(unrouted.shortMessage.toString()).toContain(" err:068 ");
    expect(unrouted.tlvs).toEqual([tlv("network_error_code", Buffer.from([0, 0, 68]))]);
  });

  it("a receipt without text always has the id and the state", () => {
    const receipt = receiptOf(facts, smppAccessOf({ receiptForm: "parameters", receiptTlvs: [] }));
    expect(receipt.tlvs.map(({ tag }) => tag)).toEqual([TLVS.receipted_message_id.tag, TLVS.message_state.tag]);
  });

  it("our own failures have numbers, and unknown error codes become 999", () => {
    const errorIn = (errorCode: string): string =>
      /err:(\d+)/.exec(
        receiptOf({ ...facts, errorCode }, smppAccessOf({ receiptForm: "text" })).shortMessage.toString(),
      )?.[1] ?? "";
    expect(errorIn("NO_ROUTE")).toBe("012");
    expect(errorIn("ESME_RX")).toBe("999");
    expect(errorIn("4711")).toBe("999");
  });
});

describe("the status of a refusal", () => {
  it("names the field of an invalid request", () => {
    expect(statusOfProblem({ code: "INVALID_REQUEST", faults: [{ parameter: "sender" }] })).toBe(
      STATUS.ESME_RINVSRCADR,
    );
    expect(statusOfProblem({ code: "INVALID_REQUEST", faults: [] })).toBe(STATUS.ESME_RSUBMITFAIL);
  });

  it("is a system error for a problem that no submit can cause", () => {
    expect(statusOfProblem({ code: "LAST_OWNER" })).toBe(STATUS.ESME_RSYSERR);
  });

  test("docs/smpp-server.md contains exactly this table", () => {
    const page = readFileSync(join(import.meta.dirname, "../../docs/smpp-server.md"), "utf8");
    const table = /<!-- smpp-statuses:begin -->\n([\s\S]*?)\n<!-- smpp-statuses:end -->/.exec(page)?.[1];
    expect(Object.keys(PROBLEM_STATUSES).length).toBeGreaterThan(5);
    expect(table).toBe(statusTable());
  });
});
