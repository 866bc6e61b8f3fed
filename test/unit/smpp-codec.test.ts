import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { COMMAND_IDS, commandOf, type Command } from "../../src/smpp/commands.ts";
import { decode } from "../../src/smpp/decode.ts";
import { encode } from "../../src/smpp/encode.ts";
import { Framer } from "../../src/smpp/framer.ts";
import { PDU_LENGTH_MAX } from "../../src/smpp/lengths.ts";
import { submitSm, type Pdu } from "../../src/smpp/pdu.ts";
import { describeStatus, STATUS } from "../../src/smpp/status.ts";
import { findTlv, tlv, TLVS } from "../../src/smpp/tlv.ts";
import { anyPdu } from "../support/smpp-arbitrary.ts";
import { GOLDENS, octetsOf } from "../support/smpp-goldens.ts";
import { repetitions } from "../support/repetitions.ts";

const sequence = fc.integer({ min: 0, max: 0xffff_ffff });
const goldenOf = (command: Command): Buffer => {
  const golden = GOLDENS.find(({ pdu }) => pdu.command === command);
  if (!golden) throw new Error(`there is no golden ${command}`);
  return Buffer.from(octetsOf(golden));
};

/** Sets the length field. */
function framed(octets: Buffer): Buffer {
  octets.writeUInt32BE(octets.length);
  return octets;
}

describe("encoding and decoding", () => {
  test("every command has a golden PDU", () => {
    expect(new Set(GOLDENS.map(({ pdu }) => pdu.command))).toEqual(new Set(Object.keys(COMMAND_IDS)));
  });

  test.each(GOLDENS)("encoding matches the specification: $title", (golden) => {
    expect(encode(golden.pdu, golden.sequence).toString("hex")).toBe(octetsOf(golden).toString("hex"));
  });

  test.each(GOLDENS)("decoding matches the specification: $title", (golden) => {
    expect(decode(octetsOf(golden))).toEqual({ kind: "pdu", sequence: golden.sequence, pdu: golden.pdu });
  });

  test("an encoded PDU decodes to itself at any offset", () => {
    fc.assert(
      fc.property(anyPdu, sequence, fc.nat(30), (pdu, number, before) => {
        const octets = encode(pdu, number);
        expect(octets.readUInt32BE()).toBe(octets.length);
        expect(decode(octets)).toEqual({ kind: "pdu", sequence: number, pdu });
        const among = Buffer.concat([Buffer.alloc(before, 0xaa), octets, Buffer.alloc(7, 0xaa)]);
        expect(decode(among, before, before + octets.length)).toEqual({ kind: "pdu", sequence: number, pdu });
      }),
      { numRuns: repetitions(400, 2000) },
    );
  });

  test("a truncated request is malformed or decodes to its remaining fields", () => {
    fc.assert(
      fc.property(
        anyPdu.filter((pdu) => !("status" in pdu)),
        fc.nat(),
        (pdu, cut) => {
          const whole = encode(pdu, 7);
          const short = framed(Buffer.from(whole.subarray(0, 16 + (cut % (whole.length - 15)))));
          const decoded = decode(short);
          const written = decoded.kind === "pdu" ? encode(decoded.pdu, 7) : short;
          expect([decoded.sequence, written.toString("hex")]).toEqual([7, short.toString("hex")]);
        },
      ),
      { numRuns: repetitions(400, 2000) },
    );
  });

  test("short_message and TLV values are views of the input", () => {
    const octets = goldenOf("submit_sm");
    const decoded = decode(octets);
    if (decoded.kind !== "pdu" || decoded.pdu.command !== "submit_sm") throw new Error("it was not read");
    octets.write("HELLO", octets.length - 5);
    expect(decoded.pdu.shortMessage.toString()).toBe("HELLO");
  });

  test("fields missing in submitSm are zero or empty", () => {
    expect(encode(submitSm({}), 1).toString("hex")).toBe(`00000021000000040000000000000001${"00".repeat(17)}`);
  });
});

