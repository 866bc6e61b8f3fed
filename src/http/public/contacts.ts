import { numberOf } from "../../channels/parse-number.ts";
import { nullable, Type, type Infer } from "../../lib/schema.ts";
import { isPlainText, isShowable } from "../../lib/text.ts";
import {
  ATTRIBUTE_NAME_MAX,
  ATTRIBUTE_VALUE_MAX,
  ATTRIBUTES_MAX,
  changeContact,
  CONSENT_KEYS,
  CONTACT_NAME_MAX,
  filterOfSegment,
  isTag,
  readConsentKey,
  RESERVED_ATTRIBUTES,
  TAG_MAX,
  TAG_RULE,
  TAGS_MAX,
  type Consent,
  type Contact,
  type ContactBook,
  type ContactChange,
  type ContactFilter,
  type ContactKey,
} from "../../model/contact.ts";
import { ROUTE_CLASSES, SEND_CHANNELS } from "../../model/message.ts";
import { readNumber } from "../../model/number.ts";
import { Problem, refuseFaults, type Fault } from "../../model/problem.ts";
import { seesTestsOnly } from "../auth/test-mode.ts";
import { seesMasked } from "../hide-numbers.ts";
import { readLimit } from "../pagination.ts";
import { choiceParameter, pageParameters, phoneParameter, textParameter } from "../parameters.ts";
import { keyedRoute, type AuthenticCall, type KeyedRoute, type Services, type WithBody } from "../route.ts";
import { beginErasure, ErasureView, erasureView } from "./erasures.ts";

const NUMBER_RULE = "Write the number internationally: country code first, 7 to 15 digits.";
const TEXT_MAX = 100;
const SOURCE_MAX = 200;
/** Times that a change is decided again because another one was quicker. */
const TRIES = 20;

export const bookOf = (caller: AuthenticCall["caller"]): ContactBook => ({
  accountId: caller.account.id,
  test: seesTestsOnly(caller),
});

/** The contact of the path, whether it exists or not. */
export function keyOf({ params, caller }: Pick<AuthenticCall, "params" | "caller">): ContactKey {
  return { ...bookOf(caller), number: readParameter(caller, "number", params.number ?? "") };
}

function readParameter(caller: AuthenticCall["caller"], parameter: string, written: string): string {
  const number = numberOf(written.trim(), caller.account.settings) ?? readNumber(written.trim());
  if (number === null) throw new Problem("INVALID_REQUEST", { faults: [{ parameter, message: NUMBER_RULE }] });
  return number;
}

async function find({ store }: Pick<Services, "store">, call: AuthenticCall): Promise<Contact> {
  const contact = await store.findContact(keyOf(call));
  if (!contact) throw new Problem("RECORD_NOT_FOUND", { message: "There is no contact with this number." });
  return contact;
}

/** A contact as the API shows it, with its state on the opt-out list. */
export function contactView(contact: Contact, optedOut: boolean): object {
  const { number, name, attributes, tags, consents, createdAt, updatedAt } = contact;
  return {
    number,
    name,
    attributes,
    tags,
    consents: consents.map(({ routeClass, ...consent }) => ({ ...consent, type: routeClass })),
    optedOut,
    createdAt,
    updatedAt,
  };
}

async function viewOf({ store }: Services, contact: Contact): Promise<object> {
  const [optedOut = false] = await store.areOptedOut([contact]);
  return contactView(contact, optedOut);
}

type ContactFields = Infer<typeof ContactBody>;

/** Creates or changes a contact; `create` refuses one that exists. */
async function save(
  services: Services,
  { caller }: Pick<AuthenticCall, "caller">,
  key: ContactKey,
  { body, mode }: { body: ContactFields; mode: "create" | "put" },
): Promise<Contact> {
  const { store, clock } = services;
  const now = clock.now();
  const { consents } = body;
  const change: ContactChange = { ...body, consents: consents?.map((consent) => readConsent(consent, now)) };
  await defineAttributes(services, caller, change);
  for (let tries = 0; tries < TRIES; tries += 1) {
    const before = await store.findContact(key);
    if (before && mode === "create") throw new Problem("CONTACT_EXISTS");
    const contact = changeContact(key, before, change, clock.now());
    if ((await store.saveContacts([contact])) === 1) return contact;
  }
  throw new Problem("OVERLOADED", { retryAfterSeconds: 1 });
}

