import { Type } from "../../lib/schema.ts";
import type { DlrConfigContent, WebhookContent } from "../../model/callback.ts";
import type { SecretFactory } from "../record-type.ts";
import { completeConstantHeaders, type WithNewHeaders } from "./constant-headers.ts";

const URL_MAX = 2000;
const SCHEMES = new Set(["http:", "https:"]);

export const url = Type.String({
  maxLength: URL_MAX,
  description: `URL to call: http or https, at most ${URL_MAX} characters, without user name.`,
  check: urlFault,
});

export const enabled = Type.Default(
  Type.Boolean({
    description: "True if events are sent. Defaults to true. Events while disabled are not sent later.",
  }),
  true,
);

function urlFault(written: string): string | null {
  // The URL parser drops line ends and surrounding spaces, but the stored URL must be the one that is called.
  const address = /[\s\p{Cc}]/u.test(written) ? null : URL.parse(written);
  if (!address || !SCHEMES.has(address.protocol))
    return "url must begin with http:// or https://, such as https://shop.example/callbacks.";
  if (address.username === "" && address.password === "") return null;
  return "url must not contain a user name or password: requests are signed with the secret instead.";
}

/**
 * Generates the secret of a new endpoint, keeps that of an existing one, encrypts new header values, and clears the disabled
 * reason when it is enabled.
 */
export function completeEndpoint<C extends WebhookContent | DlrConfigContent>(
  read: C & WithNewHeaders,
  before: C | null,
  secretFactory: SecretFactory,
): C {
  const { newHeaders = [], ...content } = read;
  return {
    ...(content as unknown as C),
    constantHeaders: completeConstantHeaders(newHeaders, before, secretFactory),
    disabledReason: content.enabled ? null : (before?.disabledReason ?? null),
    secrets: before?.secrets ?? [{ sealed: secretFactory.generate(), until: null }],
  };
}

/** Everything except secrets: the signing secret is shown once, and values of headers never. */
export function showEndpoint({ secrets, constantHeaders = [], ...shown }: WebhookContent | DlrConfigContent): object {
  const ends = secrets.flatMap(({ until }) => until ?? []);
  return {
    ...shown,
    constantHeaders: constantHeaders.map(({ name }) => ({ name, value: null })),
    oldSecretUntil: ends.length === 0 ? null : Math.max(...ends),
  };
}

/** Secret content, compared to find changes. The signing secret has operations of its own. */
export const hiddenInEndpoint = ({ constantHeaders = [] }: WebhookContent | DlrConfigContent): unknown =>
  constantHeaders.map(({ sealed }) => sealed);

/** Content of a new record before it is completed. */
export const NEW_ENDPOINT = { disabledReason: null, secrets: [] } as const;