describe("lenient decoding", () => {
  const answers = (Object.keys(COMMAND_IDS) as Command[]).filter((command) => command.endsWith("_resp"));

  test.each(answers)("%s without a body decodes with any status", (command) => {
    for (const status of [0, 0x58]) {
      const header = goldenOf(command).subarray(0, 16);
      header.writeUInt32BE(status, 8);
      expect(decode(framed(header))).toMatchObject({ kind: "pdu", pdu: { command, status } });
    }
  });

  test("a message id without NUL or beyond its maximum length decodes", () => {
    for (const id of ["abc", "x".repeat(300)]) {
      const octets = framed(Buffer.concat([goldenOf("submit_sm_resp").subarray(0, 16), Buffer.from(id)]));
      expect(decode(octets)).toMatchObject({ pdu: { messageId: id, tlvs: [] } });
    }
  });

  test("a response with truncated TLVs keeps the complete ones", () => {
    const octets = framed(
      Buffer.concat([goldenOf("submit_sm_resp"), Buffer.from("0427000102", "hex"), Buffer.from([4, 0x23, 0])]),
    );
    expect(decode(octets)).toMatchObject({
      pdu: { messageId: "abc000", tlvs: [{ tag: 0x0427, value: Buffer.from([2]) }] },
    });
  });

  test("a truncated list of failures keeps the complete entries", () => {
    const octets = goldenOf("submit_multi_resp");
    octets[23] = 9;
    expect(decode(octets)).toMatchObject({ pdu: { failures: [{ status: 0x0b }] } });
  });

  test("a password may exceed the length in the specification, in both directions", () => {
    const password = "p".repeat(64);
    const pdu: Pdu = { command: "outbind", systemId: "smsc", password, tlvs: [] };
    expect(decode(encode(pdu, 1))).toMatchObject({ pdu: { password } });
    const longer = Buffer.concat([goldenOf("outbind").subarray(0, 21), Buffer.from(`${"p".repeat(500)}\0`)]);
    expect(decode(framed(longer))).toMatchObject({ pdu: { password: "p".repeat(500) } });
  });

  test("receipted_message_id decodes with or without NUL", () => {
    for (const value of ["AB12", "AB12\0"])
      expect(
        findTlv([{ tag: 0x001e, value: Buffer.from(value) }, tlv("message_state", 2)], "receipted_message_id"),
      ).toBe("AB12");
  });

  test("a numeric TLV may have any length up to four octets", () => {
    const found = (hex: string) => findTlv([{ tag: 0x0204, value: Buffer.from(hex, "hex") }], "user_message_reference");
    expect([found("07"), found("0007"), found("00000007"), found(""), found("0000000007")]).toEqual([
      7,
      7,
      7,
      undefined,
      undefined,
    ]);
  });

  test("a body after a command without body is ignored", () => {
    expect(decode(framed(Buffer.concat([goldenOf("enquire_link"), Buffer.from("rest")])))).toMatchObject({
      pdu: { command: "enquire_link" },
    });
  });

  test("a status in a request and any sequence number are accepted", () => {
    const octets = goldenOf("enquire_link");
    octets.writeUInt32BE(0xffff_ffff, 8);
    octets.writeUInt32BE(0xffff_ffff, 12);
    expect(decode(octets)).toEqual({ kind: "pdu", sequence: 0xffff_ffff, pdu: { command: "enquire_link" } });
  });
});

