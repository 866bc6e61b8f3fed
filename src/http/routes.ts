import { getAccount, patchAccount } from "./api/account.ts";
import { listAudit } from "./api/audit.ts";
import { botRoutes } from "./api/bots.ts";
import { getCallback, listCallbacks, resendCallback } from "./api/callbacks.ts";
import { cancelCampaign, getCampaign, listCampaigns, pauseCampaign, resumeCampaign } from "./api/campaigns.ts";
import { carrierRoutes } from "./api/carriers.ts";
import { sendThroughCarrier } from "./api/carrier-send.ts";
import { pullCarrierTemplates } from "./api/carrier-templates.ts";
import { carrierStateRoutes } from "./api/carrier-state.ts";
import { getConfig, putConfig } from "./api/config.ts";
import { creditRoutes } from "./api/credits.ts";
import { deleteKey, getKey, listKeys, patchKey, postKey, rotateKeyRoute } from "./api/keys.ts";
import { dlrConfigRoutes } from "./api/dlr-configs.ts";
import { getLink, listLinks } from "./api/links.ts";
import { getOperatorMessage, listOperatorMessages } from "./api/messages.ts";
import { liveRoute } from "./api/live.ts";
import { numberRoutes } from "./api/numbers.ts";
import { optOutRoutes } from "./api/optouts.ts";
import { priceRoutes } from "./api/prices.ts";
import { receiptRoutes } from "./api/receipts.ts";
import { routeRoutes } from "./api/routes.ts";
import { senderRoutes } from "./api/senders.ts";
import { sessionSecurityRoutes } from "./api/session-security.ts";
import { getSession, logInRoute, logOutRoute } from "./api/session.ts";
import {
  readOnPhone,
  replyFromPhone,
  sendFileFromPhone,
  sendLocationFromPhone,
  tapOnPhone,
} from "./api/simulator-answers.ts";
import { getChaos, listPhoneMessages, listPhones, putChaos, waitForMessage } from "./api/simulator.ts";
import { simulatorEvents } from "./api/simulator-events.ts";
import { latestOtp } from "./api/simulator-otp.ts";
import { statsRoute } from "./api/stats.ts";
import { systemRoute } from "./api/system.ts";
import { templateRoutes } from "./api/templates.ts";
import { liftVerifyBlock, listVerifications, listVerifyBlocks } from "./api/verifications.ts";
import { userRoutes } from "./api/users.ts";
import { verifyConfigRoutes } from "./api/verify-configs.ts";
import { webhookRoutes } from "./api/webhooks.ts";
import { dashboardRoutes } from "./dashboard/dashboard.ts";
import { docsRoutes } from "./docs/docs.ts";
import { healthz, metrics, readyz } from "./health.ts";
import type { Route } from "./route.ts";
import { carrierCallbackRoutes } from "./carrier-callbacks.ts";
import { shortLinkRoutes } from "./short-link.ts";
import { cancelMessages } from "./v1/cancel.ts";
import { sendChat } from "./v1/chatapp.ts";
import { listEvents } from "./v1/events.ts";
import { getInbound, listInbound } from "./v1/inbound.ts";
import { getMessage, listMessages } from "./v1/messages.ts";
import { previewSms } from "./v1/preview.ts";
import { sendRcs } from "./v1/rcs.ts";
import { sendSms } from "./v1/sms.ts";
import { generate, getVerification, validate } from "./v1/verify.ts";

const OPERATIONS: readonly Route[] = [
  sendSms,
  previewSms,
  sendChat,
  sendRcs,
  generate,
  validate,
  getVerification,
  listMessages,
  getMessage,
  cancelMessages,
  listInbound,
  getInbound,
  listEvents,
  listOperatorMessages,
  getOperatorMessage,
  logInRoute,
  getSession,
  logOutRoute,
  ...sessionSecurityRoutes,
  ...userRoutes,
  statsRoute,
  liveRoute,
  listAudit,
  listKeys,
  postKey,
  getKey,
  patchKey,
  deleteKey,
  rotateKeyRoute,
  listCampaigns,
  getCampaign,
  pauseCampaign,
  resumeCampaign,
  cancelCampaign,
  ...templateRoutes,
  ...botRoutes,
  ...numberRoutes,
  ...senderRoutes,
  ...carrierRoutes,
  ...carrierStateRoutes,
  sendThroughCarrier,
  pullCarrierTemplates,
  ...carrierCallbackRoutes,
  ...routeRoutes,
  ...priceRoutes,
  ...verifyConfigRoutes,
  listVerifications,
  listVerifyBlocks,
  liftVerifyBlock,
  ...webhookRoutes,
  ...dlrConfigRoutes,
  listCallbacks,
  getCallback,
  resendCallback,
  ...optOutRoutes,
  ...receiptRoutes,
  ...creditRoutes,
  listLinks,
  getLink,
  getAccount,
  patchAccount,
  getConfig,
  putConfig,
  listPhones,
  listPhoneMessages,
  replyFromPhone,
  tapOnPhone,
  readOnPhone,
  sendFileFromPhone,
  sendLocationFromPhone,
  waitForMessage,
  latestOtp,
  simulatorEvents,
  getChaos,
  putChaos,
  healthz,
  readyz,
  metrics,
  systemRoute,
];

/** Everything that enters. A door that is not in this table does not exist; the reference at `/docs` is made from it. */
export const ROUTES: readonly Route[] = [
  ...OPERATIONS,
  ...docsRoutes(OPERATIONS),
  ...dashboardRoutes,
  ...shortLinkRoutes,
];
