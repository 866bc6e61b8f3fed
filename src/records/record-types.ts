import { alertRule } from "./types/alert-rule.ts";
import { bot } from "./types/bot.ts";
import { cannedReply } from "./types/canned-reply.ts";
import { carrier } from "./types/carrier.ts";
import { chatTemplate } from "./types/chat-template.ts";
import { dlrConfig } from "./types/dlr-config.ts";
import { number } from "./types/number.ts";
import { price } from "./types/price.ts";
import { rcsTemplate } from "./types/rcs-template.ts";
import { route } from "./types/route.ts";
import { segment } from "./types/segment.ts";
import { sender } from "./types/sender.ts";
import { smsTemplate } from "./types/sms-template.ts";
import { verifyConfig } from "./types/verify-config.ts";
import { verifyRule } from "./types/verify-rule.ts";
import { webhook } from "./types/webhook.ts";
import type { RecordType } from "./read-record.ts";

export const templates: RecordType = {
  singular: "template",
  plural: "templates",
  definitions: [smsTemplate, chatTemplate, rcsTemplate],
};
export const bots: RecordType = { singular: "bot", plural: "bots", definitions: [bot] };
export const numbers: RecordType = { singular: "number", plural: "numbers", definitions: [number] };
export const senders: RecordType = { singular: "sender", plural: "senders", definitions: [sender] };
export const carriers: RecordType = { singular: "carrier", plural: "carriers", definitions: [carrier] };
export const routes: RecordType = { singular: "route", plural: "routes", definitions: [route] };
export const prices: RecordType = { singular: "price", plural: "prices", definitions: [price] };
export const webhooks: RecordType = { singular: "webhook", plural: "webhooks", definitions: [webhook] };
export const dlrConfigs: RecordType = { singular: "dlr-config", plural: "dlr-configs", definitions: [dlrConfig] };
export const verifyConfigs: RecordType = {
  singular: "verify-config",
  plural: "verify-configs",
  definitions: [verifyConfig],
};

export const verifyRules: RecordType = { singular: "verify-rule", plural: "verify-rules", definitions: [verifyRule] };

export const alertRules: RecordType = { singular: "alert-rule", plural: "alert-rules", definitions: [alertRule] };
export const segments: RecordType = { singular: "segment", plural: "segments", definitions: [segment] };

export const cannedReplies: RecordType = {
  singular: "canned-reply",
  plural: "canned-replies",
  definitions: [cannedReply],
};

/** All record types. Dependencies come first: carriers before routes. */
export const RECORD_TYPES: readonly RecordType[] = [
  templates,
  bots,
  numbers,
  senders,
  carriers,
  routes,
  prices,
  webhooks,
  dlrConfigs,
  verifyConfigs,
  verifyRules,
  alertRules,
  segments,
  cannedReplies,
];
