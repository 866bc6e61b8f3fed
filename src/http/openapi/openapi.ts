import { STATUS_CODES } from "node:http";
import { Type } from "../../lib/schema.ts";
import type { SmsLimits } from "../../model/message.ts";
import { PROBLEMS, type ProblemCode } from "../../model/problem.ts";
import { isPersonal, roleOf, type Family, type Parameter, type Route, type TypedParameter } from "../route.ts";
import type { Example, OpenApi, Operation, ParameterObject, PathItem, ResponseObject } from "./document.ts";
import { FAILURE_SCHEMAS, problemsOf, sampleFailure, takesIdempotencyKey } from "./failures.ts";
import { publishSchema, type JsonSchema, type SharedSchemas } from "./publish-schema.ts";
import { CALLBACKS, describeWebhooks } from "./webhooks.ts";

interface About {
  baseUrl: string;
  version: string;
  /** Shown in the bodies that they limit. */
  limits: SmsLimits;
}

const ABOUT_GROUPS: Readonly<Record<string, string>> = {
  SMS: "Send text messages to one phone or to many, and preview them.",
  "Chat app": "Send approved templates, and free text within 24 hours of the user's last message.",
  RCS: "Send texts, cards and carousels with suggestions, from a bot.",
  Verification: "Send and verify one-time passwords, and manage their configurations and limits.",
  Messages: "Read the status and timeline of messages, and cancel waiting ones.",
  Answers: "Read messages, taps and files from users on every channel.",
  Conversations: "The inbox: what users sent, by number, with replies, assignment and canned replies.",
  Events: "Read all callback events again, for example after an outage of your endpoint.",
  Webhooks: "Your URLs that receive the events of a channel.",
  "Delivery reports": "Your URLs that receive the delivery status of text messages.",
  "Callback log": "Callbacks with their attempts, and resending.",
  [CALLBACKS]:
    "Requests that the service sends to your URLs, configured as webhooks and delivery reports. Each is signed with the endpoint's secret. A callback without a 2xx response within 15 seconds is retried nine times over three days. Callbacks about one message arrive in order.",
  Media: "Files for messages: uploaded once and used by their id, and the files that users send.",
  Audiences:
    "Recipients of a campaign: uploaded as a CSV file or an XLSX workbook and checked row by row, or the contacts of a segment.",
  Contacts: "Numbers with a name, attributes, tags and consents.",
  Segments: "Saved filters of contacts.",
  Campaigns: "Messages under one name, counted, paused, resumed and cancelled together.",
  Templates: "Stored messages with placeholders. Names are unique per channel.",
  Bots: "Senders of RCS messages.",
  Numbers: "Business numbers that chat-app messages come from.",
  Senders: "Sender IDs of text messages.",
  Carriers: "Connections to networks and platforms, with their contracted rate.",
  Routes: "Rules that select the carrier of a message, with priorities and quiet hours.",
  Prices: "Credits per segment, by type and prefix.",
  "Opt-outs": "Numbers that receive no PROMO messages.",
  Receipts: "Delivery receipts that match no message.",
  Credits: "Balance and ledger of a metered account.",
  Statistics: "Counts and latencies over time, and live message events.",
  "Short links": "Shortened URLs in texts, and their clicks.",
  Agents: "What AI assistants sent by `/mcp`, and what waits for a person's approval.",
  "API keys": "API keys: scopes, allowed networks, rate limit, expiry, and their last requests.",
  "Identity products": "Hooks by which identity products such as Supabase or Okta deliver the codes that they make.",
  Credentials: "Usernames and passwords for the APIs of other products that Heliograph understands.",
  "SMPP server": "Clients that are bound to the SMPP server. Their system ids are credentials of the kind `smpp`.",
  Configuration: "The whole configuration as one file, to keep in a repository.",
  Login: "Sessions of dashboard users and two-factor authentication. Programs use API keys.",
  Users: "Dashboard users and the audit log.",
  Account: "Settings of the account.",
  Simulator: "Simulated phones. Every message sent to them can be read back.",
  Alerts: "Faults that rules with thresholds have found, and the rules.",
  Health: "For load balancers and monitoring. No API key needed.",
};