/** All contacts share their attributes, which are the variables of an audience. */
async function defineAttributes(
  { store }: Services,
  caller: AuthenticCall["caller"],
  { attributes = {} }: ContactChange,
): Promise<void> {
  const given = Object.keys(attributes).filter((name) => attributes[name] !== null);
  if (given.length === 0) return;
  const book = bookOf(caller);
  const known = await store.listContactAttributes(book);
  const added = given.filter((name) => !known.includes(name));
  if (known.length + added.length > ATTRIBUTES_MAX)
    throw new Problem("INVALID_REQUEST", {
      faults: [
        {
          parameter: "attributes",
          message: `All contacts together have at most ${ATTRIBUTES_MAX} attributes: use those of GET /v1/contact-attributes.`,
        },
      ],
    });
  await store.addContactAttributes(book, added);
}

const readConsent = ({ channel, type, granted, source, at }: Infer<typeof ConsentBody>, now: number): Consent => ({
  channel,
  routeClass: type,
  granted,
  source: source ?? null,
  at: at ?? now,
});

async function removeOne(services: Services, call: AuthenticCall): Promise<object> {
  const { store } = services;
  const { erase } = call.query;
  if (erase !== undefined && erase !== "true")
    throw new Problem("INVALID_REQUEST", {
      faults: [{ parameter: "erase", message: "erase is true, or left out." }],
    });
  const key = keyOf(call);
  const erasure = erase === undefined ? null : await beginErasure(services, call, key.number);
  const contact = erasure ? await store.findContact(key) : await find(services, call);
  const view = contact && (await viewOf(services, contact));
  if (contact && !(await store.removeContact(contact)) && !erasure) throw new Problem("RECORD_NOT_FOUND");
  return { contact: view, erasure: erasure && erasureView(erasure) };
}

async function list(services: Services, { query, caller }: AuthenticCall): Promise<object> {
  const { store } = services;
  const faults: Fault[] = [];
  const limit = readLimit(query, faults);
  const filter = await readFilter(services, { query, caller }, faults);
  if (query.cursor !== undefined && readNumber(query.cursor) !== query.cursor)
    faults.push({ parameter: "cursor", message: "cursor is the nextCursor of an earlier response." });
  refuseFaults(faults);
  const { rows, next } = await store.listContacts(bookOf(caller), filter, query.cursor ?? null, limit);
  const optedOut = await store.areOptedOut(rows);
  return { data: rows.map((row, index) => contactView(row, optedOut[index] ?? false)), nextCursor: next };
}

/** The parameter `q` of lists. */
export function readNamePart({ q }: AuthenticCall["query"], faults: Fault[]): string | undefined {
  const text = q?.trim();
  if (text !== undefined && (text === "" || text.length > TEXT_MAX || !isShowable(text)))
    faults.push({ parameter: "q", message: `q is a part of a name or number, with 1 to ${TEXT_MAX} characters.` });
  return text;
}

async function readFilter(
  { catalog }: Services,
  { query, caller }: Pick<AuthenticCall, "query" | "caller">,
  faults: Fault[],
): Promise<ContactFilter> {
  const { tag, attribute, consent, segment } = query;
  if (tag !== undefined && !isTag(tag)) faults.push({ parameter: "tag", message: TAG_RULE });
  const split = attribute?.indexOf(":") ?? -1;
  if (attribute !== undefined && split < 1)
    faults.push({ parameter: "attribute", message: "attribute is a name and a value: city:Pune." });
  const granted = consent === undefined ? undefined : readConsentKey(consent);
  if (granted === null) faults.push({ parameter: "consent", message: `consent is one of ${CONSENT_KEYS.join(", ")}.` });
  const text = readNamePart(query, faults);
  const saved = segment === undefined ? null : await findSegment({ catalog }, caller, segment);
  if (segment !== undefined && !saved)
    faults.push({ parameter: "segment", message: "There is no segment of this name: GET /api/segments lists them." });
  return {
    tags: [...(saved?.tags ?? []), ...(tag === undefined ? [] : [tag])],
    attributes: {
      ...saved?.attributes,
      ...(attribute !== undefined && split > 0 && { [attribute.slice(0, split)]: attribute.slice(split + 1) }),
    },
    consents: [...(saved?.consents ?? []), ...(granted ? [granted] : [])],
    text,
    isMasked: seesMasked(caller),
  };
}

/** The filter of a segment; null if there is none of this name. */
export async function findSegment(
  { catalog }: Pick<Services, "catalog">,
  caller: AuthenticCall["caller"],
  name: string,
): Promise<ContactFilter | null> {
  await catalog.refresh();
  const record = catalog.of(caller.account.id).named("segment").get(name);
  return record ? filterOfSegment(record.content) : null;
}

const nameField = nullable(
  Type.String({
    minLength: 1,
    maxLength: CONTACT_NAME_MAX,
    check: (name) =>
      name.trim() !== "" && isPlainText(name) ? null : `name is plain text of 1 to ${CONTACT_NAME_MAX} characters.`,
  }),
  "Name of the person; null for none.",
);

