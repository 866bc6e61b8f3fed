import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeText, formEncode, readForm } from "../../src/facades/parameters.ts";
import { dlrRequest } from "../../src/facades/kannel/dlr.ts";
import { fillEscapes } from "../../src/facades/kannel/escapes.ts";
import { failureReply } from "../../src/facades/kannel/reply.ts";
import { readRequest } from "../../src/facades/kannel/read-request.ts";
import { readSubmit } from "../../src/facades/kannel/read-submit.ts";
import { settingsOf } from "../../src/facades/kannel/settings.ts";
import { readXmlTexts } from "../../src/facades/kannel/xml.ts";
import { argumentsIn, readArguments, readJsonBody } from "../../src/facades/jasmin/arguments.ts";
import { requireAcknowledgement } from "../../src/facades/jasmin/dlr.ts";
import { readSend } from "../../src/facades/jasmin/read-send.ts";
import { readScheduleAt, readScheduledTime } from "../../src/facades/jasmin/scheduled-time.ts";
import { Problem } from "../../src/model/problem.ts";

const SUBJECT = {
  accountId: 1,
  credentialId: "c",
  username: "u",
  routeClass: "TRANS" as const,
  definitions: settingsOf({ settings: {} }).tlvs,
  now: 0,
};
const NAMES = [
  "username", "password", "from", "to", "text", "charset", "coding", "mclass", "udh", "dlr-mask", "dlr-url",
  "validity", "deferred", "smsc", "priority", "account", "binfo", "meta-data", "pid", "mwi", "rpi",
]; // prettier-ignore
const value = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom("0", "2", "31", "-1", "99", "http://a/%d", "%"),
);

/** The error of a reader other than a `Problem`; null without one. */
function faultOf(run: () => unknown): unknown {
  try {
    run();
    return null;
  } catch (error) {
    return error instanceof Problem ? null : error;
  }
}

/** The message of the first fault that a reader throws. */
function messageOf(run: () => unknown): string {
  try {
    run();
    return "nothing refused";
  } catch (error) {
    return error instanceof Problem ? (error.faults[0]?.message ?? "") : String(error);
  }
}

describe("forms", () => {
  test("a form with any values reads back equal", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.string({ unit: "grapheme" })), (values) => {
        const written = Object.entries(values)
          .map(([name, text]) => `${formEncode(name)}=${formEncode(text)}`)
          .join("&");
        const read = readForm(written);
        for (const [name, text] of Object.entries(values)) expect(read.get(name)?.toString()).toBe(text.toWellFormed());
      }),
    );
  });

  test("the first of repeated parameters counts, and a malformed escape stays as it is", () => {
    expect(readForm("a=1&a=2&b=%zz&c=%4").get("a")?.toString()).toBe("1");
    expect(readForm("b=%zz").get("b")?.toString()).toBe("%zz");
    expect(readForm("c=1%4").get("c")?.toString()).toBe("1%4");
  });

  test("a form of more than 200 parameters is refused, because it is read before the login", () => {
    expect(() => readForm("a=1&".repeat(199))).not.toThrow();
    expect(() => readForm("a=1&".repeat(1000))).toThrow(Problem);
  });

  test("text of an unknown charset, or with bytes that are not of it, is null", () => {
    expect(decodeText(Buffer.from([0xe9]), "iso-8859-1")).toBe("é");
    expect(decodeText(Buffer.from([0xe9]), "utf-8")).toBeNull();
    expect(decodeText(Buffer.from("a"), "no-such")).toBeNull();
  });
});