describe("malformed input", () => {
  const refused = (octets: Buffer): [number, string] => {
    const decoded = decode(framed(octets));
    return decoded.kind === "malformed" ? [decoded.status, decoded.reason] : [0, "read"];
  };
  /** A submit_sm with one field replaced. */
  const submit = (...parts: (string | Buffer)[]): Buffer =>
    Buffer.concat([goldenOf("submit_sm").subarray(0, 16), ...parts.map((part) => Buffer.from(part))]);

  test("an unknown command keeps its sequence number", () => {
    const octets = goldenOf("enquire_link");
    octets.writeUInt32BE(0x0000_0111, 4);
    expect(decode(octets)).toEqual({
      kind: "malformed",
      commandId: 0x111,
      sequence: 12,
      status: STATUS.ESME_RINVCMDID,
      reason: "there is no command 0x00000111",
    });
  });

  test("fewer octets than a header are malformed", () => {
    for (let length = 0; length < 16; length += 1)
      expect(decode(Buffer.alloc(length))).toMatchObject({ kind: "malformed", status: STATUS.ESME_RINVCMDLEN });
  });

  const addresses = "\0\0\0\0\0\0";
  test.each<[string, Buffer, number]>([
    ["a request without its body", submit(), STATUS.ESME_RINVCMDLEN],
    ["a service type without NUL", submit("ABCDEFG"), STATUS.ESME_RINVSERTYP],
    ["a source address that is too long", submit("\0\x01\x01", "9".repeat(21), "\0"), STATUS.ESME_RINVSRCADR],
    ["a destination address that is too long", submit("\0\0\0\0\x01\x01", "9".repeat(21)), STATUS.ESME_RINVDSTADR],
    ["a schedule that is too long", submit("\0", addresses, "\0\0\0", "0".repeat(17)), STATUS.ESME_RINVSCHED],
    ["a validity that is too long", submit("\0", addresses, "\0\0\0\0", "0".repeat(17)), STATUS.ESME_RINVEXPIRY],
    ["a text that is shorter than its length", submit("\0", addresses, "\0".repeat(9), "\x03ab"), STATUS.ESME_RINVMSGLEN],
    ["a text of 255 octets", submit("\0", addresses, "\0".repeat(9), Buffer.alloc(256, 0xff)), STATUS.ESME_RINVMSGLEN],
    ["half a parameter", submit("\0", addresses, "\0".repeat(10), "\x04\x24\x00"), STATUS.ESME_RINVOPTPARSTREAM],
    ["a parameter that is shorter than its length", submit("\0", addresses, "\0".repeat(10), "\x04\x24\x00\x05abcd"), STATUS.ESME_RINVOPTPARSTREAM],
  ])("%s is refused with its status", (_what, octets, status) => {
    expect(refused(octets)[0]).toBe(status);
  }); // prettier-ignore

  test("binds, queries and lists are refused with their statuses", () => {
    const bind = (body: string) => Buffer.concat([goldenOf("bind_transceiver").subarray(0, 16), Buffer.from(body)]);
    expect(refused(bind("x".repeat(16)))[0]).toBe(STATUS.ESME_RINVSYSID);
    expect(refused(bind(`a\0b\0${"x".repeat(13)}`))[0]).toBe(STATUS.ESME_RINVSYSTYP);
    expect(refused(bind(`a\0b\0\0\x34\0\0${"x".repeat(41)}`))[0]).toBe(STATUS.ESME_RBINDFAIL);
    expect(refused(bind("a\0b"))).toEqual([STATUS.ESME_RINVCMDLEN, "password does not end before the PDU does"]);
    const query = Buffer.concat([goldenOf("query_sm").subarray(0, 16), Buffer.alloc(65, 0x61)]);
    expect(refused(query)[0]).toBe(STATUS.ESME_RINVMSGID);
    const multi = (hex: string) =>
      Buffer.concat([goldenOf("submit_multi").subarray(0, 16), Buffer.from(`00000000${hex}`, "hex")]);
    expect(refused(multi("00"))[0]).toBe(STATUS.ESME_RINVNUMDESTS);
    expect(refused(multi("0103"))[0]).toBe(STATUS.ESME_RINVDESTFLAG);
    expect(refused(multi(`0102${"61".repeat(21)}`))[0]).toBe(STATUS.ESME_RINVDLNAME);
    expect(refused(multi("ff0100000001"))[0]).toBe(STATUS.ESME_RINVCMDLEN);
  });
});

describe("encoding errors", () => {
  const address = (digits: number) => ({ ton: 1, npi: 1, address: "9".repeat(digits) });

  test.each<[Pdu, string]>([
    [submitSm({ destination: address(21) }), "destination has 21 characters; it takes 20"],
    [submitSm({ source: { ton: 256, npi: 0, address: "" } }), "source is 256; it takes 0 to 255"],
    [submitSm({ esmClass: -1 }), "esmClass is -1; it takes 0 to 255"],
    [submitSm({ dataCoding: Number.NaN }), "dataCoding is NaN; it takes 0 to 255"],
    [submitSm({ serviceType: "a\0b" }), "serviceType has a character that is NUL or above U+00FF; take it out"],
    [submitSm({ serviceType: "€" }), "serviceType has a character that is NUL or above U+00FF; take it out"],
    [submitSm({ shortMessage: Buffer.alloc(255) }), "shortMessage has 255 octets; it takes 254, longer ones go into message_payload"],
    [submitSm({ tlvs: [{ tag: 0x10000, value: Buffer.alloc(0) }] }), "the tag of a TLV is 65536; it takes 0 to 65535"],
    [submitSm({ tlvs: [{ tag: 0x0424, value: Buffer.alloc(65_536) }] }), "the TLV 0x424 has 65536 octets; it takes 65535"],
    [submitSm({ tlvs: [1, 2].map((tag) => ({ tag, value: Buffer.alloc(40_000) })) }), "submit_sm has 80041 octets; a PDU takes 66560, so shorten it"],
  ])("a value that does not fit is refused with the name of its field", (pdu, message) => {
    expect(() => encode(pdu, 1)).toThrow(new RangeError(message));
  }); // prettier-ignore

  test("the longest message_payload can be encoded and decoded", () => {
    const pdu = submitSm({ tlvs: [tlv("message_payload", Buffer.alloc(65_535, 0x61))] });
    expect(decode(encode(pdu, 1))).toEqual({ kind: "pdu", sequence: 1, pdu });
  });

  test("a number that does not fit its TLV is refused with the TLV's name", () => {
    expect(() => tlv("message_state", 256)).toThrow("message_state is 256; it takes a whole number of 1 octets");
    expect(() => tlv("sar_msg_ref_num", -1)).toThrow(RangeError);
  });
});

