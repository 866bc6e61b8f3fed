import { ROUTE_CLASSES, SEND_CHANNELS, type RouteClass, type SendChannel } from "./message.ts";

/** The contacts of an account: those of live keys and people, or those of test keys. */
export interface ContactBook {
  accountId: number;
  test: boolean;
}

export interface ContactKey extends ContactBook {
  number: string;
}

/** Permission of a recipient for one class of messages on one channel. */
export interface Consent {
  channel: SendChannel;
  routeClass: RouteClass;
  granted: boolean;
  /** Place of the decision, such as a web form. */
  source: string | null;
  at: number;
}

export interface Contact extends ContactKey {
  name: string | null;
  attributes: Readonly<Record<string, string>>;
  tags: readonly string[];
  consents: readonly Consent[];
  createdAt: number;
  updatedAt: number;
  /** Counts its changes, for optimistic locking. */
  revision: number;
}

/** A change of a contact. Absent fields stay; an attribute that is null is removed. */
export interface ContactChange {
  name?: string | null | undefined;
  attributes?: Readonly<Record<string, string | null>> | undefined;
  tags?: readonly string[] | undefined;
  /** Tags in addition to those it has. */
  addTags?: readonly string[] | undefined;
  consents?: readonly Consent[] | undefined;
}

/** Contacts that fulfil every condition. */
export interface ContactFilter {
  tags?: readonly string[] | undefined;
  attributes?: Readonly<Record<string, string>> | undefined;
  /** Granted consents. */
  consents?: readonly Pick<Consent, "channel" | "routeClass">[] | undefined;
  /** A part of the name or of the number. */
  text?: string | undefined;
  /** For callers that see numbers masked: `text` is compared with names and the last four digits. */
  isMasked?: boolean;
}

/** A saved filter; its name is the name of the record. */
export interface SegmentContent {
  tags: readonly string[];
  attributes: Readonly<Record<string, string>>;
  consents: readonly string[];
}

export const CONTACT_NAME_MAX = 100;
export const ATTRIBUTE_NAME_MAX = 100;
export const ATTRIBUTE_VALUE_MAX = 1600;
/** With number and name they are the 50 columns that an audience may have. */
export const ATTRIBUTES_MAX = 48;
export const TAGS_MAX = 50;
export const TAG_MAX = 50;
/** The attribute with a contact's language, such as `pt_BR`. */
export const LANGUAGE_ATTRIBUTE = "language";
/** Column names of an export and of an audience that no attribute may have. */
export const RESERVED_ATTRIBUTES: readonly string[] = ["number", "name"];

/** No quotes and commas, so that a tag can be looked for in the stored list. */
const TAG = /^[\p{L}\p{N}](?:[\p{L}\p{N} ._:/+-]*[\p{L}\p{N}])?$/u;

export const isTag = (written: string): boolean => written.length <= TAG_MAX && TAG.test(written);
export const TAG_RULE = `A tag has 1 to ${TAG_MAX} letters, digits, spaces and . _ : / + -, and begins and ends with a letter or digit.`;

/** `sms:PROMO`. */
export const consentKey = ({ channel, routeClass }: Pick<Consent, "channel" | "routeClass">): string =>
  `${channel}:${routeClass}`;

/** Every consent that can be given. */
export const CONSENT_KEYS: readonly string[] = SEND_CHANNELS.flatMap((channel) =>
  ROUTE_CLASSES.map((routeClass) => consentKey({ channel, routeClass })),
);

export function readConsentKey(written: string): Pick<Consent, "channel" | "routeClass"> | null {
  const [channel, routeClass] = written.split(":");
  const known = SEND_CHANNELS.find((each) => each === channel);
  const knownClass = ROUTE_CLASSES.find((each) => each === routeClass);
  return known && knownClass && CONSENT_KEYS.includes(written) ? { channel: known, routeClass: knownClass } : null;
}

export const filterOfSegment = ({ tags, attributes, consents }: SegmentContent): ContactFilter => ({
  tags,
  attributes,
  consents: consents.flatMap((written) => readConsentKey(written) ?? []),
});

/** The contact after a change; a new one where there was none. */
export function changeContact(key: ContactKey, before: Contact | null, change: ContactChange, now: number): Contact {
  const { accountId, test, number } = key;
  const attributes = Object.entries({ ...before?.attributes, ...change.attributes }).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  const consents = new Map((before?.consents ?? []).map((consent) => [consentKey(consent), consent]));
  for (const consent of change.consents ?? []) consents.set(consentKey(consent), consent);
  return {
    accountId,
    test,
    number,
    name: change.name === undefined ? (before?.name ?? null) : change.name,
    attributes: Object.fromEntries(attributes),
    tags: [...new Set([...(change.tags ?? before?.tags ?? []), ...(change.addTags ?? [])])].toSorted(),
    consents: [...consents.values()].toSorted((a, b) => (consentKey(a) < consentKey(b) ? -1 : 1)),
    createdAt: before?.createdAt ?? now,
    updatedAt: now,
    revision: (before?.revision ?? 0) + 1,
  };
}

export const IMPORT_STATES = ["running", "finished", "failed"] as const;
export type ImportState = (typeof IMPORT_STATES)[number];

export const IMPORT_FAILURES = {
  AUDIENCE_GONE: "The audience was deleted or mapped again during the import. Contacts up to there were imported.",
  TOO_MANY_ATTRIBUTES: `All contacts together may have ${ATTRIBUTES_MAX} attributes: map fewer columns.`,
} as const;
export type ImportFailure = keyof typeof IMPORT_FAILURES;

/** Contacts that are made from the recipients of a checked audience. */
export interface ContactImport extends ContactBook {
  id: string;
  audienceId: string;
  state: ImportState;
  /** Variable with the name; null for none. */
  nameVariable: string | null;
  /** Attributes, each with the variable that has its value. */
  attributes: Readonly<Record<string, string>>;
  tags: readonly string[];
  consents: readonly Consent[];
  /** Recipients of the audience. */
  total: number;
  done: number;
  failure: ImportFailure | null;
  createdAt: number;
  endedAt: number | null;
}
