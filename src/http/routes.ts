import { CODE_PATTERN } from "../links/code.ts";
import type { Role } from "../model/account.ts";
import type { Scope } from "../model/api-key.ts";
import { getAccount, patchAccount } from "./admin/account.ts";
import { alertRuleRoutes } from "./admin/alert-rules.ts";
import { alertRoutes } from "./admin/alerts.ts";
import { agentSendRoutes } from "./admin/agent-sends.ts";
import { auditSummaries, listAudit } from "./admin/audit.ts";
import { botRoutes } from "./admin/bots.ts";
import { getCallback, listCallbacks, resendCallback } from "./admin/callbacks.ts";
import { cancelCampaign, getCampaign, listCampaigns, pauseCampaign, resumeCampaign } from "./admin/campaigns.ts";
import { cannedReplyRoutes } from "./admin/canned-replies.ts";
import { carrierRoutes } from "./admin/carriers.ts";
import { reachOfCarrier } from "./admin/carrier-reach.ts";
import { sendThroughCarrier } from "./admin/carrier-send.ts";
import { pullCarrierTemplates } from "./admin/carrier-templates.ts";
import { carrierStateRoutes } from "./admin/carrier-state.ts";
import { clearPhones } from "./admin/clear-phones.ts";
import { getConfig, putConfig } from "./admin/config.ts";
import { credentialRoutes } from "./admin/credentials.ts";
import { identityHookRoutes } from "./admin/identity-hooks.ts";
import { creditRoutes } from "./admin/credits.ts";
import { previewMedia } from "./admin/media-preview.ts";
import { deleteKey, getKey, listKeys, patchKey, postKey, rotateKeyRoute } from "./admin/keys.ts";
import { dlrConfigRoutes } from "./admin/dlr-configs.ts";
import { getLink, listLinks } from "./admin/links.ts";
import { getOperatorMessage, listOperatorMessages } from "./admin/messages.ts";
import { liveRoute } from "./admin/live.ts";
import { numberRoutes } from "./admin/numbers.ts";
import { optOutRoutes } from "./admin/optouts.ts";
import { priceRoutes } from "./admin/prices.ts";
import { receiptRoutes } from "./admin/receipts.ts";
import { listRequests } from "./admin/requests.ts";
import { routeRoutes } from "./admin/routes.ts";
import { segmentRoutes } from "./admin/segments.ts";
import { senderRoutes } from "./admin/senders.ts";
import { sessionRoutes } from "./admin/sessions.ts";
import { sessionSecurityRoutes } from "./admin/session-security.ts";
import { getSession, logInRoute, logOutRoute } from "./admin/session.ts";
import {
  readOnPhone,
  replyFromPhone,
  sendFileFromPhone,
  sendLocationFromPhone,
  tapOnPhone,
} from "./admin/simulator-answers.ts";
import { getChaos, listPhoneMessages, listPhones, putChaos, waitForMessage } from "./admin/simulator.ts";
import { simulatorEvents } from "./admin/simulator-events.ts";
import { latestOtp } from "./admin/simulator-otp.ts";
import { smppBindRoutes } from "./admin/smpp-binds.ts";
import { statsBreakdownRoute } from "./admin/stats-breakdown.ts";
import { statsRoute } from "./admin/stats.ts";
import { systemRoute } from "./admin/system.ts";
import { submitChatTemplate } from "./admin/submit-template.ts";
import { templateRoutes } from "./admin/templates.ts";
import { liftVerifyBlock, listVerifications, listVerifyBlocks } from "./admin/verifications.ts";
import { listEventTypes } from "./admin/event-types.ts";
import { acceptInvitationRoute } from "./admin/invitations.ts";
import { userRoutes } from "./admin/users.ts";
import { getVerifyFunnel } from "./admin/verify-funnel.ts";
import { verifyConfigRoutes } from "./admin/verify-configs.ts";
import { verifyRuleRoutes } from "./admin/verify-rules.ts";
import { webhookRoutes } from "./admin/webhooks.ts";
import { dashboardRoutes } from "./dashboard-assets/dashboard.ts";
import { docsRoutes } from "./openapi/docs.ts";
import { healthz, getMetrics, readyz } from "./health.ts";
import { actionOf } from "./auth/audit-entry.ts";
import { isPersonal, roleOf, type Route } from "./route.ts";
import { carrierCallbackRoutes } from "./carrier-callbacks.ts";
import { shortLinkRoutes } from "./short-link.ts";
import { mediaRoutes, signedMedia } from "./public/media.ts";
import { audienceRoutes } from "./public/audiences.ts";
import { campaignRoutes } from "./public/campaigns.ts";
import { contactImportRoutes } from "./public/contact-imports.ts";
import { contactRoutes } from "./public/contacts.ts";
import { cancelMessages } from "./public/cancel.ts";
import { conversationRoutes } from "./public/conversations.ts";
import { replyRoute } from "./public/replies.ts";
import { exportContact } from "./public/contact-export.ts";
import { getErasure } from "./public/erasures.ts";
import { sendChat } from "./public/chatapp.ts";
import { listEvents } from "./public/events.ts";
import { getInbound, listInbound, readInbound } from "./public/inbound.ts";
import { countMessages, getMessage, listMessages } from "./public/messages.ts";
import { sendMessage } from "./public/send-message.ts";
import { previewChat, previewRcs, previewSms } from "./public/preview.ts";
import { sendRcs } from "./public/rcs.ts";
import { sendSms } from "./public/sms.ts";
import { getVerification, postOutcome, sendOtp, validateOtp } from "./public/verify.ts";