/** Builds the OpenAPI document from the route table. */
export function describeApi(routes: readonly Route[], { baseUrl, version, limits }: About): OpenApi {
  const shown = routes.filter((route) => !route.hidden);
  const schemas: SharedSchemas = {};
  const paths: Record<string, PathItem> = {};
  for (const route of shown) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, shown, schemas, limits) };
  }
  const webhooks = describeWebhooks(schemas);
  return {
    openapi: "3.1.1",
    info: {
      title: "Heliograph",
      version,
      summary: "Self-hosted messaging",
      description: "Send messages and follow their delivery. Bodies are JSON in UTF-8.",
      contact: { name: "Operator of this server", url: `${baseUrl}/docs` },
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: baseUrl, description: "This server." }],
    tags: [...new Set([...shown.map((route) => route.group), CALLBACKS])].map(tagOf),
    security: [{ apikey: [] }],
    paths,
    webhooks,
    components: {
      schemas: Object.fromEntries(Object.entries(schemas).toSorted(([a], [b]) => a.localeCompare(b, "en"))),
      examples: failureExamples(shown, baseUrl),
      headers: HEADERS,
      securitySchemes: {
        apikey: {
          type: "apiKey",
          in: "header",
          name: "apikey",
          description: "For programs. Each operation lists the scope it requires.",
        },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "heliograph_session",
          description:
            "For users logged in with `POST /api/session`. Each operation lists the role it requires; all methods except GET also require the header `x-csrf-token`.",
        },
        metrics: {
          type: "http",
          scheme: "bearer",
          description: "For Prometheus, if the operator has set `HELIOGRAPH_METRICS_KEY`.",
        },
      },
    },
  };
}

function tagOf(name: string): { name: string; description: string } {
  const description = ABOUT_GROUPS[name];
  if (description === undefined) throw new Error(`the group ${name} has no description`);
  return { name, description };
}

function operationOf(route: Route, shown: readonly Route[], schemas: SharedSchemas, limits: SmsLimits): Operation {
  const { group, summary, description } = route;
  const parameters = parametersOf(route, schemas);
  const body = route.bodyFor?.(limits) ?? route.body;
  return {
    operationId: operationIdOf(route, shown),
    tags: [group],
    summary,
    description,
    security: securityOf(route),
    ...(route.scope !== null && {
      ...(!route.peopleOnly && { "x-scope": route.scope }),
      "x-role": roleOf(route),
      "x-test-keys": route.testKeys ?? "refused",
    }),
    ...(parameters.length > 0 && { parameters }),
    ...("upload" in route && { requestBody: uploadOf(route.upload ?? []) }),
    ...(body && {
      requestBody: {
        required: !isLenient(route),
        content: {
          "application/json": {
            schema: publishSchema(body, schemas),
            examples: mapValues(route.requestExamples ?? {}, (value) => ({ value })),
          },
        },
      },
    }),
    responses: {
      [String(route.status ?? 200)]: successOf(route, schemas),
      ...failuresOf(route, schemas),
      ...otherResponsesOf(route, schemas),
      "431": HEADERS_TOO_LARGE,
    },
  };
}

/** The whole body is the file, or a form has it. */
const uploadOf = (types: readonly string[]): NonNullable<Operation["requestBody"]> => ({
  required: true,
  content: {
    ...Object.fromEntries([...types, "application/octet-stream"].map((type) => [type, { schema: {} }])),
    "multipart/form-data": {
      schema: {
        type: "object",
        properties: { file: { type: "string", format: "binary", description: "The file." } },
        required: ["file"],
      },
    },
  },
});

/** Alternatives: each requirement alone is sufficient. */
function securityOf(route: Route): Operation["security"] {
  if (route.scope !== null && route.peopleOnly) return [{ session: [] }];
  if (route.scope !== null) return [{ apikey: [] }, { session: [] }];
  if (isPersonal(route)) return [{ session: [] }];
  return route.bearer ? [{}, { [route.bearer]: [] }] : [];
}

/**
 * `POST /v1/sms` becomes `postSms`. Ids follow from paths, which do not change, so generated clients stay stable. An
 * `/api` operation with the same name as a `/v1` one gets a prefix: `getApiMessages`.
 */
