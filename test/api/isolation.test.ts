import { mkdtemp } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { ROUTES } from "../../src/http/routes.ts";
import type { KeyedRoute } from "../../src/http/route.ts";
import { newId } from "../../src/lib/ids.ts";
import { SCOPES, type Scope } from "../../src/model/api-key.ts";
import { openTenants, type Tenants } from "../fuzz/tenants.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import type { Envelope, ErrorBody, MessageBody, PhoneMessageBody } from "../support/test-server.ts";
import { uploadMedia } from "../support/media-files.ts";
import { insertLinks } from "../support/links.ts";
import { insertAlert } from "../support/stored-alert.ts";
import { insertBind } from "../support/stored-bind.ts";
import { logIn } from "../support/session-user.ts";
import { openSink } from "../support/sink.ts";
import { onEach } from "../support/on-each.ts";

const KEYED = ROUTES.filter((route): route is KeyedRoute => route.scope !== null);
const nameOf = ({ method, path }: Pick<KeyedRoute, "method" | "path">): string => `${method} ${path}`;

const VICTIM_NUMBER = "15550177001";
const SCHEDULED_NUMBER = "15550177002";
const VICTIM_EMAIL = "victim@example.com";
const VICTIM_TEXT = "for the victim's eyes only";
const VICTIM_TARGET = "https://victim.example/private";
const ORDINARY = { sender: "HELIOG", to: "15550100100", text: "Hello", type: "TRANS" };
const CHAT = { from: "+15550177009", to: "15550100100", type: "template", templateName: "victims_own", accountId: 1 };
const RCS = { botId: "victims-bot", number: "+15550100100", type: "TRANS", templateName: "victims-own" };
const WAYS = {
  to: "15550100100",
  type: "TRANS",
  ways: [
    { channel: "rcs", botId: RCS.botId, templateName: RCS.templateName },
    { channel: "sms", sender: "HELIOG", text: "Hello" },
  ],
};
const OTP = { configId: "victims-own", to: "15550100100" };
const OTP_NUMBER = "15550177005";
const BLOCKED_PREFIX = "1555017";
const FROM_PHONE = { to: "victims-bot", channel: "rcs", accountId: 1 };

/** Data of one account that is tried with the key of the other. */
interface Loot {
  messageId: string;
  /** A message that waits and could still be cancelled. */
  scheduledId: string;
  /** The id that the simulated carrier gave it. */
  phoneMessageId: string;
  keyId: string;
  credentialId: string;
  hookId: string;
  bindId: string;
  agentSendId: string;
  audienceId: string;
  mediaId: string;
  alertId: string;
  contactImportId: string;
  conversationId: string;
  erasureId: string;
  /** A campaign to that audience. */
  audienceCampaignId: string;
  idempotencyKey: string;
  linkCode: string;
  linkTargetId: string;
  /** One of each kind. */
  recordIds: Record<string, string>;
  campaignId: string;
  topUpId: string;
  /** A message on its phone with something to tap. */
  richMessageId: string;
  /** A message from one of its phones. */
  inboundId: string;
  /** Something that an address of it was told. */
  callbackId: string;
  /** A user who can log in. */
  userId: string;
  /** A one-time password of it, with its right code. */
  verifyId: string;
  otp: string;
  /** A receipt of a carrier of it that matches no message. */
  receiptId: string;
}

interface Attempt {
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** 404, or the status of a response that contains only the caller's own data. */
  expected: number;
}

/** Fields that create a record of each type, besides its name, and a change to it. */
const RECORDS: Record<string, { name?: string; fields: object; change: object }> = {
  templates: { fields: { text: "Hello" }, change: { text: "Taken" } },
  bots: { fields: { title: "Mine" }, change: { title: "Taken" } },
  numbers: { name: "+15550177003", fields: { title: "Mine" }, change: { title: "Taken" } },
  senders: { fields: {}, change: { dltEntityId: "1101" } },
  carriers: { fields: {}, change: { messagesPerSecond: 1 } },
  routes: { fields: { carrier: "simulator", prefixes: ["3598"] }, change: { enabled: false } },
  prices: { fields: { prefix: "3598", creditsPerSegment: 9 }, change: { creditsPerSegment: 0 } },
  "verify-configs": { fields: { length: 7 }, change: { checks: 10 } },
  "verify-rules": { name: "99890", fields: { action: "block" }, change: { action: "allow" } },
  "alert-rules": { fields: { alert: "queue_age" }, change: { enabled: false } },
  webhooks: {
    fields: { channel: "sms", url: "http://127.0.0.1:9/", events: ["user_message"], enabled: false },
    change: { url: "https://intruder.example/" },
  },
  "dlr-configs": { fields: { url: "http://127.0.0.1:9/" }, change: { url: "https://intruder.example/" } },
  "canned-replies": { fields: { text: "Mine" }, change: { text: "Taken" } },
  segments: { fields: { tags: ["victim"] }, change: { tags: ["taken"] } },
};
const VICTIM_RECORD = "victims-own";

const recordAttacks = (
  kind: string,
  { name = VICTIM_RECORD, fields, change }: { name?: string; fields: object; change: object },
): typeof ATTACKS => {
  const path = `/api/${kind}`;
  const foreign = ({ recordIds }: Loot): string => `${path}/${recordIds[kind]}`;
  return {
    [`GET ${path}`]: () => [
      { path: `${path}?accountId=1`, expected: 200 },
      { path: `${path}?name=${encodeURIComponent(name)}`, expected: 200 },
      { path: `${path}?cursor=${encodeURIComponent(name.slice(0, -1))}`, expected: 200 },
    ],
    [`GET ${path}/:id`]: (loot) => [{ path: foreign(loot), expected: 404 }],
    // Has the name of the other account's record, which is free in this account.
    [`POST ${path}`]: (loot) => [
      { path, body: { ...fields, name, id: loot.recordIds[kind], accountId: 1 }, expected: 201 },
    ],
    [`PATCH ${path}/:id`]: (loot) => [{ path: foreign(loot), body: change, expected: 404 }],
    [`DELETE ${path}/:id`]: (loot) => [{ path: foreign(loot), expected: 404 }],
  };
};

/** Attacks on an endpoint that receives callbacks, besides those on every record. */
const endpointAttacks = (kind: string): typeof ATTACKS => {
  const foreign = ({ recordIds }: Loot): string => `/api/${kind}/${recordIds[kind]}`;
  return {
    [`POST /api/${kind}/:id/rotate-secret`]: (loot) => [
      { path: `${foreign(loot)}/rotate-secret`, body: { overlapHours: 0, accountId: 1 }, expected: 404 },
    ],
    [`POST /api/${kind}/:id/test`]: (loot) => [{ path: `${foreign(loot)}/test`, expected: 404 }],
    [`GET /api/${kind}/:id/preview`]: (loot) => [{ path: `${foreign(loot)}/preview`, expected: 404 }],
    [`GET /api/${kind}/:id/health`]: (loot) => [{ path: `${foreign(loot)}/health`, expected: 404 }],
    [`POST /api/${kind}/:id/recover`]: (loot) => [
      { path: `${foreign(loot)}/recover`, body: { since: 0, accountId: 1 }, expected: 404 },
    ],
  };
};

