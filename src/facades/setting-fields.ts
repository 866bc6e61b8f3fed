import { Type } from "../lib/schema.ts";
import type { StoredCredential } from "../model/credential.ts";
import { ROUTE_CLASSES, type RouteClass } from "../model/message.ts";
import { readCallbackUrl } from "./http-callback.ts";

const NAME_MAX = 100;
const NUMBERS_MAX = 1000;

/** A setting that is an address to call. */
export const addressField = (use: string) => {
  const rule = `It is an http:// or https:// address without user name, of at most 2000 characters: ${use}`;
  return Type.String({ description: use, error: rule, check: (url) => (readCallbackUrl(url) === null ? rule : null) });
};

/** A setting that is a number, a sender or another short name. */
export const nameField = (use: string) =>
  Type.String({
    minLength: 1,
    maxLength: NAME_MAX,
    description: use,
    error: `It is a text of 1 to ${NAME_MAX} characters: ${use}`,
  });

export const numbersField = (each: string) =>
  Type.Array(nameField(each), {
    maxItems: NUMBERS_MAX,
    description: "Only inbound messages to these go there; empty for all.",
    error: `inboundNumbers is a list of at most ${NUMBERS_MAX} texts: ${each}`,
  });

export const methodField = Type.Union([Type.Literal("GET"), Type.Literal("POST")], {
  description: "HTTP method of the webhook for inbound messages.",
  error: "inboundMethod is GET or POST.",
});

/** APIs of other products do not name the class of a message. */
export const classField = Type.Union(
  ROUTE_CLASSES.map((each) => Type.Literal(each)),
  { description: "Class of text messages.", error: `type is one of ${ROUTE_CLASSES.join(", ")}.` },
);

type Settings = Pick<StoredCredential, "settings">;

/** A stored setting that is a text; they were checked when they were stored. */
export function textSetting({ settings }: Settings, name: string): string | null {
  const value = settings[name];
  return typeof value === "string" ? value : null;
}

export function listSetting({ settings }: Settings, name: string): readonly string[] {
  const value = settings[name];
  return Array.isArray(value) ? value.map(String) : [];
}

export const classSetting = (credential: Settings): RouteClass =>
  ROUTE_CLASSES.find((known) => known === textSetting(credential, "type")) ?? "TRANS";
