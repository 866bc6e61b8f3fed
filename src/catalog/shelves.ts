import { bot } from "./kinds/bot.ts";
import { carrier } from "./kinds/carrier.ts";
import { chatTemplate } from "./kinds/chat-template.ts";
import { dlrConfig } from "./kinds/dlr-config.ts";
import { number } from "./kinds/number.ts";
import { price } from "./kinds/price.ts";
import { rcsTemplate } from "./kinds/rcs-template.ts";
import { route } from "./kinds/route.ts";
import { sender } from "./kinds/sender.ts";
import { smsTemplate } from "./kinds/sms-template.ts";
import { verifyConfig } from "./kinds/verify-config.ts";
import { webhook } from "./kinds/webhook.ts";
import type { Shelf } from "./read-record.ts";

export const templates: Shelf = { one: "template", many: "templates", kinds: [smsTemplate, chatTemplate, rcsTemplate] };
export const bots: Shelf = { one: "bot", many: "bots", kinds: [bot] };
export const numbers: Shelf = { one: "number", many: "numbers", kinds: [number] };
export const senders: Shelf = { one: "sender", many: "senders", kinds: [sender] };
export const carriers: Shelf = { one: "carrier", many: "carriers", kinds: [carrier] };
export const routes: Shelf = { one: "route", many: "routes", kinds: [route] };
export const prices: Shelf = { one: "price", many: "prices", kinds: [price] };
export const webhooks: Shelf = { one: "webhook", many: "webhooks", kinds: [webhook] };
export const dlrConfigs: Shelf = { one: "dlr-config", many: "dlr-configs", kinds: [dlrConfig] };
export const verifyConfigs: Shelf = { one: "verify-config", many: "verify-configs", kinds: [verifyConfig] };

/** All that people configure. What others need stands before them: a carrier before its routes. */
export const SHELVES: readonly Shelf[] = [
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
];
