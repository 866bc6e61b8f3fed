import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AccountCatalog } from "../../src/records/catalog.ts";
import { readRecord } from "../../src/records/read-record.ts";
import { toFileRecord } from "../../src/records/record-type.ts";
import { SAMPLE_CHAT_TEMPLATES, SAMPLE_RCS_TEMPLATES } from "../../src/records/sample-templates.ts";
import { sampleRecords } from "../../src/records/sample-data.ts";
import { RECORD_TYPES } from "../../src/records/record-types.ts";
import { templateDocs } from "../../src/http/admin/templates.ts";
import { sendChat } from "../../src/http/public/chatapp.ts";
import { sendRcs } from "../../src/http/public/rcs.ts";
import { sendSms } from "../../src/http/public/sms.ts";
import type { ChatTemplate } from "../../src/model/chatapp.ts";
import type { PhoneMessage } from "../../src/model/phone.ts";
import type { RcsTemplate } from "../../src/model/rcs.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer, type Envelope, type TestServer } from "../support/test-server.ts";

type Example = [name: string, body: Record<string, unknown>];
const examplesOf = ({ requestExamples = {} }: { requestExamples?: object }): Example[] =>
  Object.entries(requestExamples as Record<string, Record<string, unknown>>);

const chatExamples = examplesOf(sendChat).filter(([, { type }]) => type === "template");
const hasSample = ([, { templateName }]: Example): boolean => String(templateName) in SAMPLE_CHAT_TEMPLATES;

/** A template's words with its values in their places. */
const filled = (words: string | null, values: readonly string[]): string =>
  (words ?? "").replaceAll(/\{\{(\d+)\}\}/g, (_, number: string) => values[Number(number) - 1] ?? "?");

const EVERY_SUGGESTION = ["calendar", "dial", "reply", "shareLocation", "url", "viewLocation"];

