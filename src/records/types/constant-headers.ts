import { nullable, Type } from "../../lib/schema.ts";
import type { ConstantHeader } from "../../model/callback.ts";
import { headerNameFault } from "../../model/placeholder.ts";
import type { Fault } from "../../model/problem.ts";
import { encryptSecret, type SecretFactory } from "../record-type.ts";
import { isSameHost } from "./http-connection-rules.ts";

const FIELD = "constantHeaders";
const HEADERS_MAX = 10;
const VALUE_MAX = 4096;
/** Printable ASCII without spaces at the ends: anything else could end the header or be read differently by the receiver. */
const VALUE = /^[!-~]([ -~]*[!-~])?$/;

/** A header of a request: a value to store, or none to keep the stored one. */
interface GivenHeader {
  name: string;
  value?: string | null;
}

/** Headers after reading: a value is new, and without one the stored one is kept. */
export interface WithNewHeaders {
  newHeaders?: readonly GivenHeader[];
}

export const constantHeaders = Type.Default(
  Type.Array(
    Type.Object({
      name: Type.String({ description: "Name of the header, such as Authorization." }),
      value: Type.Optional(
        nullable(
          Type.String(),
          `1 to ${VALUE_MAX} printable ASCII characters. Stored encrypted and never returned: responses have null. Null keeps the stored value.`,
        ),
      ),
    }),
    {
      maxItems: HEADERS_MAX,
      description: `Headers that every request has, such as Authorization; at most ${HEADERS_MAX}. Stored values are kept only while the URL stays on the same host.`,
    },
  ),
  [],
);

interface StoredEndpoint {
  url: string;
  constantHeaders?: readonly ConstantHeader[];
}

interface Reading {
  given: readonly (GivenHeader | ConstantHeader)[];
  url: string;
  /** The endpoint whose values are kept; null for a new one. */
  stored: StoredEndpoint | null;
  /** Names of other headers of the endpoint. */
  others: readonly string[];
  faults: Fault[];
}

/** Checks the headers of a request, and returns them with the values that are new. */
export function readConstantHeaders({ given, url, stored, others, faults }: Reading): readonly GivenHeader[] {
  const fault = (place: string, message: string): void => void faults.push({ parameter: FIELD + place, message });
  const kept = stored && isSameHost(stored.url, url) ? namesOf(stored) : new Set();
  const seen = new Set(others.map((name) => name.toLowerCase()));
  return given.map((header, index) => {
    const { name } = header;
    const value = "value" in header ? (header.value ?? null) : null;
    const place = `[${index}]`;
    const nameFault = headerNameFault(name);
    if (nameFault !== null) fault(`${place}.name`, nameFault.replace(/^key/, "name"));
    else if (seen.has(name.toLowerCase()))
      fault(`${place}.name`, "Another header has this name; capitals make no difference: give each header once.");
    seen.add(name.toLowerCase());
    if (value === null && !kept.has(name.toLowerCase()))
      fault(`${place}.value`, "value is required: a stored value is only sent to the host it was given for.");
    if (value !== null && (value.length > VALUE_MAX || !VALUE.test(value)))
      fault(
        `${place}.value`,
        `value is 1 to ${VALUE_MAX} printable ASCII characters, without spaces at the beginning or end.`,
      );
    return { name, value };
  });
}

const namesOf = ({ constantHeaders: stored = [] }: StoredEndpoint): Set<string> =>
  new Set(stored.map(({ name }) => name.toLowerCase()));

/** Encrypts new values and keeps the others. */
export function completeConstantHeaders(
  given: readonly GivenHeader[],
  before: StoredEndpoint | null,
  secrets: SecretFactory,
): ConstantHeader[] {
  const kept = new Map((before?.constantHeaders ?? []).map(({ name, sealed }) => [name.toLowerCase(), sealed]));
  return given.flatMap(({ name, value }) => {
    const stored = kept.get(name.toLowerCase());
    const sealed = typeof value === "string" ? encryptSecret(value, stored, secrets) : stored;
    return sealed === undefined ? [] : [{ name, sealed }];
  });
}