/** All operations with their summaries, for the audit log; a function, because the log is one of them. */
function* namedOperations(): Iterable<readonly [string, string]> {
  for (const route of ROUTES) yield [actionOf(route), route.summary];
}

/** Access of a route: the scope that an API key needs ("-": no key), and the lowest role of a logged-in person. */
export type RouteRow = readonly [
  method: Route["method"],
  path: string,
  scope: Scope | "-",
  /** "self": any logged-in user, about their own session. "public": no credentials. */
  role: Role | "self" | "public",
  route: Route | readonly Route[],
];

/** The operations of the API, in the order of the reference at `/docs`. */
// prettier-ignore
const OPERATION_ROWS: readonly RouteRow[] = [
  // Method  Path                                           Key scope  Role      Route, or the group that contains it
  ["POST",   "/v1/sms",                                     "sms",     "member", sendSms],
  ["POST",   "/v1/sms/preview",                             "sms",     "member", previewSms],
  ["POST",   "/v1/chatapp",                                 "chatapp", "member", sendChat],
  ["POST",   "/v1/chatapp/preview",                         "chatapp", "member", previewChat],
  ["POST",   "/v1/rcs",                                     "rcs",     "member", sendRcs],
  ["POST",   "/v1/rcs/preview",                             "rcs",     "member", previewRcs],
  ["POST",   "/v1/verify",                                  "verify",  "member", sendOtp],
  ["POST",   "/v1/verify/validate",                         "verify",  "member", validateOtp],
  ["GET",    "/v1/verify/:verifyId",                        "verify",  "viewer", getVerification],
  ["POST",   "/v1/verify/:verifyId/outcome",                "verify:custom", "member", postOutcome],
  ["POST",   "/v1/messages",                                "sms",     "member", sendMessage],
  ["GET",    "/v1/messages",                                "read",    "viewer", listMessages],
  ["GET",    "/v1/messages/:messageId",                     "read",    "viewer", getMessage],
  ["POST",   "/v1/messages/:messageId/cancel",              "sms",     "member", cancelMessages],
  ["GET",    "/v1/inbound",                                 "read",    "viewer", listInbound],
  ["GET",    "/v1/inbound/:id",                             "read",    "viewer", getInbound],
  ["POST",   "/v1/inbound/:id/read",                        "chatapp", "member", readInbound],
  ["GET",    "/v1/conversations",                           "read",    "viewer", conversationRoutes],
  ["GET",    "/v1/conversations/unread-count",              "read",    "viewer", conversationRoutes],
  ["GET",    "/v1/conversations/assignees",                 "read",    "viewer", conversationRoutes],
  ["GET",    "/v1/conversations/:id",                       "read",    "viewer", conversationRoutes],
  ["PATCH",  "/v1/conversations/:id",                       "sms",     "member", conversationRoutes],
  ["GET",    "/v1/conversations/:id/messages",              "read",    "viewer", conversationRoutes],
  ["POST",   "/v1/conversations/:id/replies",               "sms",     "member", replyRoute],
  ["GET",    "/v1/events",                                  "read",    "viewer", listEvents],
  ["POST",   "/v1/media",                                   "chatapp", "member", mediaRoutes],
  ["GET",    "/v1/media",                                   "read",    "viewer", mediaRoutes],
  ["GET",    "/v1/media/:id",                               "read",    "viewer", mediaRoutes],
  ["GET",    "/v1/media/:id/content",                       "read",    "viewer", mediaRoutes],
  ["DELETE", "/v1/media/:id",                               "chatapp", "member", mediaRoutes],
  ["POST",   "/v1/audiences",                               "sms",     "member", audienceRoutes],
  ["GET",    "/v1/audiences",                               "read",    "viewer", audienceRoutes],
  ["GET",    "/v1/audiences/:id",                           "read",    "viewer", audienceRoutes],
  ["PATCH",  "/v1/audiences/:id",                           "sms",     "member", audienceRoutes],
  ["DELETE", "/v1/audiences/:id",                           "sms",     "member", audienceRoutes],
  ["POST",   "/v1/audiences/:id/parts",                     "sms",     "member", audienceRoutes],
  ["GET",    "/v1/audiences/:id/faults",                    "read",    "viewer", audienceRoutes],
  ["GET",    "/v1/audiences/:id/recipients",                "read",    "viewer", audienceRoutes],
  ["DELETE", "/v1/audience-numbers/:number",                "manage",  "member", audienceRoutes],
  ["POST",   "/v1/contacts",                                "sms",     "member", contactRoutes],
  ["GET",    "/v1/contacts",                                "read",    "viewer", contactRoutes],
  ["GET",    "/v1/contacts/:number",                        "read",    "viewer", contactRoutes],
  ["PUT",    "/v1/contacts/:number",                        "sms",     "member", contactRoutes],
  ["DELETE", "/v1/contacts/:number",                        "sms",     "member", contactRoutes],
  ["GET",    "/v1/contacts/:number/export",                 "manage",  "owner",  exportContact],
  ["GET",    "/v1/erasures/:id",                            "read",    "viewer", getErasure],
  ["GET",    "/v1/contact-attributes",                      "read",    "viewer", contactRoutes],
  ["POST",   "/v1/contact-imports",                        "sms",     "member", contactImportRoutes],
  ["GET",    "/v1/contact-imports",                        "read",    "viewer", contactImportRoutes],
  ["GET",    "/v1/contact-imports/:id",                    "read",    "viewer", contactImportRoutes],
  ["POST",   "/v1/campaigns",                               "sms",     "member", campaignRoutes],
  ["GET",    "/v1/campaigns",                               "read",    "viewer", campaignRoutes],
  ["GET",    "/v1/campaigns/:id",                           "read",    "viewer", campaignRoutes],
  ["PATCH",  "/v1/campaigns/:id",                           "sms",     "member", campaignRoutes],
  ["POST",   "/v1/campaigns/:id/schedule",                  "sms",     "member", campaignRoutes],
  ["POST",   "/v1/campaigns/:id/preview",                   "sms",     "member", campaignRoutes],
  ["POST",   "/v1/campaigns/:id/start",                     "sms",     "member", campaignRoutes],
  ["POST",   "/v1/campaigns/:id/pause",                     "sms",     "member", campaignRoutes],
  ["POST",   "/v1/campaigns/:id/resume",                    "sms",     "member", campaignRoutes],
  ["POST",   "/v1/campaigns/:id/cancel",                    "sms",     "member", campaignRoutes],
  ["POST",   "/v1/campaigns/:id/duplicate",                 "sms",     "member", campaignRoutes],
  ["GET",    "/v1/campaigns/:id/report",                    "read",    "viewer", campaignRoutes],
  ["GET",    "/api/messages",                               "manage",  "viewer", listOperatorMessages],
  ["GET",    "/api/messages/:messageId",                    "manage",  "viewer", getOperatorMessage],
  ["GET",    "/api/message-count",                          "manage",  "viewer", countMessages],
  ["POST",   "/api/session",                                "-",       "public", logInRoute],
  ["GET",    "/api/session",                                "-",       "self",   getSession],
  ["DELETE", "/api/session",                                "-",       "self",   logOutRoute],
  ["PATCH",  "/api/session/password",                       "-",       "self",   sessionSecurityRoutes],
  ["POST",   "/api/session/totp",                           "-",       "self",   sessionSecurityRoutes],
  ["PUT",    "/api/session/totp",                           "-",       "self",   sessionSecurityRoutes],
  ["DELETE", "/api/session/totp",                           "-",       "self",   sessionSecurityRoutes],
  ["GET",    "/api/sessions",                               "-",       "self",   sessionRoutes],
  ["DELETE", "/api/sessions/:id",                           "-",       "self",   sessionRoutes],
  ["POST",   "/api/invitations/accept",                     "-",       "public", acceptInvitationRoute],
  ["GET",    "/api/users",                                  "manage",  "owner",  userRoutes],
  ["GET",    "/api/users/:id",                              "manage",  "owner",  userRoutes],
  ["POST",   "/api/users",                                  "manage",  "owner",  userRoutes],
  ["PATCH",  "/api/users/:id",                              "manage",  "owner",  userRoutes],
  ["POST",   "/api/users/:id/reset-password",               "manage",  "owner",  userRoutes],
  ["POST",   "/api/users/:id/invite",                       "manage",  "owner",  userRoutes],
  ["DELETE", "/api/users/:id",                              "manage",  "owner",  userRoutes],
  ["GET",    "/api/stats",                                  "read",    "viewer", statsRoute],
  ["GET",    "/api/stats/breakdown",                        "read",    "viewer", statsBreakdownRoute],
  ["GET",    "/api/live",                                   "read",    "viewer", liveRoute],
  ["GET",    "/api/audit",                                  "manage",  "owner",  listAudit(auditSummaries(namedOperations))],
  ["GET",    "/api/keys",                                   "manage",  "viewer", listKeys],
  ["POST",   "/api/keys",                                   "manage",  "owner",  postKey],
  ["GET",    "/api/keys/:id",                               "manage",  "viewer", getKey],
  ["PATCH",  "/api/keys/:id",                               "manage",  "owner",  patchKey],
  ["DELETE", "/api/keys/:id",                               "manage",  "owner",  deleteKey],
  ["POST",   "/api/keys/:id/rotate",                        "manage",  "owner",  rotateKeyRoute],
  ["GET",    "/api/agent-sends",                            "manage",  "viewer", agentSendRoutes],
  ["POST",   "/api/agent-sends/:id/approve",                "-",       "member", agentSendRoutes],
  ["POST",   "/api/agent-sends/:id/decline",                "-",       "member", agentSendRoutes],
  ["GET",    "/api/requests",                               "manage",  "viewer", listRequests],
  ["GET",    "/api/credentials",                            "manage",  "viewer", credentialRoutes],
  ["POST",   "/api/credentials",                            "manage",  "owner",  credentialRoutes],
  ["GET",    "/api/credentials/:id",                        "manage",  "viewer", credentialRoutes],
  ["PATCH",  "/api/credentials/:id",                        "manage",  "owner",  credentialRoutes],
  ["DELETE", "/api/credentials/:id",                        "manage",  "owner",  credentialRoutes],
  ["GET",    "/api/identity-hooks",                         "manage",  "viewer", identityHookRoutes],
  ["POST",   "/api/identity-hooks",                         "manage",  "owner",  identityHookRoutes],
  ["GET",    "/api/identity-hooks/:id",                     "manage",  "viewer", identityHookRoutes],
  ["PATCH",  "/api/identity-hooks/:id",                     "manage",  "owner",  identityHookRoutes],
  ["DELETE", "/api/identity-hooks/:id",                     "manage",  "owner",  identityHookRoutes],
  ["GET",    "/api/smpp-binds",                             "manage",  "viewer", smppBindRoutes],
  ["GET",    "/api/smpp-binds/:id/pdus",                    "manage",  "viewer", smppBindRoutes],
  ["DELETE", "/api/smpp-binds/:id",                         "manage",  "member", smppBindRoutes],
  ["GET",    "/api/campaigns",                              "manage",  "viewer", listCampaigns],
  ["GET",    "/api/campaigns/:id",                          "manage",  "viewer", getCampaign],
  ["POST",   "/api/campaigns/:id/pause",                    "manage",  "member", pauseCampaign],
  ["POST",   "/api/campaigns/:id/resume",                   "manage",  "member", resumeCampaign],
  ["POST",   "/api/campaigns/:id/cancel",                   "manage",  "member", cancelCampaign],
  ["GET",    "/api/templates",                              "manage",  "viewer", templateRoutes],
  ["GET",    "/api/templates/:id",                          "manage",  "viewer", templateRoutes],
  ["POST",   "/api/templates",                              "manage",  "member", templateRoutes],
  ["PATCH",  "/api/templates/:id",                          "manage",  "member", templateRoutes],
  ["DELETE", "/api/templates/:id",                          "manage",  "member", templateRoutes],
  ["POST",   "/api/templates/:id/submit",                   "manage",  "member", submitChatTemplate],
  ["GET",    "/api/bots",                                   "manage",  "viewer", botRoutes],
  ["GET",    "/api/bots/:id",                               "manage",  "viewer", botRoutes],
  ["POST",   "/api/bots",                                   "manage",  "member", botRoutes],
  ["PATCH",  "/api/bots/:id",                               "manage",  "member", botRoutes],
  ["DELETE", "/api/bots/:id",                               "manage",  "member", botRoutes],
  ["GET",    "/api/numbers",                                "manage",  "viewer", numberRoutes],
  ["GET",    "/api/numbers/:id",                            "manage",  "viewer", numberRoutes],
  ["POST",   "/api/numbers",                                "manage",  "member", numberRoutes],
  ["PATCH",  "/api/numbers/:id",                            "manage",  "member", numberRoutes],
  ["DELETE", "/api/numbers/:id",                            "manage",  "member", numberRoutes],
  ["GET",    "/api/senders",                                "manage",  "viewer", senderRoutes],
  ["GET",    "/api/senders/:id",                            "manage",  "viewer", senderRoutes],
  ["POST",   "/api/senders",                                "manage",  "member", senderRoutes],
  ["PATCH",  "/api/senders/:id",                            "manage",  "member", senderRoutes],
  ["DELETE", "/api/senders/:id",                            "manage",  "member", senderRoutes],
  ["GET",    "/api/carriers",                               "manage",  "viewer", carrierRoutes],
  ["GET",    "/api/carriers/:id",                           "manage",  "viewer", carrierRoutes],
  ["POST",   "/api/carriers",                               "manage",  "owner",  carrierRoutes],
  ["PATCH",  "/api/carriers/:id",                           "manage",  "owner",  carrierRoutes],
  ["DELETE", "/api/carriers/:id",                           "manage",  "owner",  carrierRoutes],
  ["GET",    "/api/carriers/:id/state",                     "manage",  "viewer", carrierStateRoutes],
  ["POST",   "/api/carriers/:id/test",                      "manage",  "member", carrierStateRoutes],
  ["POST",   "/api/carriers/:id/send",                      "manage",  "owner",  sendThroughCarrier],
  ["POST",   "/api/carriers/:id/reach",                     "manage",  "member", reachOfCarrier],
  ["POST",   "/api/carriers/:id/templates",                 "manage",  "member", pullCarrierTemplates],
  ["POST",   "/hooks/:carrierId",                           "-",       "public", carrierCallbackRoutes],
  ["GET",    "/hooks/:carrierId",                           "-",       "public", carrierCallbackRoutes],
  ["GET",    "/api/routes",                                 "manage",  "viewer", routeRoutes],
  ["GET",    "/api/routes/:id",                             "manage",  "viewer", routeRoutes],
  ["POST",   "/api/routes",                                 "manage",  "member", routeRoutes],
  ["PATCH",  "/api/routes/:id",                             "manage",  "member", routeRoutes],
  ["DELETE", "/api/routes/:id",                             "manage",  "member", routeRoutes],
  ["GET",    "/api/prices",                                 "manage",  "viewer", priceRoutes],
  ["GET",    "/api/prices/:id",                             "manage",  "viewer", priceRoutes],
  ["POST",   "/api/prices",                                 "manage",  "owner",  priceRoutes],
  ["PATCH",  "/api/prices/:id",                             "manage",  "owner",  priceRoutes],
  ["DELETE", "/api/prices/:id",                             "manage",  "owner",  priceRoutes],
  ["GET",    "/api/verify-configs",                         "manage",  "viewer", verifyConfigRoutes],
  ["GET",    "/api/verify-configs/:id",                     "manage",  "viewer", verifyConfigRoutes],
  ["POST",   "/api/verify-configs",                         "manage",  "member", verifyConfigRoutes],
  ["PATCH",  "/api/verify-configs/:id",                     "manage",  "member", verifyConfigRoutes],
  ["DELETE", "/api/verify-configs/:id",                     "manage",  "member", verifyConfigRoutes],
  ["GET",    "/api/canned-replies",                         "manage",  "viewer", cannedReplyRoutes],
  ["GET",    "/api/canned-replies/:id",                     "manage",  "viewer", cannedReplyRoutes],
  ["POST",   "/api/canned-replies",                         "manage",  "member", cannedReplyRoutes],
  ["PATCH",  "/api/canned-replies/:id",                     "manage",  "member", cannedReplyRoutes],
  ["DELETE", "/api/canned-replies/:id",                     "manage",  "member", cannedReplyRoutes],
  ["GET",    "/api/segments",                               "manage",  "viewer", segmentRoutes],
  ["GET",    "/api/segments/:id",                           "manage",  "viewer", segmentRoutes],
  ["POST",   "/api/segments",                               "manage",  "member", segmentRoutes],
  ["PATCH",  "/api/segments/:id",                           "manage",  "member", segmentRoutes],
  ["DELETE", "/api/segments/:id",                           "manage",  "member", segmentRoutes],
  ["GET",    "/api/verify-rules",                           "manage",  "viewer", verifyRuleRoutes],
  ["GET",    "/api/verify-rules/:id",                       "manage",  "viewer", verifyRuleRoutes],
  ["POST",   "/api/verify-rules",                           "manage",  "member", verifyRuleRoutes],
  ["PATCH",  "/api/verify-rules/:id",                       "manage",  "member", verifyRuleRoutes],
  ["DELETE", "/api/verify-rules/:id",                       "manage",  "member", verifyRuleRoutes],
  ["GET",    "/api/alerts",                                 "manage",  "viewer", alertRoutes],
  ["GET",    "/api/alerts/rules",                           "manage",  "viewer", alertRoutes],
  ["GET",    "/api/alerts/:id",                             "manage",  "viewer", alertRoutes],
  ["POST",   "/api/alerts/:id/acknowledge",                 "manage",  "member", alertRoutes],
  ["POST",   "/api/alerts/:id/mute",                        "manage",  "member", alertRoutes],
  ["GET",    "/api/alert-rules",                            "manage",  "viewer", alertRuleRoutes],
  ["GET",    "/api/alert-rules/:id",                        "manage",  "viewer", alertRuleRoutes],
  ["POST",   "/api/alert-rules",                            "manage",  "member", alertRuleRoutes],
  ["PATCH",  "/api/alert-rules/:id",                        "manage",  "member", alertRuleRoutes],
  ["DELETE", "/api/alert-rules/:id",                        "manage",  "member", alertRuleRoutes],
  ["GET",    "/api/verifications",                          "manage",  "viewer", listVerifications],
  ["GET",    "/api/verify-funnel",                          "manage",  "viewer", getVerifyFunnel],
  ["GET",    "/api/verify-blocks",                          "manage",  "viewer", listVerifyBlocks],
  ["DELETE", "/api/verify-blocks/:prefix",                  "manage",  "member", liftVerifyBlock],
  ["GET",    "/api/webhooks",                               "manage",  "viewer", webhookRoutes],
  ["GET",    "/api/webhooks/:id",                           "manage",  "viewer", webhookRoutes],
  ["POST",   "/api/webhooks",                               "manage",  "member", webhookRoutes],
  ["PATCH",  "/api/webhooks/:id",                           "manage",  "member", webhookRoutes],
  ["DELETE", "/api/webhooks/:id",                           "manage",  "member", webhookRoutes],
  ["POST",   "/api/webhooks/:id/rotate-secret",             "manage",  "member", webhookRoutes],
  ["POST",   "/api/webhooks/:id/test",                      "manage",  "member", webhookRoutes],
  ["GET",    "/api/webhooks/:id/preview",                   "manage",  "viewer", webhookRoutes],
  ["GET",    "/api/webhooks/:id/health",                    "manage",  "viewer", webhookRoutes],
  ["POST",   "/api/webhooks/:id/recover",                   "manage",  "member", webhookRoutes],
  ["GET",    "/api/dlr-configs",                            "manage",  "viewer", dlrConfigRoutes],
  ["GET",    "/api/dlr-configs/:id",                        "manage",  "viewer", dlrConfigRoutes],
  ["POST",   "/api/dlr-configs",                            "manage",  "member", dlrConfigRoutes],
  ["PATCH",  "/api/dlr-configs/:id",                        "manage",  "member", dlrConfigRoutes],
  ["DELETE", "/api/dlr-configs/:id",                        "manage",  "member", dlrConfigRoutes],
  ["POST",   "/api/dlr-configs/:id/rotate-secret",          "manage",  "member", dlrConfigRoutes],
  ["POST",   "/api/dlr-configs/:id/test",                   "manage",  "member", dlrConfigRoutes],
  ["GET",    "/api/dlr-configs/:id/preview",                "manage",  "viewer", dlrConfigRoutes],
  ["GET",    "/api/dlr-configs/:id/health",                 "manage",  "viewer", dlrConfigRoutes],
  ["POST",   "/api/dlr-configs/:id/recover",                "manage",  "member", dlrConfigRoutes],
  ["GET",    "/api/event-types",                            "manage",  "viewer", listEventTypes],
  ["GET",    "/api/callbacks",                              "manage",  "viewer", listCallbacks],
  ["GET",    "/api/callbacks/:id",                          "manage",  "viewer", getCallback],
  ["POST",   "/api/callbacks/:id/resend",                   "manage",  "member", resendCallback],
  ["GET",    "/api/optouts",                                "manage",  "viewer", optOutRoutes],
  ["GET",    "/api/optout-count",                           "manage",  "viewer", optOutRoutes],
  ["POST",   "/api/optouts",                                "manage",  "member", optOutRoutes],
  ["GET",    "/api/optouts/:number",                        "manage",  "viewer", optOutRoutes],
  ["DELETE", "/api/optouts/:number",                        "manage",  "member", optOutRoutes],
  ["GET",    "/api/receipts",                               "manage",  "viewer", receiptRoutes],
  ["POST",   "/api/receipts/replay",                        "manage",  "member", receiptRoutes],
  ["POST",   "/api/receipts/:id/replay",                    "manage",  "member", receiptRoutes],
  ["DELETE", "/api/receipts/:id",                           "manage",  "member", receiptRoutes],
  ["GET",    "/api/credits",                                "read",    "viewer", creditRoutes],
  ["POST",   "/api/credits",                                "-",       "owner",  creditRoutes],
  ["GET",    "/api/credits/ledger",                         "read",    "viewer", creditRoutes],
  ["GET",    "/api/links",                                  "read",    "viewer", listLinks],
  ["GET",    "/api/links/:id",                              "read",    "viewer", getLink],
  ["GET",    "/api/account",                                "manage",  "viewer", getAccount],
  ["PATCH",  "/api/account",                                "manage",  "owner",  patchAccount],
  ["GET",    "/api/config",                                 "manage",  "viewer", getConfig],
  ["PUT",    "/api/config",                                 "manage",  "owner",  putConfig],
  ["GET",    "/api/simulator/phones",                       "manage",  "viewer", listPhones],
  ["POST",   "/api/simulator/phones/clear",                 "manage",  "member", clearPhones],
  ["GET",    "/api/simulator/phones/:number/messages",      "manage",  "viewer", listPhoneMessages],
  ["POST",   "/api/simulator/phones/:number/reply",         "manage",  "member", replyFromPhone],
  ["POST",   "/api/simulator/phones/:number/tap",           "manage",  "member", tapOnPhone],
  ["POST",   "/api/simulator/phones/:number/read",          "manage",  "member", readOnPhone],
  ["POST",   "/api/simulator/phones/:number/file",          "manage",  "member", sendFileFromPhone],
  ["POST",   "/api/simulator/phones/:number/location",      "manage",  "member", sendLocationFromPhone],
  ["GET",    "/api/simulator/messages/wait",                "manage",  "viewer", waitForMessage],
  ["GET",    "/api/simulator/otp/latest",                   "manage",  "member", latestOtp],
  ["GET",    "/api/simulator/events",                       "manage",  "viewer", simulatorEvents],
  ["GET",    "/api/simulator/chaos",                        "manage",  "viewer", getChaos],
  ["PUT",    "/api/simulator/chaos",                        "manage",  "member", putChaos],
  ["GET",    "/healthz",                                    "-",       "public", healthz],
  ["GET",    "/readyz",                                     "-",       "public", readyz],
  ["GET",    "/metrics",                                    "-",       "public", getMetrics],
  ["GET",    "/api/system",                                 "manage",  "member", systemRoute],
];

