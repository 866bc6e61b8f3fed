import { Type, type Schema } from "../../lib/schema.ts";
import type { DlrConfigContent, WebhookContent } from "../../model/callback.ts";
import type { Fault } from "../../model/problem.ts";
import type { Mint } from "../record-kind.ts";

/** What people give of an address that is called: the rest follows, or is kept for them. */
export type EndpointFields<C> = Omit<C, "disabledReason" | "secrets">;

const URL_MAX = 2000;
const SCHEMES = new Set(["http:", "https:"]);

export const url: Schema = Type.String({
  description: `The address that is called: http or https, at most ${URL_MAX} characters, without a user name in it.`,
});

export const enabled: Schema = Type.Boolean({
  description: "Whether it is told anything; true unless given. What happens while it is off is not told later.",
});

/** What is wrong with an address goes to `faults`. */
export function checkUrl(written: string, faults: Fault[]): void {
  const message = faultOf(written);
  if (message !== null) faults.push({ parameter: "url", message });
}

function faultOf(written: string): string | null {
  if (written.length > URL_MAX) return `url has at most ${URL_MAX} characters, and this one has ${written.length}.`;
  // The parser drops line ends and spaces at the ends, and what is stored is to be what is called.
  const address = /[\s\p{Cc}]/u.test(written) ? null : URL.parse(written);
  if (!address || !SCHEMES.has(address.protocol))
    return "url is an address that begins with http:// or https://, like https://shop.example/callbacks.";
  if (address.username === "" && address.password === "") return null;
  return "url has a user name or password in it: leave it out, since every request is signed with the secret.";
}

/** Adds what nobody writes: the secret that it is born with stays, and why it was switched off until it is on again. */
export const completeEndpoint = <C extends WebhookContent | DlrConfigContent>(
  content: C,
  before: C | null,
  mint: Mint,
): C => ({
  ...content,
  disabledReason: content.enabled ? null : (before?.disabledReason ?? null),
  secrets: before?.secrets ?? [{ sealed: mint.make(), until: null }],
});

/** Everything but the secrets, which are shown once. */
export function showEndpoint({ secrets, ...shown }: WebhookContent | DlrConfigContent): object {
  const ends = secrets.flatMap(({ until }) => until ?? []);
  return { ...shown, oldSecretUntil: ends.length === 0 ? null : Math.max(...ends) };
}

/** What a newly read record has until it is completed. */
export const INCOMPLETE = { disabledReason: null, secrets: [] } as const;