/** Requests to each route with data of another account. A route that is missing here fails the test below. */
const ATTACKS: Record<string, (loot: Loot) => Attempt[]> = {
  "POST /v1/sms": ({ idempotencyKey }) => [
    { path: "/v1/sms", body: ORDINARY, headers: { "idempotency-key": idempotencyKey }, expected: 200 },
    { path: "/v1/sms", body: { ...ORDINARY, accountId: 1, account_id: 1 }, expected: 200 },
  ],
  "POST /v1/sms/preview": () => [
    { path: "/v1/sms/preview", body: { ...ORDINARY, campaignName: "secret", accountId: 1 }, expected: 200 },
  ],
  "POST /v1/chatapp/preview": () => [
    { path: "/v1/chatapp/preview", body: { ...CHAT, campaignName: "secret", accountId: 1 }, expected: 200 },
    {
      path: "/v1/chatapp/preview",
      body: { ...CHAT, to: VICTIM_NUMBER, type: "text", text: { body: "Hi" } },
      expected: 403,
    },
  ],
  "POST /v1/rcs/preview": () => [
    { path: "/v1/rcs/preview", body: { ...RCS, campaignName: "secret", accountId: 1 }, expected: 200 },
  ],
  "POST /v1/chatapp": ({ idempotencyKey }) => [
    { path: "/v1/chatapp", body: CHAT, headers: { "idempotency-key": idempotencyKey }, expected: 200 },
    // The recipient wrote to the first account only, so the second may send no free-form message.
    { path: "/v1/chatapp", body: { ...CHAT, to: VICTIM_NUMBER, type: "text", text: { body: "Hi" } }, expected: 403 },
  ],
  "POST /v1/rcs": ({ idempotencyKey }) => [
    { path: "/v1/rcs", body: RCS, headers: { "idempotency-key": idempotencyKey }, expected: 200 },
    { path: "/v1/rcs", body: { ...RCS, accountId: 1 }, expected: 200 },
  ],
  "POST /v1/messages": ({ idempotencyKey }) => [
    { path: "/v1/messages", body: WAYS, headers: { "idempotency-key": idempotencyKey }, expected: 200 },
    { path: "/v1/messages", body: { ...WAYS, accountId: 1 }, expected: 200 },
  ],
  "POST /v1/verify": ({ idempotencyKey }) => [
    { path: "/v1/verify", body: OTP, headers: { "idempotency-key": idempotencyKey }, expected: 200 },
    // To the victim's number, whose own code stays good.
    { path: "/v1/verify", body: { ...OTP, to: OTP_NUMBER, accountId: 1 }, expected: 200 },
  ],
  "POST /v1/verify/validate": ({ verifyId, otp }) => [
    { path: "/v1/verify/validate", body: { verifyId, otp, accountId: 1 }, expected: 404 },
    { path: "/v1/verify/validate", body: { verifyId, otp: "000000" }, expected: 404 },
  ],
  "POST /v1/verify/:verifyId/outcome": ({ verifyId }) => [
    { path: `/v1/verify/${verifyId}/outcome`, body: { outcome: "used", accountId: 1 }, expected: 404 },
    { path: `/v1/verify/${verifyId}/outcome`, body: { outcome: "not-used" }, expected: 404 },
  ],
  "GET /v1/verify/:verifyId": ({ verifyId }) => [{ path: `/v1/verify/${verifyId}`, expected: 404 }],
  "GET /api/verifications": ({ verifyId }) => [
    { path: "/api/verifications?accountId=1", expected: 200 },
    { path: `/api/verifications?to=${OTP_NUMBER}&state=pending&until=1`, expected: 200 },
    { path: `/api/verifications?cursor=${verifyId.replace(/^./, "f")}&state=verified`, expected: 200 },
  ],
  "GET /api/event-types": () => [{ path: "/api/event-types?accountId=1", expected: 200 }],
  "GET /api/verify-funnel": () => [{ path: "/api/verify-funnel?from=0&accountId=1", expected: 200 }],
  "GET /api/verify-blocks": () => [{ path: "/api/verify-blocks?accountId=1", expected: 200 }],
  "DELETE /api/verify-blocks/:prefix": () => [{ path: `/api/verify-blocks/${BLOCKED_PREFIX}`, expected: 404 }],
  "GET /api/simulator/otp/latest": () => [
    { path: `/api/simulator/otp/latest?to=${VICTIM_NUMBER}&accountId=1`, expected: 404 },
  ],
  "GET /v1/messages": ({ messageId }) => [
    { path: "/v1/messages", expected: 200 },
    { path: `/v1/messages?recipient=${VICTIM_NUMBER}`, expected: 200 },
    { path: `/v1/messages?cursor=${nextAfter(messageId)}`, expected: 200 },
    { path: "/v1/messages?campaignName=secret&accountId=1", expected: 200 },
    { path: "/v1/messages?type=TRANS&templateName=autumn_sale&accountId=1", expected: 200 },
  ],
  "GET /v1/messages/:messageId": ({ messageId }) => [{ path: `/v1/messages/${messageId}`, expected: 404 }],
  "POST /v1/messages/:messageId/cancel": ({ scheduledId }) => [
    { path: `/v1/messages/${scheduledId}/cancel`, expected: 404 },
    { path: `/v1/messages/${scheduledId.replace(/:1$/, "")}/cancel`, expected: 404 },
  ],
  "GET /v1/inbound": ({ inboundId }) => [
    { path: "/v1/inbound?accountId=1", expected: 200 },
    { path: `/v1/inbound?from=${VICTIM_NUMBER}&to=HELIOG&channel=sms`, expected: 200 },
    { path: `/v1/inbound?cursor=${inboundId.replace(/^./, "f")}`, expected: 200 },
  ],
  "GET /v1/inbound/:id": ({ inboundId }) => [{ path: `/v1/inbound/${inboundId}`, expected: 404 }],
  "POST /v1/inbound/:id/read": ({ inboundId }) => [
    { path: `/v1/inbound/${inboundId}/read`, body: { accountId: 1 }, expected: 404 },
  ],
  "POST /v1/media": ({ mediaId }) => [
    { path: "/v1/media?accountId=1", body: { id: mediaId, accountId: 1 }, expected: 422 },
  ],
  "GET /v1/media": ({ mediaId }) => [
    { path: "/v1/media?accountId=1", expected: 200 },
    { path: `/v1/media?cursor=${mediaId.replace(/^./, "f")}&from=upload`, expected: 200 },
  ],
  "GET /v1/media/:id": ({ mediaId }) => [{ path: `/v1/media/${mediaId}`, expected: 404 }],
  "GET /v1/media/:id/content": ({ mediaId }) => [{ path: `/v1/media/${mediaId}/content`, expected: 404 }],
  "DELETE /v1/media/:id": ({ mediaId }) => [{ path: `/v1/media/${mediaId}`, expected: 404 }],
  "POST /v1/audiences": ({ audienceId }) => [
    { path: "/v1/audiences", body: { name: "Mine", size: 9, id: audienceId, accountId: 1 }, expected: 201 },
  ],
  "GET /v1/audiences": ({ audienceId }) => [
    { path: "/v1/audiences?accountId=1", expected: 200 },
    { path: `/v1/audiences?cursor=${audienceId.replace(/^./, "f")}&state=ready`, expected: 200 },
  ],
  "GET /v1/audiences/:id": ({ audienceId }) => [{ path: `/v1/audiences/${audienceId}`, expected: 404 }],
  "PATCH /v1/audiences/:id": ({ audienceId }) => [
    { path: `/v1/audiences/${audienceId}`, body: { name: "Taken", mapping: { number: "1" } }, expected: 404 },
  ],
  "DELETE /v1/audiences/:id": ({ audienceId }) => [{ path: `/v1/audiences/${audienceId}`, expected: 404 }],
  "POST /v1/audiences/:id/parts": ({ audienceId }) => [
    { path: `/v1/audiences/${audienceId}/parts`, body: { offset: 0, text: "a", accountId: 1 }, expected: 404 },
  ],
  "GET /v1/audiences/:id/faults": ({ audienceId }) => [{ path: `/v1/audiences/${audienceId}/faults`, expected: 404 }],
  "GET /v1/audiences/:id/recipients": ({ audienceId }) => [
    { path: `/v1/audiences/${audienceId}/recipients?cursor=0`, expected: 404 },
  ],
  "DELETE /v1/audience-numbers/:number": () => [{ path: `/v1/audience-numbers/${VICTIM_NUMBER}`, expected: 200 }],
  "GET /v1/conversations": ({ conversationId }) => [
    { path: "/v1/conversations?accountId=1&state=open", expected: 200 },
    { path: `/v1/conversations?cursor=1:9999999999999:${conversationId}`, expected: 200 },
  ],
  "GET /v1/conversations/unread-count": () => [{ path: "/v1/conversations/unread-count?accountId=1", expected: 200 }],
  "GET /v1/conversations/assignees": () => [{ path: "/v1/conversations/assignees?accountId=1", expected: 200 }],
  "GET /v1/conversations/:id": ({ conversationId }) => [{ path: `/v1/conversations/${conversationId}`, expected: 404 }],
  "PATCH /v1/conversations/:id": ({ conversationId }) => [
    { path: `/v1/conversations/${conversationId}`, body: { state: "closed", read: true }, expected: 404 },
  ],
  "GET /v1/conversations/:id/messages": ({ conversationId }) => [
    { path: `/v1/conversations/${conversationId}/messages`, expected: 404 },
  ],
  "POST /v1/conversations/:id/replies": ({ conversationId }) => [
    { path: `/v1/conversations/${conversationId}/replies`, body: { text: "Mine" }, expected: 404 },
  ],
  "GET /v1/contacts/:number": () => [{ path: `/v1/contacts/${VICTIM_NUMBER}`, expected: 404 }],
  "POST /v1/contacts": () => [{ path: "/v1/contacts", body: { number: "15550177044", accountId: 1 }, expected: 201 }],
  "GET /v1/contacts": () => [
    { path: "/v1/contacts?tag=victim&accountId=1", expected: 200 },
    { path: "/v1/contacts?cursor=1000000", expected: 200 },
  ],
  "PUT /v1/contacts/:number": () => [
    { path: "/v1/contacts/15550177044", body: { name: "Mine", accountId: 1 }, expected: 200 },
  ],
  "DELETE /v1/contacts/:number": () => [{ path: `/v1/contacts/${VICTIM_NUMBER}`, expected: 404 }],
  "GET /v1/contacts/:number/export": () => [{ path: `/v1/contacts/${VICTIM_NUMBER}/export`, expected: 404 }],
  "GET /v1/erasures/:id": ({ erasureId }) => [{ path: `/v1/erasures/${erasureId}`, expected: 404 }],
  "GET /v1/contact-attributes": () => [{ path: "/v1/contact-attributes?accountId=1", expected: 200 }],
  "POST /v1/contact-imports": ({ audienceId }) => [
    { path: "/v1/contact-imports", body: { audienceId, accountId: 1 }, expected: 400 },
  ],
  "GET /v1/contact-imports": ({ contactImportId }) => [
    { path: `/v1/contact-imports?cursor=${contactImportId.replace(/^./, "f")}&accountId=1`, expected: 200 },
  ],
  "GET /v1/contact-imports/:id": ({ contactImportId }) => [
    { path: `/v1/contact-imports/${contactImportId}`, expected: 404 },
  ],
  "POST /v1/campaigns": ({ audienceId }) => [
    {
      path: "/v1/campaigns",
      body: { name: "Mine", type: "TRANS", sender: "HELIOG", text: "Hello", audienceId, accountId: 1 },
      expected: 400,
    },
  ],
  "GET /v1/campaigns": ({ audienceCampaignId }) => [
    { path: "/v1/campaigns?accountId=1", expected: 200 },
    { path: `/v1/campaigns?cursor=${audienceCampaignId.replace(/^./, "f")}&state=running`, expected: 200 },
  ],
  "GET /v1/campaigns/:id": ({ audienceCampaignId }) => [{ path: `/v1/campaigns/${audienceCampaignId}`, expected: 404 }],
  "PATCH /v1/campaigns/:id": ({ audienceCampaignId }) => [
    { path: `/v1/campaigns/${audienceCampaignId}`, body: { name: "Taken", throttle: null }, expected: 404 },
  ],
  "POST /v1/campaigns/:id/schedule": ({ audienceCampaignId }) => [
    {
      path: `/v1/campaigns/${audienceCampaignId}/schedule`,
      body: { scheduledAt: Date.now() + 86_400_000 },
      expected: 404,
    },
  ],
  ...Object.fromEntries(
    ["start", "pause", "resume", "cancel", "duplicate"].map((action) => [
      `POST /v1/campaigns/:id/${action}`,
      ({ audienceCampaignId }: Loot) => [{ path: `/v1/campaigns/${audienceCampaignId}/${action}`, expected: 404 }],
    ]),
  ),
  "POST /v1/campaigns/:id/preview": ({ audienceCampaignId }) => [
    { path: `/v1/campaigns/${audienceCampaignId}/preview`, body: {}, expected: 404 },
  ],
  "GET /v1/campaigns/:id/report": ({ audienceCampaignId }) => [
    { path: `/v1/campaigns/${audienceCampaignId}/report`, expected: 404 },
  ],
  "GET /api/messages": ({ messageId }) => [
    { path: "/api/messages?accountId=1", expected: 200 },
    { path: `/api/messages?recipient=${VICTIM_NUMBER}`, expected: 200 },
    { path: `/api/messages?cursor=${nextAfter(messageId)}`, expected: 200 },
    { path: "/api/messages?type=TRANS", expected: 200 },
  ],
  "GET /api/message-count": ({ messageId }) => [
    { path: "/api/message-count?accountId=1", expected: 200 },
    { path: `/api/message-count?messageId=${messageId}`, expected: 200 },
    { path: `/api/message-count?recipient=${VICTIM_NUMBER}`, expected: 200 },
  ],
  "GET /api/messages/:messageId": ({ messageId }) => [{ path: `/api/messages/${messageId}`, expected: 404 }],
  "GET /api/users": ({ userId }) => [
    { path: "/api/users?accountId=1", expected: 200 },
    { path: `/api/users?cursor=${userId.replace(/^./, "0").replace(/.$/, "0")}`, expected: 200 },
  ],
  "GET /api/users/:id": ({ userId }) => [{ path: `/api/users/${userId}`, expected: 404 }],
  "POST /api/users": () => [
    { path: "/api/users", body: { email: "intruder-2@example.com", role: "owner", accountId: 1 }, expected: 201 },
    // An address of another account's user cannot be taken over.
    { path: "/api/users", body: { email: VICTIM_EMAIL, role: "owner", password: "correct horse" }, expected: 409 },
  ],
  "PATCH /api/users/:id": ({ userId }) => [
    { path: `/api/users/${userId}`, body: { disabled: true, accountId: 1 }, expected: 404 },
  ],
  "POST /api/users/:id/reset-password": ({ userId }) => [
    { path: `/api/users/${userId}/reset-password`, expected: 404 },
  ],
  "POST /api/users/:id/invite": ({ userId }) => [{ path: `/api/users/${userId}/invite`, expected: 404 }],
  "DELETE /api/users/:id": ({ userId }) => [{ path: `/api/users/${userId}`, expected: 404 }],
  "GET /api/audit": ({ userId }) => [
    { path: "/api/audit?accountId=1", expected: 200 },
    { path: `/api/audit?who=${userId}`, expected: 200 },
    { path: "/api/audit?cursor=ffffffff-ffff-7000-8000-000000000000", expected: 200 },
  ],
  "GET /api/keys": () => [{ path: "/api/keys?accountId=1", expected: 200 }],
  "POST /api/keys": () => [
    { path: "/api/keys", body: { name: "Mine", scopes: ["read"], accountId: 1 }, expected: 201 },
  ],
  "GET /api/keys/:id": ({ keyId }) => [{ path: `/api/keys/${keyId}`, expected: 404 }],
  "PATCH /api/keys/:id": ({ keyId }) => [{ path: `/api/keys/${keyId}`, body: { name: "Taken" }, expected: 404 }],
  "DELETE /api/keys/:id": ({ keyId }) => [{ path: `/api/keys/${keyId}`, expected: 404 }],
  "POST /api/keys/:id/rotate": ({ keyId }) => [
    { path: `/api/keys/${keyId}/rotate`, body: { overlapHours: 0 }, expected: 404 },
    { path: `/api/keys/${keyId}/rotate`, expected: 404 },
  ],
  "GET /api/requests": () => [{ path: "/api/requests?accountId=1&limit=200", expected: 200 }],
  "GET /api/credentials": () => [{ path: "/api/credentials?accountId=1", expected: 200 }],
  "POST /api/credentials": () => [
    { path: "/api/credentials", body: { kind: "kannel", name: "Mine", accountId: 1 }, expected: 201 },
  ],
  "GET /api/alerts": ({ alertId }) => [
    { path: "/api/alerts?accountId=1", expected: 200 },
    { path: `/api/alerts?cursor=${alertId.replace(/^./, "f")}&state=resolved`, expected: 200 },
  ],
  "GET /api/alerts/rules": () => [{ path: "/api/alerts/rules?accountId=1", expected: 200 }],
  "GET /api/alerts/:id": ({ alertId }) => [{ path: `/api/alerts/${alertId}`, expected: 404 }],
  "POST /api/alerts/:id/acknowledge": ({ alertId }) => [{ path: `/api/alerts/${alertId}/acknowledge`, expected: 404 }],
  "POST /api/alerts/:id/mute": ({ alertId }) => [
    { path: `/api/alerts/${alertId}/mute`, body: { minutes: 60, accountId: 1 }, expected: 404 },
  ],
  "GET /api/agent-sends": () => [{ path: "/api/agent-sends?accountId=1", expected: 200 }],
  "POST /api/agent-sends/:id/approve": ({ agentSendId }) => [
    { path: `/api/agent-sends/${agentSendId}/approve`, body: {}, expected: 403 },
  ],
  "POST /api/agent-sends/:id/decline": ({ agentSendId }) => [
    { path: `/api/agent-sends/${agentSendId}/decline`, body: {}, expected: 403 },
  ],
  "GET /api/identity-hooks": () => [{ path: "/api/identity-hooks?accountId=1", expected: 200 }],
  "POST /api/identity-hooks": () => [
    { path: "/api/identity-hooks", body: { product: "okta", configId: "default", accountId: 1 }, expected: 201 },
  ],
  "GET /api/identity-hooks/:id": ({ hookId }) => [{ path: `/api/identity-hooks/${hookId}`, expected: 404 }],
  "PATCH /api/identity-hooks/:id": ({ hookId }) => [
    { path: `/api/identity-hooks/${hookId}`, body: { name: "Taken" }, expected: 404 },
  ],
  "DELETE /api/identity-hooks/:id": ({ hookId }) => [{ path: `/api/identity-hooks/${hookId}`, expected: 404 }],
  "GET /api/smpp-binds": () => [{ path: "/api/smpp-binds?accountId=1", expected: 200 }],
  "GET /api/smpp-binds/:id/pdus": ({ bindId }) => [{ path: `/api/smpp-binds/${bindId}/pdus`, expected: 404 }],
  "DELETE /api/smpp-binds/:id": ({ bindId }) => [{ path: `/api/smpp-binds/${bindId}`, expected: 404 }],
  "GET /api/credentials/:id": ({ credentialId }) => [{ path: `/api/credentials/${credentialId}`, expected: 404 }],
  "PATCH /api/credentials/:id": ({ credentialId }) => [
    { path: `/api/credentials/${credentialId}`, body: { name: "Taken" }, expected: 404 },
  ],
  "DELETE /api/credentials/:id": ({ credentialId }) => [{ path: `/api/credentials/${credentialId}`, expected: 404 }],
  "GET /api/links": ({ linkTargetId }) => [
    { path: "/api/links?accountId=1", expected: 200 },
    { path: `/api/links?cursor=${nextAfter(linkTargetId)}`, expected: 200 },
  ],
  "GET /api/links/:id": ({ linkCode, linkTargetId }) => [
    { path: `/api/links/${linkCode}`, expected: 404 },
    { path: `/api/links/${linkTargetId}`, expected: 404 },
  ],
  "GET /api/campaigns": () => [
    { path: "/api/campaigns?accountId=1", expected: 200 },
    { path: "/api/campaigns?cursor=", expected: 200 },
  ],
  "GET /api/campaigns/:id": ({ campaignId }) => [{ path: `/api/campaigns/${campaignId}`, expected: 404 }],
  "POST /api/campaigns/:id/pause": ({ campaignId }) => [{ path: `/api/campaigns/${campaignId}/pause`, expected: 404 }],
  "POST /api/campaigns/:id/resume": ({ campaignId }) => [
    { path: `/api/campaigns/${campaignId}/resume`, expected: 404 },
  ],
  "POST /api/campaigns/:id/cancel": ({ campaignId }) => [
    { path: `/api/campaigns/${campaignId}/cancel`, expected: 404 },
  ],
  ...Object.assign({}, ...Object.entries(RECORDS).map(([kind, of]) => recordAttacks(kind, of))),
  ...endpointAttacks("webhooks"),
  ...endpointAttacks("dlr-configs"),
  "GET /api/carriers/:id/state": ({ recordIds }) => [
    { path: `/api/carriers/${recordIds["carriers"]}/state`, expected: 404 },
  ],
  "POST /api/carriers/:id/test": ({ recordIds }) => [
    { path: `/api/carriers/${recordIds["carriers"]}/test`, body: { accountId: 1 }, expected: 404 },
  ],
  "POST /api/templates/:id/submit": ({ recordIds }) => [
    { path: `/api/templates/${recordIds["templates"]}/submit`, body: { carrier: "simulator" }, expected: 404 },
  ],
  "POST /api/carriers/:id/templates": ({ recordIds }) => [
    { path: `/api/carriers/${recordIds["carriers"]}/templates`, expected: 404 },
  ],
  "POST /api/carriers/:id/reach": ({ recordIds }) => [
    {
      path: `/api/carriers/${recordIds["carriers"]}/reach`,
      body: { botId: "heliograph", numbers: ["+15550100100"] },
      expected: 404,
    },
  ],
  "POST /api/carriers/:id/send": ({ recordIds }) => [
    {
      path: `/api/carriers/${recordIds["carriers"]}/send`,
      body: { sender: "HELIOG", to: "15550100100", text: "Hello", type: "TRANS" },
      expected: 404,
    },
  ],
  "GET /api/callbacks": ({ recordIds, messageId, callbackId }) => [
    { path: "/api/callbacks?accountId=1", expected: 200 },
    { path: `/api/callbacks?endpointId=${recordIds["dlr-configs"]}`, expected: 200 },
    { path: `/api/callbacks?messageId=${messageId}`, expected: 200 },
    { path: `/api/callbacks?cursor=${callbackId.replace(/^./, "f")}`, expected: 200 },
  ],
  "GET /api/callbacks/:id": ({ callbackId }) => [{ path: `/api/callbacks/${callbackId}`, expected: 404 }],
  "POST /api/callbacks/:id/resend": ({ callbackId }) => [
    { path: `/api/callbacks/${callbackId}/resend`, expected: 404 },
  ],
  "GET /v1/events": ({ callbackId }) => [
    { path: "/v1/events?accountId=1", expected: 200 },
    { path: "/v1/events?from=0", expected: 200 },
    { path: `/v1/events?cursor=${callbackId.slice(0, 24)}000000000000`, expected: 200 },
  ],
  "GET /api/receipts": ({ receiptId }) => [
    { path: "/api/receipts?accountId=1", expected: 200 },
    { path: `/api/receipts?carrier=${VICTIM_RECORD}`, expected: 200 },
    { path: `/api/receipts?cursor=${Number(receiptId) + 1}`, expected: 200 },
  ],
  "POST /api/receipts/replay": ({ receiptId }) => [
    { path: "/api/receipts/replay", body: { accountId: 1 }, expected: 200 },
    { path: "/api/receipts/replay", body: { carrier: VICTIM_RECORD }, expected: 200 },
    { path: "/api/receipts/replay", body: { cursor: String(Number(receiptId) + 1) }, expected: 200 },
  ],
  "POST /api/receipts/:id/replay": ({ receiptId }) => [{ path: `/api/receipts/${receiptId}/replay`, expected: 404 }],
  "DELETE /api/receipts/:id": ({ receiptId }) => [{ path: `/api/receipts/${receiptId}`, expected: 404 }],
  "GET /api/optouts": () => [
    { path: "/api/optouts?accountId=1", expected: 200 },
    { path: `/api/optouts?cursor=${Number(VICTIM_NUMBER) - 1}`, expected: 200 },
  ],
  "GET /api/optout-count": () => [{ path: "/api/optout-count?accountId=1", expected: 200 }],
  "POST /api/optouts": () => [{ path: "/api/optouts", body: { number: "15550100100", accountId: 1 }, expected: 200 }],
  "GET /api/optouts/:number": () => [{ path: `/api/optouts/${VICTIM_NUMBER}`, expected: 404 }],
  "DELETE /api/optouts/:number": () => [{ path: `/api/optouts/${VICTIM_NUMBER}`, expected: 404 }],
  "GET /api/credits": () => [{ path: "/api/credits?accountId=1", expected: 200 }],
  "POST /api/credits": ({ topUpId }) => [
    { path: "/api/credits", body: { amount: -1, accountId: 1 }, expected: 403 },
    { path: "/api/credits", body: { amount: 5, id: topUpId, accountId: 1 }, expected: 403 },
  ],
  "GET /api/credits/ledger": ({ topUpId }) => [
    { path: "/api/credits/ledger?accountId=1", expected: 200 },
    { path: `/api/credits/ledger?cursor=${topUpId.replace(/^./, "f")}:0:top-up`, expected: 200 },
  ],
  "GET /api/account": () => [{ path: "/api/account?id=1", expected: 200 }],
  "PATCH /api/account": () => [
    { path: "/api/account", body: { id: 1, name: "default", numbers: "strict" }, expected: 200 },
  ],
  "GET /api/config": () => [{ path: "/api/config?accountId=1&account=default", expected: 200 }],
  // Records missing from the file are removed, in the caller's account only.
  "PUT /api/config": () => [
    { path: "/api/config", body: { senders: [], bots: [], settings: { records: "learn" } }, expected: 200 },
    { path: "/api/config?accountId=1", body: { prices: [], templates: [] }, expected: 200 },
  ],
  "GET /api/simulator/phones": () => [
    { path: "/api/simulator/phones", expected: 200 },
    { path: `/api/simulator/phones?cursor=${Number(VICTIM_NUMBER) - 1}`, expected: 200 },
  ],
  "POST /api/simulator/phones/clear": () => [
    { path: "/api/simulator/phones/clear", body: { receivedBefore: 9_000_000_000_000, accountId: 1 }, expected: 200 },
  ],
  "GET /api/simulator/phones/:number/messages": ({ phoneMessageId }) => [
    { path: `/api/simulator/phones/${VICTIM_NUMBER}/messages`, expected: 200 },
    {
      path: `/api/simulator/phones/${VICTIM_NUMBER}/messages?cursor=${phoneMessageId.replace(/^./, "f")}`,
      expected: 200,
    },
  ],
  "POST /api/simulator/phones/:number/reply": () => [
    { path: `/api/simulator/phones/${VICTIM_NUMBER}/reply`, body: { text: "STOP", accountId: 1 }, expected: 400 },
    {
      path: `/api/simulator/phones/${SCHEDULED_NUMBER}/reply`,
      body: { to: "HELIOG", text: "STOP", accountId: 1 },
      expected: 200,
    },
  ],
  "POST /api/simulator/phones/:number/tap": ({ richMessageId: messageId }) => [
    { path: `/api/simulator/phones/${VICTIM_NUMBER}/tap`, body: { accountId: 1 }, expected: 404 },
    { path: `/api/simulator/phones/${VICTIM_NUMBER}/tap`, body: { messageId }, expected: 404 },
  ],
  "POST /api/simulator/phones/:number/read": ({ richMessageId: messageId }) => [
    { path: `/api/simulator/phones/${VICTIM_NUMBER}/read`, body: { accountId: 1 }, expected: 404 },
    { path: `/api/simulator/phones/${VICTIM_NUMBER}/read`, body: { messageId }, expected: 404 },
  ],
  "POST /api/simulator/phones/:number/file": () => [
    {
      path: `/api/simulator/phones/${SCHEDULED_NUMBER}/file`,
      body: { ...FROM_PHONE, fileName: "a", mimeType: "a/b", fileUri: "https://files.example/a", fileSizeBytes: 1 },
      expected: 200,
    },
  ],
  "POST /api/simulator/phones/:number/location": () => [
    {
      path: `/api/simulator/phones/${SCHEDULED_NUMBER}/location`,
      body: { ...FROM_PHONE, latitude: 1, longitude: 2 },
      expected: 200,
    },
  ],
  "GET /api/simulator/messages/wait": ({ messageId }) => [
    { path: `/api/simulator/messages/wait?to=${VICTIM_NUMBER}&timeout=0`, expected: 200 },
    { path: `/api/simulator/messages/wait?to=${VICTIM_NUMBER}&messageId=${messageId}&timeout=0`, expected: 200 },
  ],
  "GET /api/stats": () => [
    { path: "/api/stats?accountId=1", expected: 200 },
    { path: "/api/stats?from=0&step=day&to=86400000", expected: 200 },
  ],
  "GET /api/stats/breakdown": () => [
    { path: "/api/stats/breakdown?by=carrier&accountId=1", expected: 200 },
    { path: "/api/stats/breakdown?by=country&from=0&step=day&to=86400000", expected: 200 },
  ],
  "GET /api/live": () => [
    { path: "/api/live?after=00000000-0000-7000-8000-000000000000", expected: 200 },
    { path: "/api/live", headers: { "last-event-id": "00000000-0000-7000-8000-000000000000" }, expected: 200 },
  ],
  "GET /api/system": () => [{ path: "/api/system", expected: 200 }],
  "GET /api/simulator/events": () => [
    {
      path: "/api/simulator/events",
      headers: { "last-event-id": "00000000-0000-7000-8000-000000000000" },
      expected: 200,
    },
  ],
  "GET /api/simulator/chaos": () => [{ path: "/api/simulator/chaos", expected: 200 }],
  "PUT /api/simulator/chaos": () => [
    { path: "/api/simulator/chaos", body: { deliveredPercent: 0, accountId: 1 }, expected: 200 },
  ],
};