const OPERATIONS = OPERATION_ROWS.map(routeOf);
const docs = docsRoutes(OPERATIONS);

/** Pages and short links, which the reference leaves out. */
// prettier-ignore
const PAGE_ROWS: readonly RouteRow[] = [
  // Method  Path                                           Key scope  Role      Route, or the group that contains it
  ["GET",    "/docs",                                       "-",       "public", docs],
  ["GET",    "/docs/reference",                             "-",       "public", docs],
  ["GET",    "/docs/reference/:group",                      "-",       "public", docs],
  ["GET",    "/docs/guides/:name",                          "-",       "public", docs],
  ["GET",    "/docs/files/:name",                           "-",       "public", docs],
  ["GET",    "/docs/search.json",                           "-",       "public", docs],
  ["GET",    "/docs/errors",                                "-",       "public", docs],
  ["GET",    "/docs/errors/:code",                          "-",       "public", docs],
  ["GET",    "/docs/style.css",                             "-",       "public", docs],
  ["GET",    "/docs/site.js",                               "-",       "public", docs],
  ["GET",    "/openapi.json",                               "-",       "public", docs],
  ["GET",    "/",                                           "-",       "public", dashboardRoutes],
  ["GET",    "/assets/:name",                               "-",       "public", dashboardRoutes],
  ["GET",    "/api/media-preview",                          "-",       "self",   previewMedia],
  ["GET",    "/theme.js",                                   "-",       "public", dashboardRoutes],
  ["GET",    "/favicon.svg",                                "-",       "public", dashboardRoutes],
  ["GET",    "/favicon.ico",                                "-",       "public", dashboardRoutes],
  ["GET",    "/media/:token",                               "-",       "public", signedMedia],
  ["GET",    "/s/:code",                                    "-",       "public", shortLinkRoutes],
  ["GET",    `/:code(^${CODE_PATTERN}$)`,           "-",       "public", shortLinkRoutes],
];

/** Every route of the server, one per line. `routeOf` and test/unit/routes.test.ts keep it equal to the route objects. */
export const ROUTE_TABLE: readonly RouteRow[] = [...OPERATION_ROWS, ...PAGE_ROWS];

export const ROUTES: readonly Route[] = [...OPERATIONS, ...PAGE_ROWS.map(routeOf)];

/** Finds the route object of a row; a row that does not describe its route stops the start. */
export function routeOf([method, path, scope, role, routes]: RouteRow): Route {
  const route = [routes].flat().find((each) => each.method === method && each.path === path);
  if (!route) throw new Error(`route table: no route object for ${method} ${path}`);
  const access = accessOf(route);
  if (access.scope === scope && access.role === role) return route;
  throw new Error(`route table: ${method} ${path} has scope ${access.scope} and role ${access.role}`);
}

function accessOf(route: Route): { scope: RouteRow[2]; role: RouteRow[3] } {
  if (isPersonal(route)) return { scope: "-", role: "self" };
  if (route.scope === null) return { scope: "-", role: "public" };
  return { scope: route.peopleOnly ? "-" : route.scope, role: roleOf(route) };
}