export const attributeName = (name: string): boolean =>
  name.trim() !== "" && name.length <= ATTRIBUTE_NAME_MAX && isPlainText(name) && !RESERVED_ATTRIBUTES.includes(name);

export const ATTRIBUTE_RULE = `The name of an attribute is plain text of 1 to ${ATTRIBUTE_NAME_MAX} characters, and none of ${RESERVED_ATTRIBUTES.join(", ")}.`;

export const tagsField = (description: string) =>
  Type.Array(
    Type.String({
      minLength: 1,
      maxLength: TAG_MAX,
      description: "A tag.",
      check: (tag) => (isTag(tag) ? null : TAG_RULE),
    }),
    { maxItems: TAGS_MAX, description },
  );

const ConsentBody = Type.Object({
  channel: Type.Union(
    SEND_CHANNELS.map((channel) => Type.Literal(channel)),
    { description: "Channel." },
  ),
  type: Type.Union(
    ROUTE_CLASSES.map((routeClass) => Type.Literal(routeClass)),
    { description: "Type of messages." },
  ),
  granted: Type.Boolean({ description: "False if it was withdrawn." }),
  source: Type.Optional(
    nullable(
      Type.String({
        minLength: 1,
        maxLength: SOURCE_MAX,
        check: (source) => (isPlainText(source) ? null : `source is plain text of 1 to ${SOURCE_MAX} characters.`),
      }),
      "Origin of the decision, such as a web form.",
    ),
  ),
  at: Type.Optional(
    Type.Integer({ minimum: 0, description: "When, in epoch milliseconds. Defaults to the time of the request." }),
  ),
});

export const consentsField = (description: string) =>
  Type.Array(ConsentBody, { maxItems: CONSENT_KEYS.length, description });

export const readConsents = (consents: readonly Infer<typeof ConsentBody>[], now: number): Consent[] =>
  consents.map((consent) => readConsent(consent, now));

const fields = {
  name: Type.Optional(nameField),
  attributes: Type.Optional(
    Type.Record(
      nullable(
        Type.String({
          minLength: 1,
          maxLength: ATTRIBUTE_VALUE_MAX,
          check: (value) => (isShowable(value) ? null : "A value has no lone surrogates and no NUL."),
        }),
        "Value; null removes the attribute.",
      ),
      {
        description: `Attributes by name. Those that are not given stay. All contacts together have at most ${ATTRIBUTES_MAX}.`,
        check: (attributes) => (Object.keys(attributes).every(attributeName) ? null : ATTRIBUTE_RULE),
      },
    ),
  ),
  tags: Type.Optional(tagsField("All tags of the contact.")),
  consents: Type.Optional(consentsField("Consents by channel and type. Those that are not given stay.")),
};
const ContactBody = Type.Object(fields);
const NewContact = Type.Object({
  number: Type.String({ format: "phone", minLength: 1, maxLength: 40, description: "Phone number." }),
  ...fields,
});

const time = (description: string) => Type.Integer({ description });

const ConsentView = Type.Object({
  channel: Type.String({ description: "Channel." }),
  type: Type.String({ description: "Type of messages." }),
  granted: Type.Boolean({ description: "False if it was withdrawn." }),
  source: nullable(Type.String(), "Origin of the decision; null if unknown."),
  at: time("When, in epoch milliseconds."),
});

export const ContactView = Type.Object(
  {
    number: Type.String({ description: "Phone number without plus." }),
    name: nullable(Type.String(), "Name; null if unknown."),
    attributes: Type.Record(Type.String(), { description: "Attributes by name." }),
    tags: Type.Array(Type.String(), { description: "Tags, sorted." }),
    consents: Type.Array(ConsentView, { description: "The last consent for each channel and type." }),
    optedOut: Type.Boolean({ description: "On the opt-out list: it gets no PROMO messages, whatever its consents." }),
    createdAt: time("Epoch milliseconds."),
    updatedAt: time("Time of the last change."),
  },
  { title: "Contact" },
);

export const contactExample = {
  number: "15550100100",
  name: "Ada Lovelace",
  attributes: { city: "Pune", plan: "gold" },
  tags: ["vip"],
  consents: [{ channel: "sms", granted: true, source: "web form", at: 1767225600000, type: "PROMO" }],
  optedOut: false,
  createdAt: 1767225600000,
  updatedAt: 1767225600000,
};
const exampleBody = {
  name: "Ada Lovelace",
  attributes: { city: "Pune", plan: "gold" },
  tags: ["vip"],
  consents: [{ channel: "sms", type: "PROMO", granted: true, source: "web form" }],
};