/** The request log without the paths, which have the ids that the intruder itself named in this test. */
const withoutPaths = (body: string): string =>
  JSON.stringify(JSON.parse(body), (name, value: unknown) => (name === "path" ? null : value));

/** A place just behind a message in a listing that goes backwards, so that the message would come next. */
const nextAfter = (messageId: string): string => messageId.replace(/:1$/, ":2");

/** The routes that let test keys in, with the scope that they need there; all others refuse them. */
const TEST_KEYS_MAY: Record<string, Scope> = {
  "POST /v1/sms": "sms",
  "POST /v1/sms/preview": "sms",
  "POST /v1/chatapp": "chatapp",
  "POST /v1/chatapp/preview": "chatapp",
  "POST /v1/rcs/preview": "rcs",
  "POST /v1/rcs": "rcs",
  "POST /v1/messages": "sms",
  "POST /v1/verify": "verify",
  "POST /v1/verify/validate": "verify",
  "POST /v1/verify/:verifyId/outcome": "verify:custom",
  "GET /v1/verify/:verifyId": "verify",
  "POST /v1/messages/:messageId/cancel": "sms",
  "POST /v1/inbound/:id/read": "chatapp",
  "POST /v1/media": "chatapp",
  "DELETE /v1/media/:id": "chatapp",
  "POST /v1/audiences": "sms",
  "PATCH /v1/audiences/:id": "sms",
  "DELETE /v1/audiences/:id": "sms",
  "POST /v1/audiences/:id/parts": "sms",
  "PATCH /v1/conversations/:id": "sms",
  "POST /v1/conversations/:id/replies": "sms",
  "POST /v1/contacts": "sms",
  "PUT /v1/contacts/:number": "sms",
  "DELETE /v1/contacts/:number": "sms",
  "POST /v1/contact-imports": "sms",
  "POST /v1/campaigns": "sms",
  "PATCH /v1/campaigns/:id": "sms",
  "POST /v1/campaigns/:id/schedule": "sms",
  "POST /v1/campaigns/:id/start": "sms",
  "POST /v1/campaigns/:id/preview": "sms",
  "POST /v1/campaigns/:id/pause": "sms",
  "POST /v1/campaigns/:id/resume": "sms",
  "POST /v1/campaigns/:id/cancel": "sms",
  "POST /v1/campaigns/:id/duplicate": "sms",
  ...Object.fromEntries(
    [
      "GET /v1/messages",
      "GET /v1/messages/:messageId",
      "GET /v1/inbound",
      "GET /v1/inbound/:id",
      "GET /v1/events",
      "GET /v1/media",
      "GET /v1/media/:id",
      "GET /v1/media/:id/content",
      "GET /v1/audiences",
      "GET /v1/audiences/:id",
      "GET /v1/audiences/:id/faults",
      "GET /v1/audiences/:id/recipients",
      "GET /v1/conversations",
      "GET /v1/conversations/unread-count",
      "GET /v1/conversations/:id",
      "GET /v1/conversations/:id/messages",
      "GET /v1/contacts",
      "GET /v1/contacts/:number",
      "GET /v1/contact-attributes",
      "GET /v1/contact-imports",
      "GET /v1/contact-imports/:id",
      "GET /v1/campaigns",
      "GET /v1/campaigns/:id",
      "GET /v1/campaigns/:id/report",
      "GET /api/messages",
      "GET /api/messages/:messageId",
      "GET /api/message-count",
      "GET /api/live",
      "GET /api/verifications",
      "GET /api/requests",
      "GET /api/verify-funnel",
      "GET /api/callbacks",
      "GET /api/callbacks/:id",
      "POST /api/callbacks/:id/resend",
      "GET /api/links",
      "GET /api/links/:id",
      ...["templates", "bots", "numbers", "senders", "segments"].flatMap((kind) => [
        `GET /api/${kind}`,
        `GET /api/${kind}/:id`,
      ]),
      "GET /api/simulator/phones",
      "GET /api/simulator/phones/:number/messages",
      ...["reply", "tap", "read", "file", "location"].map((verb) => `POST /api/simulator/phones/:number/${verb}`),
      "GET /api/simulator/messages/wait",
      "GET /api/simulator/otp/latest",
      "GET /api/simulator/events",
      "GET /api/simulator/chaos",
    ].map((name) => [name, "read"] as const),
  ),
};

