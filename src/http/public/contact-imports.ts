import { isUuid, newId } from "../../lib/ids.ts";
import { nullable, Type } from "../../lib/schema.ts";
import type { Audience } from "../../model/audience.ts";
import {
  ATTRIBUTES_MAX,
  IMPORT_FAILURES,
  IMPORT_STATES,
  RESERVED_ATTRIBUTES,
  type ContactImport,
} from "../../model/contact.ts";
import { Problem, refuseFaults, type Fault } from "../../model/problem.ts";
import { seesTestsOnly } from "../auth/test-mode.ts";
import { readLimit } from "../pagination.ts";
import { pageParameters } from "../parameters.ts";
import { keyedRoute, type AuthenticCall, type KeyedRoute, type Services, type WithBody } from "../route.ts";
import { ATTRIBUTE_RULE, attributeName, bookOf, consentsField, readConsents, tagsField } from "./contacts.ts";

const EXAMPLE_ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";

const view = ({ id, test, audienceId, state, total, done, failure, createdAt, endedAt }: ContactImport): object => ({
  id,
  test,
  audienceId,
  state,
  total,
  done,
  failure: failure && { code: failure, message: IMPORT_FAILURES[failure] },
  createdAt,
  endedAt,
});

async function create(
  { store, clock }: Services,
  { body, caller }: WithBody<AuthenticCall, typeof NewImport>,
): Promise<object> {
  const book = bookOf(caller);
  const audience = isUuid(body.audienceId)
    ? await store.findAudience({ accountId: book.accountId, id: body.audienceId })
    : null;
  const variables = (audience?.layout?.variables ?? []).map(({ name }) => name);
  refuseFaults(audienceFaults(audience, book.test));
  const nameVariable = body.name ?? variables.find((name) => name.toLowerCase() === "name") ?? null;
  const attributes =
    body.attributes ??
    Object.fromEntries(variables.filter((name) => name !== nameVariable).map((name) => [name, name]));
  const known = await store.listContactAttributes(book);
  const faults: Fault[] = Object.entries({ name: nameVariable, ...prefixed(attributes) }).flatMap(
    ([parameter, variable]) =>
      variable === null || variables.includes(variable)
        ? []
        : [{ parameter, message: `A variable of the audience: ${variables.join(", ") || "it has none"}.` }],
  );
  const names = Object.keys(attributes);
  if (!names.every(attributeName)) faults.push({ parameter: "attributes", message: ATTRIBUTE_RULE });
  if (new Set([...known, ...names]).size > ATTRIBUTES_MAX)
    faults.push({ parameter: "attributes", message: IMPORT_FAILURES.TOO_MANY_ATTRIBUTES });
  refuseFaults(faults);
  const now = clock.now();
  const contactImport: ContactImport = {
    ...book,
    id: newId(now),
    audienceId: body.audienceId,
    state: "running",
    nameVariable,
    attributes,
    tags: body.tags ?? [],
    consents: readConsents(body.consents ?? [], now),
    total: audience?.recipients ?? 0,
    done: 0,
    failure: null,
    createdAt: now,
    endedAt: null,
  };
  await store.addContactImport(contactImport);
  return view(contactImport);
}

const prefixed = (attributes: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(attributes).map(([name, variable]) => [`attributes.${name}`, variable]));

/** Live contacts are not made from an upload of a test key, nor the other way round. */
function audienceFaults(audience: Audience | null, test: boolean): Fault[] {
  const parameter = "audienceId";
  if (!audience || audience.test !== test)
    return [{ parameter, message: "There is no audience with this id: GET /v1/audiences lists them." }];
  if (audience.state === "ready") return [];
  return [{ parameter, message: `The audience is ${audience.state}: wait until it is ready.` }];
}

const NewImport = Type.Object({
  audienceId: Type.String({ description: "ID of an audience that is ready: the uploaded file, checked." }),
  name: Type.Optional(
    Type.String({ minLength: 1, description: "Variable with the name. Defaults to the one that is called name." }),
  ),
  attributes: Type.Optional(
    Type.Record(Type.String({ minLength: 1, description: "Variable of the audience." }), {
      description: "Attributes by name, each with its variable. Defaults to all other variables under their own names.",
    }),
  ),
  tags: Type.Optional(tagsField("Tags that every contact gets in addition to its own.")),
  consents: Type.Optional(consentsField("Consents that every contact has given or withdrawn.")),
});