describe("Kannel's requests", () => {
  test("any query is read or refused with a problem", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...NAMES), value)), (pairs) => {
        const query = pairs.map(([name, text]) => `${name}=${formEncode(text)}`).join("&");
        const given = readRequest({
          method: "GET",
          url: `/cgi-bin/sendsms?${query}`,
          requestHeaders: {},
          body: Buffer.alloc(0),
        });
        expect(faultOf(() => readSubmit(given, SUBJECT))).toBeNull();
      }),
    );
  });

  test("any body of any content type is read or refused with a problem", () => {
    const type = fc.constantFrom(
      "text/xml",
      "text/plain; charset=utf-8",
      "application/x-www-form-urlencoded",
      "application/json",
      "",
    );
    fc.assert(
      fc.property(type, fc.uint8Array({ maxLength: 200 }), (contentType, bytes) => {
        const requestHeaders = { "content-type": contentType, "x-kannel-to": "1" };
        const call = { method: "POST", url: "/cgi-bin/sendsms", requestHeaders, body: Buffer.from(bytes) };
        expect(faultOf(() => readSubmit(readRequest(call), SUBJECT))).toBeNull();
      }),
    );
  });

  test("XML with entities of its own, unbalanced elements or text outside is refused", () => {
    for (const document of [
      '<!DOCTYPE m [<!ENTITY a "b">]><m>&a;</m>',
      "<m><n></m></n>",
      "<m>",
      "</m>",
      "<m/><",
      `${"<a>".repeat(30)}${"</a>".repeat(30)}`,
    ])
      expect(readXmlTexts(document)).toBeNull();
    expect(
      readXmlTexts("<?xml version='1.0'?><!-- c --><m><n a='1'>x &lt; &#233;&#xe9;&unknown;</n></m>")?.get("m/n"),
    ).toEqual(["x < éé&unknown;"]);
  });

  // Quadratic time would be half a minute and more.
  test.each([
    ["an endless name", `<${"a".repeat(120_000)}`],
    ["an endless tag", `<a ${"b ".repeat(200_000)}`],
    ["comments that do not end", "<!--".repeat(100_000)],
    ["equal elements", "<a></a>".repeat(60_000)],
    ["equal elements under a long name", `<${"a".repeat(100_000)}>${"<a></a>".repeat(60_000)}`],
    ["entities that do not end", `<a>${"&a".repeat(200_000)}`],
  ])("XML of %s is refused in linear time, because it is read before the login", (_, document) => {
    expect(readXmlTexts(document)).toBeNull();
  });

  test("a batch of a thousand receivers in XML is read", () => {
    const document = `<message><submit>\n${"<da><number>1</number></da>\n".repeat(1000)}</submit></message>`;
    expect(readXmlTexts(document)?.get("message/submit/da/number")).toHaveLength(1000);
  });

  test.each(["binfo", "meta-data"])("%s has at most 1000 characters, because each message stores it", (name) => {
    const given = (length: number) =>
      new Map(
        [
          ["to", "1"],
          ["from", "A"],
          ["text", "x"],
          [name, "x".repeat(length)],
        ].map(([key = "", text = ""]) => [key, Buffer.from(text)]),
      );
    expect(() => readSubmit(given(1000), SUBJECT)).not.toThrow();
    expect(() => readSubmit(given(1001), SUBJECT)).toThrow(Problem);
  });

  describe("TLVs in the meta-data", () => {
    const definitions = settingsOf({
      settings: {
        tlvs: [
          { name: "campaign", tag: "0x1500", type: "nulterminated", length: 5 },
          { name: "level", tag: 0x1501, type: "integer", length: 1 },
          { name: "raw", tag: "0x1502", type: "octetstring" },
        ],
      },
    }).tlvs;
    const read = (meta: string) => {
      const written = { to: "1", from: "A", text: "x", "meta-data": meta };
      const given = new Map(Object.entries(written).map(([name, text]) => [name, Buffer.from(text)]));
      return readSubmit(given, { ...SUBJECT, definitions }).tlvs;
    };

    test("are read by their definitions, whatever their octets are, and others are ignored", () => {
      expect(read("?orig?a=1?smpp?campaign=may&level=7&raw=%00%ff&other=1&PE_ID=1101?http?raw=2")).toEqual({
        dlt: { entityId: "1101", contentId: null },
        tlvs: [
          { tag: 0x1500, value: "6d617900" },
          { tag: 0x1501, value: "07" },
          { tag: 0x1502, value: "00ff" },
        ],
      });
    });

    test.each([
      ["a number beyond its octets", "level=256"],
      ["a word for a number", "level=high"],
      ["more octets than the definition has", "campaign=spring"],
      ["no registration", "PE_ID=a%20b"],
      ["more than 512 octets", `raw=${"x".repeat(513)}`],
    ])("are refused with %s", (_, fields) => {
      expect(() => read(`?smpp?${fields}`)).toThrow(Problem);
    });
  });

  test.each([
    ["delivered", 1, "DELIVRD"],
    ["undelivered", 2, "UNDELIV"],
    ["enroute", 4, "ENROUTE"],
    ["submitted", 8, "ACK/"],
    ["rejected", 16, "NACK/"],
  ] as const)("the state %s is reported as %i to masks that ask for it", (state, type, answer) => {
    const read = (mask: number) => {
      const written = { to: "1", from: "A", text: "x", "dlr-url": "http://a/?t=%d&a=%A", "dlr-mask": String(mask) };
      return readSubmit(new Map(Object.entries(written).map(([name, text]) => [name, Buffer.from(text)])), SUBJECT);
    };
    expect(read(type).callback?.states).toContain(state);
    expect(read(31 - type).callback?.states).not.toContain(type === 16 ? "cancelled" : state);
    const callback = read(31).callback;
    const ref = { messageId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1", channel: "sms", recipient: "1" } as const;
    const message = { ...ref, sender: "A", credits: 1, createdAt: 0, session: false, ...(callback && { callback }) };
    const facts = { at: 1, message, gateway: "line", errorCode: null, description: null };
    const happening = { kind: "state", state, ...facts } as const;
    const request = dlrRequest({ accountId: 1, eventId: "e", endpointId: "p", happening, attempts: 0 });
    expect(request?.url).toContain(`t=${type}&`);
    expect(decodeURIComponent(request?.url ?? "")).toContain(answer);
  });

  test("a refusal that repeats the request has no HTML of it", () => {
    const problem = new Problem("SENDER_NOT_REGISTERED", { message: "<img src=x> & co. is not registered." });
    expect(failureReply(problem).text).toBe(
      "Not routable. Do not try again. &lt;img src=x&gt; &amp; co. is not registered.",
    );
  });

  test("any template is filled in, and values cannot add parameters", () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ unit: "grapheme" }), (template, text) => {
        const values = { encoded: { p: text }, raw: {}, words: [text], meta: text };
        const filled = fillEscapes(`${template}&p=%p`, values);
        expect(filled.endsWith(`=${formEncode(text)}`)).toBe(true);
      }),
    );
  });
});