function operationIdOf({ method, path }: Route, shown: readonly Route[]): string {
  const customers = path.replace(/^\/api\//, "/v1/");
  const hasTwin = customers !== path && shown.some((other) => other.path === customers);
  const words = path.replace(hasTwin ? /^/ : /^\/(v1|api)\//, "/").match(/\w+/g) ?? [];
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

/** A body without required fields may be omitted. */
const isLenient = ({ body, checkBody }: Route): boolean => checkBody !== false && (body?.required ?? []).length === 0;

function parametersOf(route: Route, schemas: SharedSchemas): ParameterObject[] {
  const names = route.path.match(/(?<=:)\w+/g) ?? [];
  const all = (place: ParameterObject["in"], found: readonly (readonly [string, Parameter])[]): ParameterObject[] =>
    found.map(([name, parameter]) => parameterOf(place, name, parameter, schemas));
  return [
    ...all(
      "path",
      names.map((name) => [name, route.params?.[name] ?? ""]),
    ),
    ...all("query", Object.entries(route.query ?? {})),
    ...all("header", Object.entries(route.headers ?? {})),
  ];
}

function parameterOf(
  place: ParameterObject["in"],
  name: string,
  parameter: Parameter,
  schemas: SharedSchemas,
): ParameterObject {
  const typed: TypedParameter = typeof parameter === "string" ? { meaning: parameter } : parameter;
  const { meaning, schema = Type.String(), example, required } = typed;
  return {
    name,
    in: place,
    required: place === "path" || required === true,
    description: meaning,
    schema: publishSchema(schema, schemas),
    ...(example !== undefined && { example }),
  };
}

function successOf(route: Route, schemas: SharedSchemas): ResponseObject {
  const schema: JsonSchema = route.response ? publishSchema(route.response, schemas) : { type: "string" };
  const type = route.contentType ?? "application/json";
  return {
    description: route.status === 201 ? "Created." : "Success.",
    headers: takesIdempotencyKey(route) ? headers("idempotent-replayed", "heliograph-would-refuse") : {},
    content: { [type]: { schema, example: route.responseExample } },
  };
}

/** One response per status, with an example for each code. */
function failuresOf(route: Route, schemas: SharedSchemas): Record<string, ResponseObject> {
  const schema = publishSchema(FAILURE_SCHEMAS[route.family], schemas);
  const byStatus = Object.groupBy(problemsOf(route), (code) => String(PROBLEMS[code].status));
  return mapValues(byStatus as Record<string, ProblemCode[]>, (found, status) => ({
    description: `${STATUS_CODES[status]}: ${found.join(", ")}.`,
    headers: headers("request-id", WAIT_STATUSES.has(status) && "retry-after"),
    content: {
      "application/json": {
        schema,
        examples: Object.fromEntries(
          found.map((code) => [code, { $ref: `#/components/examples/${exampleName(code, route.family)}` }]),
        ),
      },
    },
  }));
}

/** Responses outside the API's envelope; a status with both kinds lists both types. */
function otherResponsesOf(route: Route, schemas: SharedSchemas): Record<string, ResponseObject> {
  const failures = failuresOf(route, schemas);
  return mapValues(route.otherResponses ?? {}, ({ description, contentType, schema, example }, status) => {
    const failure = failures[status];
    return {
      ...failure,
      description: failure ? `${description} ${failure.description}` : description,
      content: { ...failure?.content, [contentType]: { schema: publishSchema(schema, schemas), example } },
    };
  });
}

/** Response of Node's HTTP parser: no body, closes the connection. */
const HEADERS_TOO_LARGE: ResponseObject = {
  description: "Request Header Fields Too Large: request line and headers exceed 16 KiB.",
};

const exampleName = (code: ProblemCode, family: Family): string => (family === "plain" ? code : `${family}.${code}`);

function failureExamples(routes: readonly Route[], baseUrl: string): Record<string, Example> {
  const examples = routes.flatMap((route) =>
    problemsOf(route).map((code): [string, Example] => [
      exampleName(code, route.family),
      { value: sampleFailure(code, route.family, baseUrl) },
    ]),
  );
  return Object.fromEntries(examples);
}

const WAIT_STATUSES = new Set(["409", "429", "503"]);

const HEADERS = {
  "request-id": { description: "Request ID, as in the server log.", schema: { type: "string" } },
  "idempotent-replayed": {
    description: "`true` if this is the response to an earlier request with the same key.",
    schema: { type: "string", const: "true" },
  },
  "heliograph-would-refuse": {
    description: "Comma-separated policies that the simulator only reports and a real carrier would enforce.",
    schema: { type: "string" },
  },
  "retry-after": { description: "Seconds to wait before retrying.", schema: { type: "integer" } },
};

const headers = (...names: readonly (keyof typeof HEADERS | false)[]): Record<string, { $ref: string }> =>
  Object.fromEntries(
    names.filter((name) => name !== false).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );

const mapValues = <T, R>(record: Readonly<Record<string, T>>, map: (value: T, key: string) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]));
