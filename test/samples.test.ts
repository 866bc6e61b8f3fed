import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AccountCatalog } from "../src/catalog/catalog.ts";
import { readRecord } from "../src/catalog/read-record.ts";
import { writtenRecord } from "../src/catalog/record-kind.ts";
import { SAMPLE_CHAT_TEMPLATES, SAMPLE_RCS_TEMPLATES } from "../src/catalog/sample-templates.ts";
import { sampleRecords } from "../src/catalog/samples.ts";
import { SHELVES } from "../src/catalog/shelves.ts";
import { sendChat } from "../src/http/v1/chatapp.ts";
import { sendRcs } from "../src/http/v1/rcs.ts";
import { sendSms } from "../src/http/v1/sms.ts";
import type { ChatTemplate } from "../src/model/chatapp.ts";
import type { PhoneMessage } from "../src/model/phone.ts";
import type { RcsTemplate } from "../src/model/rcs.ts";
import { ENGINES } from "./support/engines.ts";
import { eventually } from "./support/eventually.ts";
import { openHouse, type Envelope, type House } from "./support/house.ts";

type Example = [name: string, body: Record<string, unknown>];
const examplesOf = ({ requestExamples = {} }: { requestExamples?: object }): Example[] =>
  Object.entries(requestExamples as Record<string, Record<string, unknown>>);

/** A template's words with its values in their places. */
const filled = (words: string | null, values: readonly string[]): string =>
  (words ?? "").replaceAll(/\{\{(\d+)\}\}/g, (_, number: string) => values[Number(number) - 1] ?? "?");

const EVERY_SUGGESTION = ["calendar", "dial", "reply", "shareLocation", "url", "viewLocation"];

describe("the samples of a new account", () => {
  const records = sampleRecords(1_767_225_600_000);

  test.each(records.map((record) => [record.kind, record.name, record] as const))(
    "hold a %s %s that its own door would take as it is",
    (_kind, name, record) => {
      const shelf = SHELVES.find(({ kinds }) => kinds.some(({ kind }) => kind === record.kind));
      const kind = shelf?.kinds.find((each) => each.kind === record.kind);
      if (!shelf || !kind) throw new Error("no shelf has it");
      const read = readRecord(shelf, writtenRecord(kind, record), { known: null, catalog: new AccountCatalog() });
      expect(read).toEqual({ kind, name, content: record.content });
    },
  );

  test("show every kind of header, button, card and suggestion", () => {
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

  test("name no address but one that is reserved for examples", () => {
    const addresses = JSON.stringify(records).match(/https?:\/\/[^/"]+/g) ?? [];
    expect(new Set(addresses)).toEqual(new Set(["https://shop.example"]));
  });
});

describe.each(ENGINES)("on a fresh start on %s", (engine) => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse(engine);
  });
  afterAll(() => house.close());

  /** What came to the phone of each recipient. */
  async function received(path: string, body: object): Promise<PhoneMessage[]> {
    const { status, body: answer } = await house.ask<Envelope>("POST", path, body);
    expect([status, answer.error]).toEqual([200, null]);
    return Promise.all(
      answer.data.map(({ recipient, messageId }) =>
        eventually(
          async () => {
            const { rows } = await house.app.store.listPhoneMessages(1, recipient.replace("+", ""), null, 50);
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

  test.each(examplesOf(sendChat))("the chat-app example %s looks as its template was authored", async (_name, body) => {
    const [message] = await received("/v1/chatapp", body);
    const { header, body: words, footer, buttons, language } = templateOf<ChatTemplate>(SAMPLE_CHAT_TEMPLATES, body);
    const { components = {} } = body as { components?: { header?: Header; body?: { params: string[] } } };
    const { params = [] } = components.body ?? {};
    expect(message).toMatchObject({ channel: "chatapp", sender: "+15550100199" });
    expect(message?.content).toEqual({
      kind: "template",
      templateName: body["templateName"],
      language,
      header: header && shownHeader(components.header),
      text: filled(words, params),
      footer,
      buttons,
      params,
    });
  });

  test.each(examplesOf(sendRcs))("the RCS example %s looks as its template was authored", async (_name, body) => {
    const [message] = await received("/v1/rcs", body);
    const { kind, text, suggestions, cards } = templateOf<RcsTemplate>(SAMPLE_RCS_TEMPLATES, body);
    const { content: items = [] } = body as { content?: { params?: string[]; fileUrl?: string }[] };
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

  test("nothing of all that had to be learned", async () => {
    const isSaved = (names: string[]): boolean => names.includes("autumn");
    await eventually(async () => (await house.app.store.listCatalog()).map(({ name }) => name), isSaved);
    const learned = (await house.app.store.listCatalog()).filter(({ origin }) => origin === "learned");
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
