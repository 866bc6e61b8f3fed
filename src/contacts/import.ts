import type { Clock } from "../lib/clock.ts";
import { LETTERS_AND_DIGITS, randomText } from "../lib/random.ts";
import type { Audience, AudienceRecipient } from "../model/audience.ts";
import { ATTRIBUTES_MAX, changeContact, type Contact, type ContactImport } from "../model/contact.ts";
import type { AudienceStore } from "../store/audiences.ts";
import type { ContactImportStore, ImportWork } from "../store/contact-imports.ts";
import type { ContactStore } from "../store/contacts.ts";
import type { Store } from "../store/store.ts";

interface ImportJobDeps {
  store: ContactStore &
    ContactImportStore &
    Pick<AudienceStore, "findAudience" | "listAudienceRecipients"> &
    Pick<Store, "engine">;
  clock: Clock;
}

/** A process that stops working on an import loses it to another one after this time. */
const CLAIM_MS = 10_000;
/** A run ends after this time, so that a shutdown waits for no whole import. */
const RUN_MS = 400;
/** Contacts of a transaction. SQLite has one writer, and a send waits for the end of a transaction. */
const STEP_ROWS = { first: 100, min: 25, max: 1000 };
const STEP_MS = { sqlite: 5, postgres: 50 };
/** Times that a step is repeated because users change the same contacts. */
const TRIES = 10;

/**
 * The job that makes contacts from the recipients of audiences. A step stores its contacts first and its position afterwards. A
 * repeated step gives the same contacts, so any process continues after a crash.
 */
export function createContactImportJob({ store, clock }: ImportJobDeps): () => Promise<number | undefined> {
  const claim = randomText(LETTERS_AND_DIGITS, 16);
  let stepRows = STEP_ROWS.first;
  const until = (): number => clock.now() + CLAIM_MS;

  /** Imports the next recipients; null at the end, or if another process has the import. */
  async function step(work: ImportWork): Promise<ImportWork | null> {
    const { contactImport, position } = work;
    const { accountId, audienceId: id } = contactImport;
    const end = async (failure: ContactImport["failure"]): Promise<null> => {
      await store.endContactImport(work, { failure, at: clock.now() });
      return null;
    };
    const audience = await store.findAudience({ accountId, id });
    if (!audience?.layout || audience.state !== "ready") return end("AUDIENCE_GONE");
    if (position === 0) {
      const known = await store.listContactAttributes(contactImport);
      const added = Object.keys(contactImport.attributes).filter((name) => !known.includes(name));
      if (known.length + added.length > ATTRIBUTES_MAX) return end("TOO_MANY_ATTRIBUTES");
      await store.addContactAttributes(contactImport, added);
    }
    const { rows } = await store.listAudienceRecipients({ accountId, id }, position, stepRows);
    const last = rows.at(-1);
    if (!last) return end(null);
    if (!(await saveContactsOf(contactImport, audience, rows))) return work;
    const next = { position: last.row, recipients: rows.length, claimedUntil: until() };
    return (await store.advanceContactImport(work, next)) ? { ...work, position: last.row } : null;
  }

  /** False if other changes of the same contacts were always quicker. */
  async function saveContactsOf(
    contactImport: ContactImport,
    { layout }: Audience,
    recipients: readonly AudienceRecipient[],
  ): Promise<boolean> {
    const variables = (layout?.variables ?? []).map(({ name }) => name);
    let rest = recipients;
    for (let tries = 0; tries < TRIES && rest.length > 0; tries += 1) {
      const numbers = rest.map(({ number }) => number);
      const stored = await store.findContacts(contactImport, numbers);
      const contacts = rest.map((recipient) =>
        contactOf(contactImport, variables, recipient, stored.get(recipient.number) ?? null),
      );
      const { saved, ms } = await store.importContacts(contacts);
      if (saved === contacts.length) {
        const factor = Math.min(2, Math.max(0.25, STEP_MS[store.engine] / Math.max(ms, 0.01)));
        stepRows = Math.min(STEP_ROWS.max, Math.max(STEP_ROWS.min, Math.round(stepRows * factor)));
        return true;
      }
      const now = await store.findContacts(contactImport, numbers);
      const missed = new Set(
        contacts.filter((contact) => !isSaved(contact, now.get(contact.number))).map(({ number }) => number),
      );
      rest = rest.filter(({ number }) => missed.has(number));
    }
    return rest.length === 0;
  }

  return async () => {
    const startedAt = clock.monotonic();
    let work = await store.claimContactImport(claim, clock.now(), until());
    if (!work) return undefined;
    while (work && clock.monotonic() - startedAt < RUN_MS) work = await step(work);
    // A short rest, in which sends find the writer free.
    return 5;
  };
}

const isSaved = (contact: Contact, stored: Contact | undefined): boolean =>
  stored?.revision === contact.revision && JSON.stringify(stored) === JSON.stringify(contact);

/** The contact with the values of a recipient. An empty value changes nothing. */
function contactOf(
  { accountId, test, nameVariable, attributes, tags, consents, createdAt }: ContactImport,
  variables: readonly string[],
  { number, values }: AudienceRecipient,
  before: Contact | null,
): Contact {
  const valueOf = (variable: string): string => values[variables.indexOf(variable)]?.trim() ?? "";
  const name = nameVariable === null ? "" : valueOf(nameVariable);
  const given = Object.entries(attributes)
    .map(([attribute, variable]) => [attribute, valueOf(variable)] as const)
    .filter(([, value]) => value !== "");
  return changeContact(
    { accountId, test, number },
    before,
    {
      ...(name !== "" && { name: name.slice(0, 100).toWellFormed() }),
      attributes: Object.fromEntries(given),
      addTags: tags,
      consents,
    },
    createdAt,
  );
}