describe("TLVs", () => {
  test("every known TLV decodes to its value", () => {
    for (const name of Object.keys(TLVS) as (keyof typeof TLVS)[]) {
      const values = { uint8: 0xfe, uint16: 0xfedc, uint32: 0xfedc_ba98, cstring: "text", octets: Buffer.from([0, 1]) };
      const value = values[TLVS[name].form];
      expect(findTlv([{ tag: 0xffff, value: Buffer.alloc(1) }, tlv(name, value as never)], name)).toEqual(value);
    }
    expect(findTlv([], "message_state")).toBeUndefined();
  });

  test("tags are unique", () => {
    const tags = Object.values(TLVS).map(({ tag }) => tag);
    expect(new Set(tags).size).toBe(tags.length);
  });
});

describe("the framer", () => {
  /** Frames of a stream that is cut at these positions. */
  function frames(stream: Buffer, cuts: number[]): { frames: string[]; result: string } {
    const seen: string[] = [];
    const framer = new Framer((octets, start, end) => seen.push(octets.toString("hex", start, end)));
    let result = "read";
    let from = 0;
    for (const to of [...cuts, stream.length]) {
      if (result === "read") result = framer.read(stream.subarray(from, to));
      from = to;
    }
    return { frames: seen, result };
  }

  const all = GOLDENS.map(octetsOf);
  const stream = Buffer.concat(all);
  const whole = { frames: all.map((octets) => octets.toString("hex")), result: "read" };

  test("a stream cut at any position yields the same PDUs", () => {
    for (let cut = 0; cut <= stream.length; cut += 1) expect(frames(stream, [cut])).toEqual(whole);
  });

  test("a stream of single octets yields the same PDUs", () => {
    expect(frames(stream, [...stream.keys()])).toEqual(whole);
  });

  test("chunks of any size yield the same PDUs", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(stream.length), { maxLength: 60 }), (cuts) => {
        expect(
          frames(
            stream,
            cuts.toSorted((a, b) => a - b),
          ),
        ).toEqual(whole);
      }),
      { numRuns: 500 },
    );
  });

  test.each([0, 1, 4, 15, PDU_LENGTH_MAX + 1, 0x7fff_ffff, 0xffff_ffff])(
    "a length of %i ends the stream after the PDUs before it, however it is split",
    (length) => {
      const wrong = Buffer.alloc(40);
      wrong.writeUInt32BE(length);
      const bad = Buffer.concat([...all.slice(0, 2), wrong]);
      const seen = { frames: whole.frames.slice(0, 2), result: "unframeable" };
      expect(frames(bad, [])).toEqual(seen);
      expect(frames(bad, [...bad.keys()])).toEqual(seen);
    },
  );

  test("the longest and the shortest PDU are framed", () => {
    const longest = framed(Buffer.alloc(PDU_LENGTH_MAX));
    const shortest = framed(Buffer.alloc(16));
    const found = frames(Buffer.concat([longest, shortest, longest]), [1, 3, 5, 66_559, 66_561, 66_580]);
    expect(found.frames.map((hex) => hex.length / 2)).toEqual([PDU_LENGTH_MAX, 16, PDU_LENGTH_MAX]);
  });

  test("a framed PDU is not overwritten by later input", () => {
    const kept: Buffer[] = [];
    const framer = new Framer((octets, start, end) => kept.push(octets.subarray(start, end)));
    for (const octet of stream) framer.read(Buffer.from([octet]));
    expect(kept.map((octets) => octets.toString("hex"))).toEqual(whole.frames);
  });
});

describe("names", () => {
  test("every command id maps back to its command, and responses differ from requests by the highest bit", () => {
    const ids = Object.entries(COMMAND_IDS);
    for (const [command, id] of ids) expect(commandOf(id)).toBe(command);
    for (const [command, id] of ids.filter(([name]) => name.endsWith("_resp")))
      expect(commandOf(id - 0x8000_0000)).toBe(command.slice(0, -5));
    expect(commandOf(0x1234)).toBeUndefined();
  });

  test("every status has a name and one sentence, also unknown ones", () => {
    for (const status of Object.values(STATUS)) {
      const { name, meaning } = describeStatus(status);
      expect(STATUS[name as keyof typeof STATUS]).toBe(status);
      expect(meaning).toMatch(/^[A-Z][^.]+\.$/);
    }
    expect(describeStatus(0x401)).toEqual({ name: "0x00000401", meaning: "A code of the other side's own." });
    expect(describeStatus(0x09)).toEqual({ name: "0x00000009", meaning: "A code that SMPP does not name." });
  });
});