describe("Jasmin's requests", () => {
  const names = fc.constantFrom(
    "to", "from", "coding", "content", "hex-content", "sdt", "validity-period", "dlr", "dlr-url", "dlr-level",
    "dlr-method", "priority", "tags", "custom_tlvs", "username", "other",
  ); // prettier-ignore

  test("any query is read or refused with a problem", () => {
    const written = fc.oneof(
      value,
      fc.constantFrom("yes", "8", "[[5120,null,1,2]]", "000000010000000R", "260131180000000+"),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(names, written)), (pairs) => {
        const query = pairs.map(([name, text]) => `${name}=${formEncode(text)}`).join("&");
        const given = readArguments({
          method: "GET",
          url: `/send?${query}`,
          requestHeaders: {},
          body: Buffer.alloc(0),
        });
        expect(faultOf(() => readSend(given, SUBJECT))).toBeNull();
      }),
    );
  });

  test("any JSON is read or refused with a problem", () => {
    fc.assert(
      fc.property(fc.dictionary(names, fc.jsonValue()), (fields) => {
        const body = Buffer.from(JSON.stringify(fields));
        expect(faultOf(() => readSend(argumentsIn(readJsonBody(body)), SUBJECT))).toBeNull();
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        expect(faultOf(() => readJsonBody(Buffer.from(bytes)))).toBeNull();
      }),
    );
  });

  describe("custom_tlvs", () => {
    const read = (tlvs: unknown) =>
      readSend(argumentsIn({ to: "15550100100", from: "A", content: "x", custom_tlvs: tlvs }), SUBJECT).tlvs;

    test("are read by their types, in decimal or hexadecimal tags", () => {
      expect(
        read([
          [0x3000, null, "COctetString", "test1234"],
          ["0x1501", 1, "Int1", 7],
          [0x0204, null, "Int2", "4711"],
          [0x1502, null, "OctetString", "é"],
          [0x1400, null, "COctetString", "1101"],
        ]),
      ).toEqual({
        dlt: { entityId: "1101", contentId: null },
        tlvs: [
          { tag: 0x3000, value: "746573743132333400" },
          { tag: 0x1501, value: "07" },
          { tag: 0x0204, value: "1267" },
          { tag: 0x1502, value: "e9" },
        ],
      });
    });

    test.each([
      ["the text of the message", [0x0424, null, "OctetString", "other"]],
      ["the parts of a text", [0x020c, null, "Int2", 1]],
      ["the ports of an application", [0x020b, null, "Int2", 1]],
      ["the service of USSD", [0x0501, null, "OctetString", "1"]],
      ["the address unit of the phone", [0x0005, null, "Int1", 1]],
      ["tags beyond those of vendors", [0x4000, null, "Int1", 1]],
      ["an unknown type", [0x1500, null, "Int3", 1]],
      ["a number beyond its octets", [0x1500, null, "Int1", 256]],
      ["a length that differs from the value", [0x1500, 3, "OctetString", "four"]],
      ["characters beyond Latin-1", [0x1500, null, "OctetString", "€"]],
      ["an object as value", [0x1500, null, "OctetString", {}]],
    ])("are refused for %s", (_, tlv) => {
      expect(messageOf(() => read([tlv]))).toContain("Argument [custom_tlvs] has an invalid value");
    });

    test("are refused in more than 16", () => {
      const some = (count: number) => Array.from({ length: count }, (_, place) => [0x1500 + place, null, "Int1", 1]);
      expect(read(some(16)).tlvs).toHaveLength(16);
      expect(messageOf(() => read(some(17)))).toContain("at most 16 TLVs");
    });
  });

  test("times are read in SMPP's form and in a batch's, and anything else is none", () => {
    const now = Date.parse("2026-01-31T18:00:00Z");
    expect(readScheduledTime("260131200000004+", now)).toBe(Date.parse("2026-01-31T19:00:00Z"));
    expect(readScheduledTime("260131200000004-", now)).toBe(Date.parse("2026-01-31T21:00:00Z"));
    expect(readScheduledTime("000001020304000R", now)).toBe(now + 93_784_000);
    expect(readScheduledTime("269931200000004+", now)).toBeNull();
    expect(readScheduleAt("2026-01-31 18:00:00", now)).toBe(now);
    expect(readScheduleAt("90s", now)).toBe(now + 90_000);
    expect(readScheduleAt("tomorrow", now)).toBeNull();
  });

  test("a response counts as delivered only with the acknowledgement as its body", () => {
    const answered = (excerpt: string) =>
      requireAcknowledgement({ kind: "delivered", status: 200, ms: 1, excerpt }).kind;
    expect(["ACK/Jasmin", "ACK/Jasmin\n", "", "OK", "ACK/Jasmin2"].map(answered)).toEqual([
      "delivered",
      "delivered",
      "failed",
      "failed",
      "failed",
    ]);
  });
});
