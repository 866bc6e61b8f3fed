import fc from "fast-check";
import twilio from "twilio";
import { describe, expect, test } from "vitest";
import { readAddress, writeAddress } from "../../src/facades/twilio/addresses.ts";
import { readForm } from "../../src/facades/twilio/form.ts";
import { messageResource } from "../../src/facades/twilio/message-resource.ts";
import { signatureOf } from "../../src/facades/twilio/signature.ts";
import { readTwiml } from "../../src/facades/twilio/twiml.ts";
import { SEND_CHANNELS } from "../../src/model/message.ts";
import { Problem } from "../../src/model/problem.ts";
import { idInSid, messageInSid, messageSidOf, sidOf } from "../../src/model/twilio-sid.ts";

const FORM = { "content-type": "application/x-www-form-urlencoded" };

describe("Twilio's forms", () => {
  test("a SID is the UUID of its record, in both directions", () => {
    fc.assert(
      fc.property(fc.uuid(), fc.integer({ min: 1, max: 999_999 }), (id, n) => {
        expect(idInSid("VE", sidOf("VE", id))).toBe(id);
        expect(idInSid("VA", sidOf("VE", id))).toBeNull();
        expect(messageInSid(messageSidOf({ requestId: id, n }))).toEqual({ requestId: id, n });
        expect(messageInSid(messageSidOf({ requestId: id, n }).replace("SM", "MM"))).toEqual({ requestId: id, n });
      }),
    );
    expect(messageInSid("SM1")).toBeNull();
    expect(messageInSid(`SM${"0".repeat(32)}-0`)).toBeNull();
  });

  test("Twilio's validator accepts the signature of any fields", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.stringMatching(/^[A-Za-z0-9]{1,12}$/), fc.string({ unit: "grapheme" })),
        (fields) => {
          const url = "https://customer.example/status?order=4711";
          expect(twilio.validateRequest("token", signatureOf("token", url, fields), url, fields)).toBe(true);
        },
      ),
    );
  });

  test("a Message resource is JSON, whatever characters its texts have", () => {
    const text = fc.string({ unit: fc.constantFrom("a", '"', "\\", "\n", "\0", "é", "😀", "\ud800", "\u2028") });
    fc.assert(
      fc.property(
        text,
        text,
        fc.option(text),
        fc.date({ noInvalidDate: true, max: new Date("9999-12-31") }),
        (body, from, service, date) => {
          const ms = date.getTime();
          const resource = messageResource({
            accountSid: "AC1",
            sid: "SM1",
            channel: "sms",
            direction: "outbound-api",
            from,
            to: "+15550100100",
            body,
            segments: 2,
            status: "failed",
            createdAt: ms,
            updatedAt: ms + 1000,
            sentAt: null,
            failure: { code: "EXPIRED_IN_QUEUE", description: from },
            messagingServiceSid: service,
          });
          const mailDate = (at: number): string => new Date(at).toUTCString().replace("GMT", "+0000");
          expect(JSON.parse(resource)).toEqual({
            account_sid: "AC1",
            api_version: "2010-04-01",
            body,
            date_created: mailDate(ms),
            date_sent: null,
            date_updated: mailDate(ms + 1000),
            direction: "outbound-api",
            error_code: 30036,
            error_message: from,
            from,
            messaging_service_sid: service,
            num_media: "0",
            num_segments: "2",
            price: null,
            price_unit: null,
            sid: "SM1",
            status: "failed",
            subresource_uris: { media: "/2010-04-01/Accounts/AC1/Messages/SM1/Media.json" },
            to: "+15550100100",
            uri: "/2010-04-01/Accounts/AC1/Messages/SM1.json",
          });
        },
      ),
    );
  });

  test("an address keeps its channel and its name", () => {
    for (const channel of SEND_CHANNELS)
      expect(readAddress(writeAddress(channel, "15550100100"))).toEqual({ channel, name: "+15550100100" });
    expect(readAddress("WhatsApp:+15550100100")).toEqual({ channel: "chatapp", name: "+15550100100" });
    expect(writeAddress("sms", "12345")).toBe("12345");
  });

  test("a form is read as URLSearchParams reads it, and bytes that are not UTF-8 are refused", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }))), (pairs) => {
        const form = new URLSearchParams();
        for (const [name, value] of pairs) form.append(name.toWellFormed(), value.toWellFormed());
        const read = readForm(FORM, Buffer.from(form.toString()));
        for (const name of form.keys()) expect(read.get(name)).toEqual(form.getAll(name));
      }),
    );
    for (const body of ["Body=%ff", "Body=%", "\xff"])
      expect(() => readForm(FORM, Buffer.from(body, "latin1"))).toThrow(Problem);
    expect(() => readForm({ "content-type": "application/json" }, Buffer.from("{}"))).toThrow(Problem);
    expect(() => readForm(FORM, Buffer.from("a=1&".repeat(201)))).toThrow(Problem);
  });
});

describe("TwiML", () => {
  const one = (text: string, ends = {}) => [{ text, to: null, from: null, ...ends }];

  test.each([
    ["<Response><Message>Hi</Message></Response>", one("Hi")],
    ["<Response><Message><Body>a &lt; b &#38; c</Body></Message></Response>", one("a < b & c")],
    ["<Response><Message><![CDATA[<b>]]></Message></Response>", one("<b>")],
    [`<Response><Message to="+1" from='S'>Hi</Message></Response>`, one("Hi", { to: "+1", from: "S" })],
    ["<Response><Message>1</Message><Message>2</Message></Response>", [...one("1"), ...one("2")]],
    ["<Response/>", []],
    ["<Response><Redirect>https://x.example</Redirect></Response>", []],
    ["<Response><Message/></Response>", []],
  ])("%s has the messages that it asks for", (written, messages) => {
    expect(readTwiml(written)).toEqual(messages);
  });

  test.each([
    "Hello",
    "<html></html>",
    "<Response><Message>Hi</Response>",
    "<Response>",
    '<!DOCTYPE x [<!ENTITY a "b">]><Response/>',
  ])("%s is no TwiML", (written) => {
    expect(readTwiml(written)).toBeNull();
  });

  test("any text is read without an error", () => {
    const pieces = fc.constantFrom(
      "<Response>",
      "</Response>",
      "<Message>",
      "</Message>",
      "<",
      ">",
      "&#x110000;",
      "&",
      "]]>",
      "<![CDATA[",
      "x",
    );
    fc.assert(
      fc.property(fc.array(pieces), (parts) => {
        const read = readTwiml(parts.join(""));
        expect(read === null || Array.isArray(read)).toBe(true);
      }),
    );
  });
});