describe("the samples of a new account", () => {
  const records = sampleRecords(1_767_225_600_000);

  test.each(records.map((record) => [record.kind, record.name, record] as const))(
    "the samples contain the %s %s, which its own endpoint would accept unchanged",
    (_kind, name, record) => {
      const type = RECORD_TYPES.find(({ definitions }) => definitions.some(({ kind }) => kind === record.kind));
      const definition = type?.definitions.find(({ kind }) => kind === record.kind);
      if (!type || !definition) throw new Error(`${record.kind} has no record type`);
      const read = readRecord(type, toFileRecord(definition, record), { known: null, catalog: new AccountCatalog() });
      expect(read).toEqual({ definition, name, content: record.content });
    },
  );

  test("the samples show every kind of header, button, card and suggestion", () => {
    const chat = Object.values(SAMPLE_CHAT_TEMPLATES);
    const rcs = Object.values(SAMPLE_RCS_TEMPLATES);
    const typesIn = (list: readonly { type: string }[]): string[] =>
      [...new Set(list.map(({ type }) => type))].toSorted();
    expect(typesIn(chat.flatMap(({ header }) => header ?? []))).toEqual(["document", "image", "text", "video"]);
    expect(typesIn(chat.flatMap(({ buttons }) => buttons))).toEqual(["call", "reply", "url"]);
    expect(chat.some(({ footer }) => footer !== null)).toBe(true);
    expect([...new Set(rcs.map(({ kind }) => kind))].toSorted()).toEqual(["card", "carousel", "rich", "text"]);
    const suggestions = rcs.flatMap((each) => [...each.suggestions, ...each.cards.flatMap((card) => card.suggestions)]);
    expect(typesIn(suggestions)).toEqual(EVERY_SUGGESTION);
  });

  test("the samples use only example addresses", () => {
    const addresses = JSON.stringify(records).match(/https?:\/\/[^/"]+/g) ?? [];
    expect(new Set(addresses)).toEqual(new Set(["https://shop.example"]));
  });
});

describe.each(ENGINES)("on a fresh start on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(engine);
  });
  afterAll(() => server.close());

  /** Messages that the phones of the recipients received. */
  async function received(path: string, body: object): Promise<PhoneMessage[]> {
    const { status, body: answer } = await server.request<Envelope>("POST", path, body);
    expect([status, answer.error]).toEqual([200, null]);
    return Promise.all(
      answer.data.map(({ recipient, messageId }) =>
        eventually(
          async () => {
            const { rows } = await server.app.store.listPhoneMessages(1, recipient.replace("+", ""), null, 50);
            return rows.find((message) => message.messageId === messageId) as PhoneMessage;
          },
          (message) => message !== undefined,
        ),
      ),
    );
  }

  test.each(examplesOf(sendSms))("the SMS example %s is on every phone it names", async (_name, body) => {
    const messages = await received("/v1/sms", body);
    expect(messages.length).toBeGreaterThan(0);
    const words = body["templateId"] === undefined ? /./ : /^Hello Ada, welcome! Your order 4711 is on its way\.$/;
    for (const message of messages)
      expect(message).toMatchObject({ channel: "sms", content: { text: expect.stringMatching(words) } });
  });

  test("the chat-app examples without a sample template are of the examples for creating templates", () => {
    const created = new Set(examplesOf({ requestExamples: templateDocs.createExamples }).map(([, { name }]) => name));
    const others = chatExamples.filter((each) => !hasSample(each)).map(([, { templateName }]) => templateName);
    expect(others.length).toBeGreaterThan(0);
    expect(others.filter((name) => !created.has(name))).toEqual([]);
  });

  test.each(chatExamples.filter(hasSample))("the chat-app example %s looks as its template", async (_name, body) => {
    const [message] = await received("/v1/chatapp", body);
    const { header, body: words, footer, buttons, language } = templateOf<ChatTemplate>(SAMPLE_CHAT_TEMPLATES, body);
    const [recipient] = (body["recipients"] as object[] | undefined) ?? [];
    const { components = {} } = (recipient ?? body) as {
      components?: { header?: Header; body?: { params: string[] }; buttons?: { index: number; payload: string }[] };
    };
    const { params = [] } = components.body ?? {};
    const filledButtons = buttons.map((button, place) => {
      const given = components.buttons?.find(({ index }) => index === place);
      return given ? { ...button, value: given.payload } : button;
    });
    expect(message).toMatchObject({ channel: "chatapp", sender: "+15550100199" });
    expect(message?.content).toEqual({
      kind: "template",
      templateName: body["templateName"],
      language,
      header: header && shownHeader(components.header),
      text: filled(words, params),
      footer,
      buttons: filledButtons,
      params,
      ...(components.buttons && { buttonValues: components.buttons }),
    });
  });

  test.each(examplesOf(sendChat).filter(([, { type }]) => type !== "template"))(
    "the chat-app example %s is on the phone once its user has written",
    async (_name, body) => {
      const { from, to, type } = body as { from: string; to: string; type: string };
      const phone = to.replace("+", "");
      const written = { channel: "chatapp", to: from, text: "Hello?" };
      expect(await server.request("POST", `/api/simulator/phones/${phone}/reply`, written)).toMatchObject({
        status: 200,
      });
      const [message] = await received("/v1/chatapp", body);
      expect(message).toMatchObject({ channel: "chatapp", content: { kind: "text", part: { type } } });
    },
  );

  test.each(examplesOf(sendRcs))("the RCS example %s looks as its template", async (_name, body) => {
    const [message] = await received("/v1/rcs", body);
    const { kind, text, suggestions, cards } = templateOf<RcsTemplate>(SAMPLE_RCS_TEMPLATES, body);
    const [recipient] = (body["recipients"] as object[] | undefined) ?? [];
    const { content: items = [] } = (recipient ?? body) as { content?: { params?: string[]; fileUrl?: string }[] };
    const params = items[0]?.params ?? [];
    expect(message).toMatchObject({ channel: "rcs", sender: "heliograph" });
    expect(message?.content).toMatchObject({
      kind,
      templateName: body["templateName"],
      text: filled(text, params),
      suggestions,
      cards: cards.map((card, index) => ({ ...card, fileUrl: items[index]?.fileUrl ?? card.fileUrl })),
      params,
    });
  });

  test("the examples need no learned records", async () => {
    const isSaved = (names: string[]): boolean => names.includes("autumn");
    await eventually(async () => (await server.app.store.listCatalog()).map(({ name }) => name), isSaved);
    const learned = (await server.app.store.listCatalog()).filter(({ origin }) => origin === "learned");
    expect(learned.map(({ kind, name }) => [kind, name])).toEqual([["campaign", "autumn"]]);
  });
});

function templateOf<T>(samples: Readonly<Record<string, T>>, { templateName }: Record<string, unknown>): T {
  const found = samples[String(templateName)];
  if (!found) throw new Error(`there is no sample ${String(templateName)}`);
  return found;
}

type Header = { type: string; text?: string } & Record<string, { link: string } | string | undefined>;

/** The header as the request has it: a template says only of which kind it is. */
function shownHeader(header: Header | undefined): object | null {
  if (!header) return null;
  const { type, text } = header;
  return type === "text" ? { type, text } : { type, link: (header[type] as { link: string }).link };
}
