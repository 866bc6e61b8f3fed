import { nullable, Type } from "../../lib/schema.ts";
import type { InboundMessage } from "../../model/inbound.ts";
import { Problem } from "../../model/problem.ts";
import type { Position, StoredMessage } from "../../store/store.ts";
import { phoneParameter } from "../parameters.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import { contactExample, ContactView, contactView, keyOf } from "./contacts.ts";
import { inboundExample, InboundView, viewInbound } from "./inbound.ts";
import { exampleMessage, MessageView, messageView } from "./messages.ts";

/** Messages of each direction in one export. The lists have the others. */
const MESSAGES_MAX = 1000;

/** A list up to the maximum. A page may be short before the end. */
async function collect<T, C>(
  read: (after: C | null, limit: number) => Promise<{ rows: readonly T[]; next: C | null }>,
): Promise<{ rows: T[]; next: C | null }> {
  const rows: T[] = [];
  let next: C | null = null;
  do {
    const page = await read(next, MESSAGES_MAX - rows.length);
    rows.push(...page.rows);
    ({ next } = page);
  } while (next !== null && rows.length < MESSAGES_MAX);
  return { rows, next };
}

async function exportOne(services: Services, call: AuthenticCall): Promise<object> {
  const { store } = services;
  const key = keyOf(call);
  const { accountId, number, test } = key;
  const [contact, optOut, [optedOut = false]] = await Promise.all([
    store.findContact(key),
    store.findOptOut(accountId, number),
    store.areOptedOut([key]),
  ]);
  const sent = await collect<StoredMessage, Position>((after, limit) =>
    store.listMessages(accountId, { recipient: number, test }, after, limit),
  );
  const received = await collect<InboundMessage, string>((after, limit) =>
    store.listInbound(accountId, { from: number, test }, after, limit),
  );
  if (!contact && !optedOut && sent.rows.length === 0 && received.rows.length === 0)
    throw new Problem("RECORD_NOT_FOUND", { message: "Nothing is stored about this number." });
  return {
    number,
    contact: contact && contactView(contact, optedOut),
    optOut: optOut && { source: optOut.source, note: optOut.note, at: optOut.createdAt },
    messages: sent.rows.map(messageView),
    received: await viewInbound(services, received.rows),
    more: sent.next !== null || received.next !== null,
  };
}

export const exportContact: KeyedRoute = {
  method: "GET",
  path: "/v1/contacts/:number/export",
  family: "plain",
  scope: "manage",
  testKeys: null,
  role: "owner",
  group: "Contacts",
  summary: "Export a number",
  description: `Returns what is stored about a number, to answer a request for access: contact, opt-out, and the newest ${MESSAGES_MAX.toLocaleString("en-US")} messages of each direction. With \`more\`, \`GET /v1/messages?recipient=\` and \`GET /v1/inbound?from=\` have the others.`,
  params: { number: { ...phoneParameter("Phone number."), example: contactExample.number } },
  problems: ["RECORD_NOT_FOUND", "INVALID_REQUEST"],
  response: Type.Object(
    {
      number: Type.String({ description: "Phone number without plus." }),
      contact: nullable(ContactView, "The contact; null if there is none."),
      optOut: nullable(
        Type.Object({
          source: Type.String({ description: "reply: a stop word. manual: a user or a key." }),
          note: nullable(Type.String(), "Reason; null if none."),
          at: Type.Integer({ description: "Epoch milliseconds." }),
        }),
        "The entry on the opt-out list; null if there is none.",
      ),
      messages: Type.Array(MessageView, { description: "Messages to the number, newest first." }),
      received: Type.Array(InboundView, { description: "Messages from the number, newest first." }),
      more: Type.Boolean({ description: "True if there are older messages." }),
    },
    { title: "ContactExport" },
  ),
  responseExample: {
    number: contactExample.number,
    contact: contactExample,
    optOut: null,
    messages: [exampleMessage],
    received: [inboundExample],
    more: false,
  },
  handle: exportOne,
};
