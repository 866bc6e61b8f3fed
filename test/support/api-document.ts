import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { OpenApi } from "../../src/http/openapi/document.ts";
import { refTo } from "../../src/http/openapi/publish-schema.ts";

/**
 * Validates values against schemas of the OpenAPI document with an independent validator in strict mode: a keyword
 * without effect is an error of the schema.
 */
export function faultFinder({
  components,
}: Pick<OpenApi, "components">): (schema: object, value: unknown) => unknown[] {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true, allErrors: true });
  formats.default(ajv);
  ajv.addSchema({ $defs: withOwnReferences(components.schemas) }, DOCUMENT);
  // Many operations have the same schema, and compiling it takes longer than checking a value.
  const checks = new Map<string, ValidateFunction>();
  return (schema, value) => {
    const text = JSON.stringify(schema);
    const check = checks.get(text) ?? ajv.compile(withOwnReferences(schema));
    checks.set(text, check);
    if (check(value)) return [];
    return (check.errors ?? []).map(({ instancePath, message, params }) => ({ instancePath, message, params }));
  };
}

const DOCUMENT = "openapi.json";

/** Makes references absolute, so that the validator resolves them from any schema. */
const withOwnReferences = (schemas: object): object =>
  JSON.parse(JSON.stringify(schemas), (key, value: unknown) =>
    key === "$ref" && typeof value === "string" ? value.replace(refTo(""), `${DOCUMENT}#/$defs/`) : value,
  ) as object;