const attemptOf = (route: KeyedRoute): { path: string; body: unknown } => ({
  path: route.path.replace(":number", VICTIM_NUMBER).replaceAll(/:\w+/g, "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47"),
  body: route.method === "GET" || route.method === "DELETE" ? undefined : {},
});

test("every route with a key has an attack in this test", () => {
  expect(Object.keys(ATTACKS).toSorted()).toEqual(KEYED.map(nameOf).toSorted());
});

describe.each(ENGINES)("accounts on %s", (engine) => {
  let tenants: Tenants;
  let loot: Loot;
  let intruder: string;
  let intruderAccount: number;

  beforeAll(async () => {
    const folder = await mkdtemp(join(inject("scratchFolder"), "media-"));
    tenants = await openTenants(engine, undefined, { env: { HELIOGRAPH_MEDIA_DIR: folder } });
    const { server } = tenants;
    const added = await tenants.addAccount("intruder");
    intruder = added.minted.secret;
    intruderAccount = added.accountId;
    const sent = await server.request<Envelope>(
      "POST",
      "/v1/sms",
      { ...ORDINARY, to: VICTIM_NUMBER, text: VICTIM_TEXT, campaignName: "secret" },
      { "idempotency-key": "order-1" },
    );
    const messageId = sent.body.data[0]?.messageId ?? "";
    const arrived = await server.request<{ data: PhoneMessageBody }>(
      "GET",
      `/api/simulator/messages/wait?to=${VICTIM_NUMBER}`,
    );
    const keys = await server.request<{ data: { id: string }[] }>("GET", "/api/keys");
    const credential = await server.request<{ id: string }>("POST", "/api/credentials", {
      kind: "kannel",
      name: VICTIM_RECORD,
    });
    const hook = await server.request<{ id: string }>("POST", "/api/identity-hooks", {
      product: "okta",
      configId: "default",
      name: VICTIM_RECORD,
    });
    const bind = await insertBind(server, credential.body.id);
    const { requestId, codes } = await insertLinks(tenants.execute, { targets: [VICTIM_TARGET] });
    const recordIds: Record<string, string> = {};
    const sink = await openSink();
    for (const [kind, { name = VICTIM_RECORD, fields }] of Object.entries(RECORDS)) {
      const own = kind === "dlr-configs" ? { ...fields, url: sink.url } : fields;
      const made = await server.request<{ id: string }>("POST", `/api/${kind}`, { ...own, name });
      recordIds[kind] = made.body.id;
    }
    await server.request("POST", "/api/optouts", { number: VICTIM_NUMBER, note: VICTIM_TEXT });
    const campaigns = await server.request<{ data: { id: string; name: string }[] }>("GET", "/api/campaigns");
    const topUpId = newId(Date.now());
    await server.asOwner("POST", "/api/credits", { amount: 100, note: VICTIM_TEXT, id: topUpId });
    const scheduled = await server.send({ to: SCHEDULED_NUMBER, sendAt: Date.now() + 3_600_000 });
    const answered = await server.request<{ id: string }>("POST", `/api/simulator/phones/${VICTIM_NUMBER}/reply`, {
      text: VICTIM_TEXT,
    });
    await server.request("POST", `/api/simulator/phones/${VICTIM_NUMBER}/reply`, {
      to: CHAT.from,
      channel: "chatapp",
      text: VICTIM_TEXT,
    });
    const victim = { email: VICTIM_EMAIL, role: "owner", password: "correct horse battery" };
    const person = await server.request<{ id: string }>("POST", "/api/users", victim);
    await logIn(server.url, victim);
    const richMessageId = `${newId(Date.now())}:1`;
    await server.app.store.receiveOnPhones([
      {
        accountId: 1,
        id: newId(Date.now()),
        number: VICTIM_NUMBER,
        sender: RCS.botId,
        channel: "rcs",
        content: {
          botId: RCS.botId,
          templateName: RCS.templateName,
          kind: "rich",
          text: VICTIM_TEXT,
          suggestions: [{ type: "reply", text: VICTIM_TEXT, data: VICTIM_TEXT }],
          cards: [],
          params: [],
        },
        messageId: richMessageId,
        receivedAt: Date.now(),
        carrier: "simulator",
        reportsDueAt: null,
        test: false,
      },
    ]);
    const agentSendId = newId(Date.now());
    await tenants.server.app.store.addAgentSend({
      accountId: 1,
      id: agentSendId,
      keyId: keys.body.data[0]?.id ?? "",
      digest: "digest",
      operation: "sms",
      body: null,
      recipients: 1,
      credits: 1,
      state: "waiting",
      reason: null,
      result: null,
      address: "127.0.0.1",
      createdAt: Date.now(),
      expiresAt: Date.now() + 3_600_000,
      decidedBy: null,
      decidedAt: null,
    });
    const file = `phone,note\n${VICTIM_NUMBER},${VICTIM_TEXT}\n`;
    const audience = await server.request<{ id: string }>("POST", "/v1/audiences", {
      name: VICTIM_TEXT,
      size: file.length,
    });
    const audienceId = audience.body.id;
    const mediaId = await uploadMedia(server, { name: VICTIM_TEXT });
    await server.request("POST", `/v1/audiences/${audienceId}/parts`, { offset: 0, text: file });
    await eventually(
      () => server.request<{ state: string }>("GET", `/v1/audiences/${audienceId}`),
      ({ body }) => body.state === "ready",
    );
    await server.request("PUT", `/v1/contacts/${VICTIM_NUMBER}`, {
      name: VICTIM_TEXT,
      tags: ["victim"],
      attributes: { "secret attribute": VICTIM_TEXT },
    });
    const contactImport = await server.request<{ id: string }>("POST", "/v1/contact-imports", { audienceId });
    await eventually(
      () => server.request<{ state: string }>("GET", `/v1/contact-imports/${contactImport.body.id}`),
      ({ body }) => body.state === "finished",
    );
    const conversations = await server.request<{ data: { id: string }[] }>("GET", "/v1/conversations");
    const erasure = await server.request<{ erasure: { id: string } }>("DELETE", "/v1/contacts/15550177099?erase=true");
    await eventually(
      () => server.request<{ state: string }>("GET", `/v1/erasures/${erasure.body.erasure.id}`),
      ({ body }) => body.state === "finished",
    );
    const audienceCampaign = await server.request<{ id: string }>("POST", "/v1/campaigns", {
      name: "of the audience",
      type: "TRANS",
      sender: "HELIOG",
      text: VICTIM_TEXT,
      audienceId,
    });
    const audienceCampaignId = audienceCampaign.body.id;
    const scheduledAt = Date.now() + 10 * 86_400_000;
    await server.request("POST", `/v1/campaigns/${audienceCampaignId}/schedule`, { scheduledAt });
    loot = {
      messageId,
      scheduledId: scheduled.body.data[0]?.messageId ?? "",
      phoneMessageId: arrived.body.data.id,
      keyId: keys.body.data[0]?.id ?? "",
      credentialId: credential.body.id,
      hookId: hook.body.id,
      bindId: bind.id,
      agentSendId,
      audienceId,
      mediaId,
      alertId: await insertAlert(tenants.server, 1),
      contactImportId: contactImport.body.id,
      conversationId: conversations.body.data[0]?.id ?? "",
      erasureId: erasure.body.erasure.id,
      audienceCampaignId,
      idempotencyKey: "order-1",
      linkCode: codes[0]?.[0] ?? "",
      linkTargetId: `${requestId}:1`,
      recordIds,
      campaignId: campaigns.body.data.find(({ name }) => name === "secret")?.id ?? "",
      topUpId,
      richMessageId,
      inboundId: answered.body.id,
      callbackId: "",
      userId: person.body.id,
      verifyId: "",
      otp: "",
      receiptId: await plantReceipt(),
    };
    // Learned records are written a moment later and must not look like a change by a user.
    await eventually(
      async () => (await server.app.store.listCatalog()).map(({ name }) => name),
      (written) => written.includes("secret"),
    );
    await server.settled(messageId);
    const code = await server.request<{ data: string }>("POST", "/v1/verify", { ...OTP, to: OTP_NUMBER });
    loot.verifyId = code.body.data;
    await server.settled(`${loot.verifyId}:1`);
    const latest = await server.request<{ otp: string }>("GET", `/api/simulator/otp/latest?to=${OTP_NUMBER}`);
    loot.otp = latest.body.otp;
    await tenants.execute(`insert into verify_prefixes (account_id, prefix, blocked_at, blocked_until, strikes, sends)
      values (1, '${BLOCKED_PREFIX}', 1, ${Date.now() + 3_600_000}, 1, 20) returning prefix`);
    // Told, and at its end: what waits would change by itself.
    const told = await server.send({ to: "15550177004" });
    const toldId = told.body.data[0]?.messageId ?? "";
    const path = `/api/dlr-configs/${recordIds["dlr-configs"]}`;
    const { body } = await eventually(
      () => server.request<{ data: { id: string; state: string }[] }>("GET", `/api/callbacks?messageId=${toldId}`),
      (answer) => answer.body.data[0]?.state === "delivered",
    );
    loot.callbackId = body.data[0]?.id ?? "";
    await server.request("PATCH", path, { enabled: false });
    await eventually(
      async () => (await server.request<{ lastSuccessAt: number | null }>("GET", `${path}/health`)).body.lastSuccessAt,
      (at) => at !== null,
    );
    await sink.close();
  });
  afterAll(() => tenants.close());

  async function plantReceipt(): Promise<string> {
    const { store } = tenants.server.app;
    const receipt = { carrier: `1/${VICTIM_RECORD}`, carrierMessageId: "victims-id", recipient: VICTIM_NUMBER };
    await store.storeUnmatched(
      [{ ...receipt, state: "expired", errorCode: null, description: VICTIM_TEXT, at: 1 }],
      Date.now(),
    );
    return String((await store.listUnmatched({ accountId: 1 }, null, 1)).rows[0]?.id);
  }

  /** Everything of the first account that another could show or change. */
  async function belongings(): Promise<string> {
    const tables = [
      "messages",
      "api_keys",
      "credentials",
      "smpp_binds",
      "media",
      "media_uploads",
      "audiences",
      "audience_parts",
      "audience_recipients",
      "audience_faults",
      "conversations",
      "contacts",
      "contact_attributes",
      "contact_imports",
      "campaigns",
      "phones",
      "phone_messages",
      "idempotency",
      "link_targets",
      "links",
      "clicks",
      "catalog",
      "optouts",
      "inbound",
      "callbacks",
      "endpoint_health",
      "verifications",
      "verify_sources",
      "verify_numbers",
      "verify_tallies",
      "verify_prefixes",
      "balances",
      "ledger",
      "parked_receipts",
      "users",
      "sessions",
      "recovery_codes",
      "invitations",
      "audit",
    ];
    const rows = [await tenants.execute("select * from accounts where id = 1")];
    for (const table of tables)
      rows.push(await tenants.execute(`select * from ${table} where account_id = 1 order by 1, 2, 3`));
    return JSON.stringify(rows, (name, value: unknown) => (name === "last_used_at" ? null : value));
  }

  /** Everything of the first account that is live. */
  async function liveBelongings(): Promise<string> {
    const tables = {
      messages: "test = 0",
      media: "test = 0",
      audiences: "test = 0",
      campaigns: "test = 0",
      audience_recipients: "audience_id in (select id from audiences where test = 0)",
      inbound: "test = 0",
      phone_messages: "test = 0",
      verifications: "mode = 'live'",
      verify_numbers: "mode = 'live'",
      catalog: "origin = 'authored'",
      api_keys: "true",
      credentials: "true",
      links: "n > 0 and request_id in (select request_id from messages where test = 0)",
      optouts: "true",
      endpoint_health: "true",
      balances: "true",
      ledger: "true",
      parked_receipts: "true",
      users: "true",
      sessions: "true",
    };
    const rows = [];
    for (const [table, condition] of Object.entries(tables))
      rows.push(await tenants.execute(`select * from ${table} where account_id = 1 and ${condition} order by 1, 2, 3`));
    const [account] = (await tenants.execute("select settings from accounts where id = 1")) as { settings: string }[];
    // The chaos settings belong to the simulator, so they are not compared.
    const { chaos: _, ...settings } = JSON.parse(account?.settings ?? "{}") as Record<string, unknown>;
    return JSON.stringify([settings, rows], (name, value: unknown) => (name === "last_used_at" ? null : value));
  }

  test("a route shows and changes nothing of another account", async () => {
    let before = await belongings();
    await onEach(
      KEYED.map((route) => [nameOf(route), route] as const),
      async ([name, route]) => {
        for (const { path, body, headers, expected } of ATTACKS[name]?.(loot) ?? []) {
          const answer = await ask(tenants.server.url, route.method, path, body, { apikey: intruder, ...headers });
          expect({ path, status: answer.status }).toEqual({ path, status: expected });
          expect(answer.headers["idempotent-replayed"]).toBeUndefined();
          const shown = name === "GET /api/requests" ? withoutPaths(answer.body) : answer.body;
          expect(shown).not.toContain(VICTIM_TEXT);
          expect(shown).not.toContain(loot.messageId);
          expect(shown).not.toContain(loot.keyId);
          expect(shown).not.toContain(loot.credentialId);
          expect(shown).not.toContain(loot.hookId);
          expect(shown).not.toContain(loot.bindId);
          expect(shown).not.toContain(loot.agentSendId);
          expect(shown).not.toContain(loot.audienceId);
          expect(shown).not.toContain(loot.mediaId);
          expect(shown).not.toContain(loot.alertId);
          expect(shown).not.toContain(loot.audienceCampaignId);
          expect(shown).not.toContain(VICTIM_NUMBER);
          expect(shown).not.toContain(VICTIM_TARGET);
          expect(shown).not.toContain(VICTIM_EMAIL);
          const { campaignId, inboundId, richMessageId, callbackId, recordIds, userId } = loot;
          const ids = [
            userId,
            campaignId,
            inboundId,
            richMessageId,
            callbackId.slice(0, 36),
            ...Object.values(recordIds),
          ];
          for (const id of ids) expect(shown).not.toContain(id);
        }
        const previous = before;
        before = await belongings();
        expect(before).toBe(previous);
      },
    );
  });

  test("the account still sees all its own records", async () => {
    const read = await tenants.server.request<MessageBody & { text: string }>("GET", `/v1/messages/${loot.messageId}`);
    expect(read.body).toMatchObject({ recipient: VICTIM_NUMBER, text: VICTIM_TEXT, status: "Delivered" });
    const listed = await tenants.server.request<{ data: MessageBody[] }>(
      "GET",
      `/v1/messages?recipient=${VICTIM_NUMBER}`,
    );
    expect(listed.body.data.map((message) => message.messageId)).toEqual([loot.messageId]);
    const link = await tenants.server.request<{ url: string }>("GET", `/api/links/${loot.linkCode}`);
    expect(link.body.url).toBe(VICTIM_TARGET);
    const { verifyId, otp } = loot;
    const verified = await tenants.server.request("POST", "/v1/verify/validate", { verifyId, otp });
    expect(verified.status).toBe(200);
    const answer = await tenants.server.request<{ text: string }>("GET", `/v1/inbound/${loot.inboundId}`);
    expect(answer.body).toMatchObject({ text: VICTIM_TEXT, messageId: loot.messageId });
  });

  test("a route answers a missing, wrong, expired and revoked key with the same 401", async () => {
    const expired = await tenants.addKey(1, { expiresAt: Date.now() - 1000 });
    const revoked = await tenants.addKey(1);
    await tenants.server.request("DELETE", `/api/keys/${revoked.key.id}`);
    await onEach(
      KEYED.map((route) => [nameOf(route), route] as const),
      async ([, route]) => {
        const { path, body } = attemptOf(route);
        const answers = [];
        for (const headers of [{}, { apikey: "wrong" }, { apikey: expired.secret }, { apikey: revoked.secret }]) {
          // An address of its own: bad keys are counted by address.
          answers.push(
            await ask(tenants.server.url, route.method, path, body, {
              ...headers,
              "x-forwarded-for": `10.1.0.${KEYED.indexOf(route)}`,
            }),
          );
        }
        for (const answer of answers) {
          expect(answer.status).toBe(401);
          expect(errorOf(answer.body).code).toBe("UNAUTHORIZED");
        }
        expect(new Set(answers.map(({ body: answered }) => withoutRequestId(answered))).size).toBe(1);
        expect(new Set(answers.map(({ headers }) => Object.keys(headers).join())).size).toBe(1);
      },
    );
  });

  test("every route decides about test keys, and refuses them unless it names the scope they need", async () => {
    const older = await tenants.addKey(1, { scopes: SCOPES }, "test");
    const withoutScope = new Map(
      await Promise.all(
        SCOPES.map(async (scope) => {
          const scopes = SCOPES.filter((other) => other !== scope);
          return [scope, await tenants.addKey(1, { scopes }, "test")] as const;
        }),
      ),
    );
    await tenants.reload();
    const before = await belongings();
    for (const route of KEYED) {
      // `TEST_KEYS_MAY` is written by hand, so that a route opened to test keys by mistake fails here.
      expect({ route: nameOf(route), testKeys: route.testKeys }).toEqual({
        route: nameOf(route),
        testKeys: TEST_KEYS_MAY[nameOf(route)] ?? null,
      });
      const { path, body } = attemptOf(route);
      const key = route.testKeys === null ? older : withoutScope.get(route.testKeys);
      const answer = await ask(tenants.server.url, route.method, path, body, { apikey: key?.secret ?? "" });
      expect({ route: nameOf(route), status: answer.status, code: errorOf(answer.body).code }).toEqual({
        route: nameOf(route),
        status: 403,
        code: route.testKeys === null ? "TEST_KEY_NOT_ALLOWED" : "INSUFFICIENT_SCOPE",
      });
    }
    expect(await belongings()).toBe(before);
  });

  test("a route shows a test key nothing live, and changes nothing live with it", async () => {
    let before = await liveBelongings();
    await onEach(
      KEYED.filter(({ testKeys }) => testKeys !== null).map((route) => [nameOf(route), route] as const),
      async ([_name, route]) => {
        for (const { path, body, headers } of ATTACKS[nameOf(route)]?.(loot) ?? []) {
          const answer = await ask(tenants.server.url, route.method, path, body, {
            apikey: tenants.server.testKey,
            ...headers,
          });
          expect(answer.status).toBeLessThan(500);
          const asked = JSON.stringify({ path, body });
          const { messageId, scheduledId, inboundId, richMessageId, verifyId, otp } = loot;
          const secrets = [VICTIM_TEXT, VICTIM_TARGET, otp, messageId, scheduledId, inboundId, richMessageId, verifyId];
          // A failure may repeat what was asked.
          const shown = secrets.filter((secret) => !asked.includes(secret) && answer.body.includes(secret));
          expect({ path, shown }).toEqual({ path, shown: [] });
        }
        const previous = before;
        before = await liveBelongings();
        expect(before).toBe(previous);
      },
    );
  });

  test("every route requires its own scope", async () => {
    const keys = new Map(
      await Promise.all(
        SCOPES.map(
          async (scope) =>
            [scope, await tenants.addKey(1, { scopes: SCOPES.filter((other) => other !== scope) })] as const,
        ),
      ),
    );
    await tenants.reload();
    for (const route of KEYED) {
      const { path, body } = attemptOf(route);
      const answer = await ask(tenants.server.url, route.method, path, body, {
        apikey: keys.get(route.scope)?.secret ?? "",
      });
      expect({ route: nameOf(route), status: answer.status, code: errorOf(answer.body).code }).toEqual({
        route: nameOf(route),
        status: 403,
        code: "INSUFFICIENT_SCOPE",
      });
    }
  });

  test("a suspended account gets 403 on every route, and its keys work again afterwards", async () => {
    await tenants.execute(`update accounts set suspended = 1 where id = ${intruderAccount}`);
    await tenants.reload();
    for (const route of KEYED) {
      const { path, body } = attemptOf(route);
      const answer = await ask(tenants.server.url, route.method, path, body, { apikey: intruder });
      expect({ route: nameOf(route), status: answer.status, code: errorOf(answer.body).code }).toEqual({
        route: nameOf(route),
        status: 403,
        code: "ACCOUNT_SUSPENDED",
      });
    }
    await tenants.execute(`update accounts set suspended = 0 where id = ${intruderAccount}`);
    await tenants.reload();
    expect((await ask(tenants.server.url, "GET", "/api/account", undefined, { apikey: intruder })).status).toBe(200);
  });
});

const errorOf = (body: string): ErrorBody => (JSON.parse(body) as { error: ErrorBody }).error;

const withoutRequestId = (body: string): string => body.replace(/"requestId":"[0-9a-f-]{36}"/, '"requestId":""');

interface PlainAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

const EVENTS_READ_MS = 700;

/** A request as bytes; of a stream of events, what comes in the time in which a message would have come. */
function ask(
  url: string,
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<PlainAnswer> {
  const content = body === undefined ? undefined : JSON.stringify(body);
  const { promise, resolve, reject } = Promise.withResolvers<PlainAnswer>();
  const request = httpRequest(url + path, {
    method,
    agent: false,
    headers: {
      ...headers,
      ...(content === undefined
        ? {}
        : { "content-type": "application/json", "content-length": Buffer.byteLength(content) }),
    },
  });
  request.on("error", reject);
  request.on("response", (response) => {
    let received = "";
    const finish = (): void => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: received });
    response.setEncoding("utf8").on("data", (chunk: string) => (received += chunk));
    response.on("end", finish).on("error", finish);
    if (response.headers["content-type"] === "text/event-stream") setTimeout(() => response.destroy(), EVENTS_READ_MS);
    response.on("close", finish);
  });
  request.end(content);
  return promise;
}
