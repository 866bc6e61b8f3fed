export { Heliograph, type CheckedVerification, type StartedVerification } from "./client.ts";
export { ApiError, ConnectionError, HeliographError, TimeoutError, WebhookVerificationError } from "./errors.ts";
export { PagedList, type Page } from "./pages.ts";
export type * from "./schema.ts";
export type { CallOptions, HeliographOptions } from "./transport.ts";
export {
  verifyWebhook,
  type WebhookEvent,
  type WebhookHeaders,
  type WebhookOptions,
  type WebhookPayload,
} from "./webhook.ts";