const changing = { family: "plain", scope: "sms", testKeys: "sms", group: "Contacts" } as const;
const reading = { method: "GET", family: "plain", scope: "read", testKeys: "read", group: "Contacts" } as const;
const ofOne = {
  path: "/v1/contacts/:number",
  params: { number: { ...phoneParameter("Phone number."), example: contactExample.number } },
  response: ContactView,
  responseExample: contactExample,
} as const;

export const contactRoutes: readonly KeyedRoute[] = [
  keyedRoute({
    ...changing,
    method: "POST",
    path: "/v1/contacts",
    summary: "Create a contact",
    description:
      "Stores a number with a name, attributes, tags and consents. Test keys have contacts of their own. Consents are a record: segments choose by them, and the opt-out list alone stops promotions.",
    status: 201,
    problems: ["CONTACT_EXISTS", "OVERLOADED"],
    body: NewContact,
    requestExamples: { "a person": { number: contactExample.number, ...exampleBody } },
    response: ContactView,
    responseExample: contactExample,
    handle: async (services, call: WithBody<AuthenticCall, typeof NewContact>) => {
      const { number, ...body } = call.body;
      const key = { ...bookOf(call.caller), number: readParameter(call.caller, "number", number) };
      const contact = await save(services, call, key, { body, mode: "create" });
      void call.reply.code(201);
      return viewOf(services, contact);
    },
  }),
  {
    ...reading,
    path: "/v1/contacts",
    summary: "List contacts",
    description:
      "Lists contacts in the order of their numbers; with several filters, those that fulfil all of them. A filtered page may be short and still have a `nextCursor`; continue until it is null.",
    query: {
      q: textParameter("Part of the name or of the number; viewers find numbers by their last four digits.", "Ada"),
      tag: textParameter("Only contacts with this tag.", "vip"),
      attribute: textParameter("Only contacts with this attribute: name and value.", "city:Pune"),
      consent: choiceParameter(CONSENT_KEYS, "Only contacts that have granted this consent."),
      segment: textParameter("Only contacts of this segment, by its name.", "VIP in Pune"),
      ...pageParameters(contactExample.number),
    },
    response: Type.Object({
      data: Type.Array(ContactView, { description: "Contacts on this page." }),
      nextCursor: nullable(Type.String(), "Cursor of the next page; null on the last page."),
    }),
    responseExample: { data: [contactExample], nextCursor: null },
    handle: list,
  },
  {
    ...reading,
    path: "/v1/contact-attributes",
    summary: "List attributes of contacts",
    description:
      "Lists the names of all attributes that contacts have. They are the variables of a segment's audience.",
    response: Type.Object({ data: Type.Array(Type.String(), { description: "Names, sorted." }) }),
    responseExample: { data: ["city", "plan"] },
    handle: async ({ store }, { caller }) => ({ data: await store.listContactAttributes(bookOf(caller)) }),
  },
  {
    ...reading,
    ...ofOne,
    summary: "Get a contact",
    description: "Returns the contact of a number, with its state on the opt-out list.",
    problems: ["RECORD_NOT_FOUND", "INVALID_REQUEST"],
    handle: async (services, call) => viewOf(services, await find(services, call)),
  },
  keyedRoute({
    ...changing,
    ...ofOne,
    method: "PUT",
    summary: "Create or change a contact",
    description:
      "Creates the contact of a number, or changes the fields in the request. Other fields, attributes and consents stay. Repeating a request changes nothing else.",
    problems: ["INVALID_REQUEST", "OVERLOADED"],
    body: ContactBody,
    requestExamples: { tags: { tags: ["vip", "newsletter"] }, "remove an attribute": { attributes: { plan: null } } },
    handle: async (services, call: WithBody<AuthenticCall, typeof ContactBody>) => {
      const key = keyOf(call);
      return viewOf(services, await save(services, call, key, { body: call.body, mode: "put" }));
    },
  }),
  {
    ...changing,
    ...ofOne,
    method: "DELETE",
    summary: "Delete a contact",
    description:
      "Deletes the contact of a number. Its messages and its state on the opt-out list stay. With `erase=true`, a job also removes every other trace of the number: messages, callbacks, inbound messages, conversations, audiences, verifications, and the number in texts and in the audit log. Waiting messages are cancelled. The ledger's sums stay, and a keyed hash of the number, if it has opted out. Erasing needs the scope `manage`.",
    query: { erase: choiceParameter(["true"], "Erases every trace of the number, whether it has a contact or not.") },
    problems: ["RECORD_NOT_FOUND", "INVALID_REQUEST"],
    response: Type.Object({
      contact: nullable(ContactView, "The deleted contact; null if the number has none."),
      erasure: nullable(ErasureView, "The erasure; null without `erase=true`."),
    }),
    responseExample: { contact: contactExample, erasure: null },
    handle: removeOne,
  },
];
