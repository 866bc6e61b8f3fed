// Writes the types of the TypeScript client from the OpenAPI document.
import { describeApi } from "../../src/http/openapi/openapi.ts";
import { ROUTES } from "../../src/http/routes.ts";
import { PROBLEMS } from "../../src/model/problem.ts";
import { DEFAULT_SMS_LIMITS } from "../../src/model/message.ts";

const HEADING = `// Written by \`npm run build:sdk -- --types\` from the OpenAPI document. Changes belong in the server's schemas.\n`;

/** Operations whose parameters or response have no name in the document. */
const QUERIES = {
  ListMessagesQuery: "/v1/messages",
  ListInboundQuery: "/v1/inbound",
  ListEventsQuery: "/v1/events",
  ListAudiencesQuery: "/v1/audiences",
  ListCampaignsQuery: "/v1/campaigns",
};
/** Operations whose request body has no name in the document. */
const BODIES = { AudienceRequest: "/v1/audiences", CampaignRequest: "/v1/campaigns" };
const CANCEL = "/v1/messages/{messageId}/cancel";

/** `Error` is a global class, so the client has another name for the schema. */
const NAMES = { Error: "ErrorValue" };
const SMS_PREVIEW = "export type SmsPreviewRequest = SmsRequest;\n";

/** The text of `sdk/typescript/src/schema.ts`. */
export function schemaTypes() {
  const document = describeApi(ROUTES, {
    baseUrl: "https://messages.example.org",
    version: "0.0.0",
    limits: DEFAULT_SMS_LIMITS,
  });
  const { schemas } = document.components;
  const publicPaths = Object.entries(document.paths).filter(([path]) => path.startsWith("/v1/"));
  const roots = publicPaths.flatMap(([, item]) =>
    Object.values(item).flatMap(({ requestBody, responses }) => [requestBody, responses["200"]]),
  );
  const names = reachable([...roots, ...Object.values(document.webhooks)], schemas);
  const definitions = new Map([...names].map((name) => [name, schemas[name]]));
  for (const [name, path] of Object.entries(QUERIES)) definitions.set(name, queryOf(document.paths[path].get));
  for (const [name, path] of Object.entries(BODIES))
    definitions.set(name, schemaIn(document.paths[path].post.requestBody));
  definitions.set("CancelResponse", schemaIn(document.paths[CANCEL].post.responses["200"]));
  definitions.set("ErrorDetail", schemas.Error.properties.details.items);
  definitions.set("Error", schemas.Error);
  const types = [...definitions]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => declare(name, schema));
  const codes = Object.keys(PROBLEMS).toSorted();
  const union = codes.map((code) => `  | ${JSON.stringify(code)}`).join("\n");
  return [
    HEADING,
    `/** Codes of this version of the server. */\nexport type ErrorCode =\n${union};\n`,
    ...types,
    SMS_PREVIEW,
  ].join("\n");
}

/** Names of all schemas that the given parts of the document lead to. */
function reachable(parts, schemas) {
  const names = new Set();
  const visit = (part) => {
    if (typeof part !== "object" || part === null) return;
    const name = refOf(part);
    if (name !== null && !names.has(name)) {
      names.add(name);
      visit(schemas[name]);
    }
    for (const [key, value] of Object.entries(part)) if (key !== "examples" && key !== "example") visit(value);
  };
  parts.forEach(visit);
  return names;
}

const refOf = ({ $ref }) => (typeof $ref === "string" && $ref.includes("/schemas/") ? $ref.split("/").at(-1) : null);
const schemaIn = ({ content }) => content["application/json"].schema;

const queryOf = ({ parameters }) => ({
  type: "object",
  properties: Object.fromEntries(
    parameters
      .filter((parameter) => parameter.in === "query")
      .map(({ name, description, schema }) => [name, { ...schema, description }]),
  ),
});

function declare(name, schema) {
  const written = typeOf(schema, "");
  const shown = NAMES[name] ?? name;
  const heading = comment(schema.description, "");
  return schema.type === "object" && !schema.anyOf && !schema.allOf
    ? `${heading}export interface ${shown} ${written}\n`
    : `${heading}export type ${shown} = ${written};\n`;
}

const comment = (text, indent) => (text ? `${indent}/** ${text.replaceAll("*/", "* /")} */\n` : "");

const PRIMITIVES = { string: "string", integer: "number", number: "number", boolean: "boolean", null: "null" };

function typeOf(schema, indent) {
  const name = refOf(schema);
  if (name !== null) return NAMES[name] ?? name;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return [...new Set(schema.enum)].map((value) => JSON.stringify(value)).join(" | ");
  if (schema.anyOf) return [...new Set(schema.anyOf.map((part) => typeOf(part, indent)))].join(" | ");
  if (schema.allOf) return schema.allOf.map((part) => `(${typeOf(part, indent)})`).join(" & ");
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type }, indent)).join(" | ");
  if (schema.type === "array") return `(${typeOf(schema.items ?? {}, indent)})[]`;
  if (schema.type === "object") return objectOf(schema, indent);
  return PRIMITIVES[schema.type] ?? "unknown";
}

function objectOf({ properties = {}, required = [], additionalProperties }, indent) {
  const inner = `${indent}  `;
  const fields = Object.entries(properties).map(([name, schema]) => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
    const type = typeOf(schema, inner);
    const field = required.includes(name) ? `${key}: ${type};` : `${key}?: ${type} | undefined;`;
    return `${comment(schema.description, inner)}${inner}${field}\n`;
  });
  if (additionalProperties) {
    const others = additionalProperties === true ? "unknown" : typeOf(additionalProperties, inner);
    fields.push(`${inner}[name: string]: ${fields.length > 0 ? "unknown" : others};\n`);
  }
  return fields.length === 0 ? "Record<string, never>" : `{\n${fields.join("")}${indent}}`;
}
