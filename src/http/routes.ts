import { getAccount, patchAccount } from "./api/account.ts";
import { deleteKey, getKey, listKeys, patchKey, postKey, rotateKeyRoute } from "./api/keys.ts";
import { getChaos, listPhoneMessages, listPhones, putChaos, waitForMessage } from "./api/simulator.ts";
import { simulatorEvents } from "./api/simulator-events.ts";
import { docsRoutes } from "./docs/docs.ts";
import { healthz, metrics, readyz } from "./health.ts";
import type { Route } from "./route.ts";
import { getMessage, listMessages } from "./v1/messages.ts";
import { sendSms } from "./v1/sms.ts";

const OPERATIONS: readonly Route[] = [
  sendSms,
  listMessages,
  getMessage,
  listKeys,
  postKey,
  getKey,
  patchKey,
  deleteKey,
  rotateKeyRoute,
  getAccount,
  patchAccount,
  listPhones,
  listPhoneMessages,
  waitForMessage,
  simulatorEvents,
  getChaos,
  putChaos,
  healthz,
  readyz,
  metrics,
];

/** Everything that enters. A door that is not in this table does not exist; the reference at `/docs` is made from it. */
export const ROUTES: readonly Route[] = [...OPERATIONS, ...docsRoutes(OPERATIONS)];
