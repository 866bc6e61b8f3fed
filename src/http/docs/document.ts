import type { JsonSchema, SharedSchemas } from "./publish-schema.ts";

/** As much of OpenAPI 3.1 as our document uses. */
export interface OpenApi {
  openapi: "3.1.1";
  info: { title: string; version: string; summary: string; description: string; license: object };
  servers: readonly { url: string }[];
  tags: readonly { name: string; description?: string }[];
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

/** The scopes that are needed stand behind the scheme; no requirement means anybody may ask. */
interface SecurityRequirement {
  apikey?: readonly string[];
  session?: readonly [];
}

export interface Operation {
  operationId: string;
  tags: readonly string[];
  summary: string;
  description: string;
  security: readonly SecurityRequirement[];
  /** The role that a person needs at the least. */
  "x-role"?: string;
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
  example?: string;
}

export interface ResponseObject {
  description: string;
  headers?: Record<string, { $ref: string }>;
  content?: Content;
}

type Content = Record<string, { schema: JsonSchema; example?: unknown; examples?: Record<string, Example> }>;
export type Example = { value: unknown } | { $ref: string };
