import type { Encryption } from "../lib/encryption.ts";
import type { ConstantHeader, WebhookRequest } from "../model/callback.ts";

interface WithHeaders {
  constantHeaders?: readonly ConstantHeader[];
}

/** The request with the constant headers of its endpoint. */
export function withConstantHeaders(
  request: WebhookRequest,
  { constantHeaders = [] }: WithHeaders,
  { decrypt }: Pick<Encryption, "decrypt">,
): WebhookRequest {
  if (constantHeaders.length === 0) return request;
  const headers = constantHeaders.map(({ name, sealed }) => [name, decrypt(sealed)] as const);
  return { ...request, headers: { ...request.headers, ...Object.fromEntries(headers) } };
}

const MASKED = "***";

/** The request for display: the values of constant headers are never shown. */
export function maskConstantHeaders(request: WebhookRequest, { constantHeaders = [] }: WithHeaders): WebhookRequest {
  const masked = constantHeaders.map(({ name }) => [name, MASKED] as const);
  return { ...request, headers: { ...request.headers, ...Object.fromEntries(masked) } };
}
