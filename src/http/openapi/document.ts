import type { JsonSchema, SharedSchemas } from "./publish-schema.ts";

/** Subset of OpenAPI 3.1 that the document uses. */
export interface OpenApi {
  openapi: "3.1.1";
  info: { title: string; version: string; summary: string; description: string; contact: object; license: object };
  servers: readonly { url: string; description: string }[];
  tags: readonly { name: string; description: string }[];
  security: readonly SecurityRequirement[];
  paths: Record<string, PathItem>;
  webhooks: Record<string, PathItem>;
  components: {
    schemas: SharedSchemas;
    examples: Record<string, Example>;
    headers: Record<string, object>;
    securitySchemes: object;
  };
}

export type Method = "get" | "post" | "put" | "patch" | "delete";
export type PathItem = Partial<Record<Method, Operation>>;

/** No requirement means public; an empty requirement makes authentication optional. */
interface SecurityRequirement {
  apikey?: readonly [];
  session?: readonly [];
  metrics?: readonly [];
}

export interface Operation {
  operationId: string;
  tags: readonly string[];
  summary: string;
  description: string;
  security: readonly SecurityRequirement[];
  /** Scope required of a key. In OpenAPI only OAuth schemes list scopes under `security`. */
  "x-scope"?: string;
  /** Minimum role of a user. */
  "x-role"?: string;
  /** Scope required of a test key, or `refused`. */
  "x-test-keys"?: string;
  parameters?: readonly ParameterObject[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, ResponseObject>;
}

export interface ParameterObject {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  description: string;
  schema: JsonSchema;
  example?: string | number | boolean;
}

export interface ResponseObject {
  description: string;
  headers?: Record<string, { $ref: string }>;
  content?: Content;
}

type Content = Record<string, { schema: JsonSchema; example?: unknown; examples?: Record<string, Example> }>;
export type Example = { value: unknown } | { $ref: string };
