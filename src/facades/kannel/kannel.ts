import type { LoginFacade } from "../../http/facade.ts";
import { failureReply } from "./reply.ts";
import { sendSmsRoutes } from "./sendsms.ts";
import { statusRoutes } from "./status.ts";

/** Kannel's sendsms interface and its status pages. */
export const kannel: LoginFacade = {
  kind: "kannel",
  routes: [...sendSmsRoutes, ...statusRoutes],
  prefixes: ["/cgi-bin/"],
  fail: failureReply,
};
