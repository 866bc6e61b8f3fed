import { STATUS_CODES } from "node:http";
import { PROBLEMS, type ProblemCode } from "../../model/problem.ts";
import { isPersonal, roleOf, type Family, type Parameter, type Route } from "../route.ts";
import type { Example, OpenApi, Operation, ParameterObject, PathItem, ResponseObject } from "./document.ts";
import { FAILURE_SCHEMAS, problemsOf, sampleFailure, takesIdempotencyKey } from "./failures.ts";
import { publishSchema, type JsonSchema, type SharedSchemas } from "./publish-schema.ts";
import { describeWebhooks } from "./webhooks.ts";

interface About {
  baseUrl: string;
  version: string;
}

const ABOUT_GROUPS: Readonly<Record<string, string>> = {
  SMS: "Text messages to one phone or to many.",
  "Chat app": "Templates that somebody had approved, and answers to who has just written.",
  RCS: "Texts, cards and carousels with things to tap, from a bot.",
  Messages: "What became of everything that was sent.",
  Answers: "What users wrote, tapped or sent back, on every channel.",
  Events: "Everything that your addresses are told, to be read back by whoever missed some of it.",
  Webhooks: "Addresses of yours that are told what happens on a channel.",
  "Delivery reports": "Addresses of yours that are told what became of text messages.",
  "Callback log": "What your addresses were told, try by try, and telling it again.",
  Campaigns: "Messages under one name: counted, paused, resumed and cancelled together.",
  Templates: "What is sent, with placeholders for what is each recipient's own; every channel has names of its own.",
  Bots: "Who messages on RCS come from.",
  Numbers: "Business numbers that chat-app messages come from.",
  Senders: "Names and numbers that text messages may come from.",
  Carriers: "Lines to the networks, with their contracted speed.",
  Routes: "Which messages go to which carrier, in which order, and when not.",
  Prices: "Credits per segment, by type and prefix.",
  "Opt-outs": "Numbers that get no promotions.",
  Receipts: "Receipts of carriers that match no message.",
  Credits: "What a metered account has, and where it went.",
  Statistics: "How it goes, from counts that are kept as messages move.",
  "Short links": "Addresses that were shortened in texts, and who followed them.",
  "API keys": "Keys for programs: what each may do, from where, how fast and until when.",
  "Set-up": "All that is configured, as one file that can live in a repository.",
  Login: "Sessions of people who use the dashboard, and their second factor. Programs use keys.",
  Users: "Who may log in to the account, and who changed what in it.",
  Account: "Settings that hold for all keys of an account.",
  Simulator: "Phones that exist only here. Every message that is sent to them can be read back.",
  Health: "For load balancers and monitoring. No key is needed.",
};

/** The whole API as an OpenAPI document, made from the table of routes. */
export function describeApi(routes: readonly Route[], { baseUrl, version }: About): OpenApi {
  const shown = routes.filter((route) => !route.hidden);
  const schemas: SharedSchemas = {};
  const paths: Record<string, PathItem> = {};
  for (const route of shown) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, shown, schemas) };
  }
  const webhooks = describeWebhooks(schemas);
  return {
    openapi: "3.1.1",
    info: {
      title: "Heliograph",
      version,
      summary: "Self-hosted messaging",
      description: "Send messages and read back what became of them. Bodies are JSON in UTF-8.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: baseUrl }],
    tags: [...new Set(shown.map((route) => route.group))].map(tagOf),
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
          description: "For programs. Each operation names the scope it needs.",
        },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "heliograph_session",
          description:
            "For people who have logged in with `POST /api/session`. Each operation names the role it needs; what is not a GET also needs the header `x-csrf-token`.",
        },
      },
    },
  };
}

const tagOf = (name: string): { name: string; description?: string } => {
  const description = ABOUT_GROUPS[name];
  return description === undefined ? { name } : { name, description };
};

function operationOf(route: Route, shown: readonly Route[], schemas: SharedSchemas): Operation {
  const { group, summary, description } = route;
  const parameters = parametersOf(route);
  return {
    operationId: operationIdOf(route, shown),
    tags: [group],
    summary,
    description,
    security: securityOf(route),
    ...(route.scope !== null && { "x-role": roleOf(route) }),
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && {
      requestBody: {
        required: !isLenient(route),
        content: {
          "application/json": {
            schema: publishSchema(route.body, schemas),
            examples: mapValues(route.requestExamples ?? {}, (value) => ({ value })),
          },
        },
      },
    }),
    responses: { [String(route.status ?? 200)]: successOf(route, schemas), ...failuresOf(route, schemas) },
  };
}

/** Either of them is enough. */
function securityOf(route: Route): Operation["security"] {
  if (route.scope !== null) return [{ apikey: [route.scope] }, { session: [] }];
  return isPersonal(route) ? [{ session: [] }] : [];
}

/**
 * `POST /v1/sms` is `postSms`. Paths do not change, so neither do these names, and generated clients stay the same.
 * An operator's door that stands beside a customer's of the same name says so: `getApiMessages`.
 */
function operationIdOf({ method, path }: Route, shown: readonly Route[]): string {
  const customers = path.replace(/^\/api\//, "/v1/");
  const hasTwin = customers !== path && shown.some((other) => other.path === customers);
  const words = path.replace(hasTwin ? /^/ : /^\/(v1|api)\//, "/").match(/\w+/g) ?? [];
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

/** A body may be left out where none of its fields is required. */
const isLenient = ({ body, checkBody }: Route): boolean => checkBody !== false && (body?.required ?? []).length === 0;

function parametersOf(route: Route): ParameterObject[] {
  const names = route.path.match(/(?<=:)\w+/g) ?? [];
  return [
    ...names.map((name) => parameterOf("path", name, route.params?.[name] ?? "")),
    ...Object.entries(route.query ?? {}).map(([name, parameter]) => parameterOf("query", name, parameter)),
    ...Object.entries(route.headers ?? {}).map(([name, parameter]) => parameterOf("header", name, parameter)),
  ];
}

function parameterOf(place: ParameterObject["in"], name: string, parameter: Parameter): ParameterObject {
  const { meaning, example, required } =
    typeof parameter === "string" ? { meaning: parameter, example: undefined, required: undefined } : parameter;
  return {
    name,
    in: place,
    required: place === "path" || required === true,
    description: meaning,
    schema: { type: "string", ...(name === "Idempotency-Key" && { minLength: 1, maxLength: 255 }) },
    ...(example !== undefined && { example }),
  };
}

function successOf(route: Route, schemas: SharedSchemas): ResponseObject {
  const schema: JsonSchema = route.response ? publishSchema(route.response, schemas) : { type: "string" };
  const type = route.contentType ?? "application/json";
  return {
    description: route.status === 201 ? "Made." : "Success.",
    headers: headers("request-id", takesIdempotencyKey(route) && "idempotent-replayed"),
    content: { [type]: { schema, example: route.responseExample } },
  };
}

/** One response per status, with an example for each code that has it. */
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
  "request-id": { description: "Names this request in the log.", schema: { type: "string" } },
  "idempotent-replayed": {
    description: "`true` when this is the answer to an earlier request with the same key.",
    schema: { type: "string", const: "true" },
  },
  "retry-after": { description: "Seconds to wait before the next try.", schema: { type: "integer" } },
};

const headers = (...names: readonly (keyof typeof HEADERS | false)[]): Record<string, { $ref: string }> =>
  Object.fromEntries(
    names.filter((name) => name !== false).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );

const mapValues = <T, R>(record: Readonly<Record<string, T>>, map: (value: T, key: string) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]));