const ImportView = Type.Object(
  {
    id: Type.String({ description: "ID of the import." }),
    test: Type.Boolean({ description: "True if a test key created it." }),
    audienceId: Type.String({ description: "Audience whose recipients become contacts." }),
    state: Type.Union(
      IMPORT_STATES.map((state) => Type.Literal(state)),
      { description: "State; failed has its reason in `failure`." },
    ),
    total: Type.Integer({ description: "Recipients of the audience." }),
    done: Type.Integer({ description: "Recipients that were imported." }),
    failure: nullable(
      Type.Object({
        code: Type.Union(
          Object.keys(IMPORT_FAILURES).map((code) => Type.Literal(code)),
          { description: "Reason." },
        ),
        message: Type.String({ description: "Reason and fix." }),
      }),
      "Reason why the import ended early; null otherwise.",
    ),
    createdAt: Type.Integer({ description: "Epoch milliseconds." }),
    endedAt: nullable(Type.Integer(), "Its end; null before."),
  },
  { title: "ContactImport" },
);

const example = {
  id: EXAMPLE_ID,
  test: false,
  audienceId: EXAMPLE_ID,
  state: "finished",
  total: 99_120,
  done: 99_120,
  failure: null,
  createdAt: 1767225600000,
  endedAt: 1767225612000,
};

const reading = { method: "GET", family: "plain", scope: "read", testKeys: "read", group: "Contacts" } as const;

export const contactImportRoutes: readonly KeyedRoute[] = [
  keyedRoute({
    family: "plain",
    scope: "sms",
    testKeys: "sms",
    group: "Contacts",
    method: "POST",
    path: "/v1/contact-imports",
    summary: "Import contacts",
    description: `Makes contacts of the recipients of an audience, in the background. Existing contacts keep the values that the audience does not have. Upload a CSV file with \`POST /v1/audiences\` first, and see its faults and columns. No attribute is called ${RESERVED_ATTRIBUTES.join(" or ")}.`,
    status: 201,
    body: NewImport,
    requestExamples: { "with a tag": { audienceId: EXAMPLE_ID, tags: ["newsletter"] } },
    response: ImportView,
    responseExample: { ...example, state: "running", done: 0, endedAt: null },
    handle: async (services, call) => {
      const created = await create(services, call);
      void call.reply.code(201);
      return created;
    },
  }),
  {
    ...reading,
    path: "/v1/contact-imports",
    summary: "List imports of contacts",
    description: "Lists the imports of the account, newest first. A test key sees those of test keys.",
    query: pageParameters(EXAMPLE_ID),
    response: Type.Object({
      data: Type.Array(ImportView, { description: "Imports on this page." }),
      nextCursor: nullable(Type.String(), "Cursor of the next page; null on the last page."),
    }),
    responseExample: { data: [example], nextCursor: null },
    handle: async ({ store }, { query, caller }) => {
      const faults: Fault[] = [];
      const limit = readLimit(query, faults);
      if (query.cursor !== undefined && !isUuid(query.cursor))
        faults.push({ parameter: "cursor", message: "cursor is the nextCursor of an earlier response." });
      refuseFaults(faults);
      const filter = seesTestsOnly(caller) ? { test: true as const } : {};
      const { rows, next } = await store.listContactImports(caller.account.id, filter, query.cursor ?? null, limit);
      return { data: rows.map(view), nextCursor: next };
    },
  },
  {
    ...reading,
    path: "/v1/contact-imports/:id",
    summary: "Get an import of contacts",
    description: "Returns the progress of an import.",
    params: { id: { meaning: "ID of the import.", example: EXAMPLE_ID } },
    problems: ["RECORD_NOT_FOUND"],
    response: ImportView,
    responseExample: example,
    handle: async ({ store }, { params: { id = "" }, caller }) => {
      const found = isUuid(id) ? await store.findContactImport({ accountId: caller.account.id, id }) : null;
      if (!found || (seesTestsOnly(caller) && !found.test))
        throw new Problem("RECORD_NOT_FOUND", { message: "There is no import with this id." });
      return view(found);
    },
  },
];
