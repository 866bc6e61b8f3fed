import { lazy, type ComponentType } from "react";

interface PageEntry {
  /** As wouter matches it: `/messages/:messageId`. */
  path: string;
  page: ComponentType;
}

type Loaded = Promise<{ default: ComponentType }>;

const page = (path: string, load: () => Loaded): PageEntry => ({ path, page: lazy(load) });

/** A page that shares its file with others like it. */
const named = (path: string, load: () => Promise<ComponentType>): PageEntry =>
  page(path, async () => ({ default: await load() }));

const templates = () => import("./pages/templates/templates.tsx");
const templateEditor = () => import("./pages/templates/editor.tsx");
const webhooks = () => import("./pages/endpoints/webhooks.tsx");

const placeholder = (): Loaded => import("./pages/placeholder.tsx");

/** Every page, each in a chunk of its own. */
export const PAGES: readonly PageEntry[] = [
  page("/", () => import("./pages/home.tsx")),
  page("/start", () => import("./pages/start/start.tsx")),
  page("/overview", placeholder),
  page("/messages", () => import("./pages/messages/messages.tsx")),
  page("/messages/:messageId", () => import("./pages/message/message.tsx")),
  page("/composer", () => import("./pages/compose/compose.tsx")),
  page("/phones", () => import("./pages/phones/phones.tsx")),
  page("/phones/:number", () => import("./pages/phones/phones.tsx")),
  page("/simulator", () => import("./pages/simulator/simulator.tsx")),
  page("/verify", placeholder),
  page("/campaigns", placeholder),
  named("/message-app/templates", async () => (await templates()).SmsTemplates),
  named("/message-app/templates/:id", async () => (await templateEditor()).SmsTemplateEditor),
  page("/message-app/senders", placeholder),
  page("/message-app/links", placeholder),
  page("/message-app/utility-manager/dlr-push-configuration", () => import("./pages/endpoints/dlr-configs.tsx")),
  named("/message-app/utility-manager/webhook", async () => (await webhooks()).SmsWebhooks),
  page("/rcs/bots", placeholder),
  named("/rcs/templates", async () => (await templates()).RcsTemplates),
  named("/rcs/templates/:id", async () => (await templateEditor()).RcsTemplateEditor),
  named("/rcs/utility/webhook", async () => (await webhooks()).RcsWebhooks),
  page("/chat-app/numbers", placeholder),
  named("/chat-app/templates", async () => (await templates()).ChatTemplates),
  named("/chat-app/templates/:id", async () => (await templateEditor()).ChatTemplateEditor),
  named("/chat-app/utility/webhook", async () => (await webhooks()).ChatWebhooks),
  page("/operations/callbacks", () => import("./pages/callbacks/callbacks.tsx")),
  page("/operations/carriers", placeholder),
  page("/operations/opt-outs", placeholder),
  page("/operations/credits", placeholder),
  page("/operations/system", placeholder),
  page("/account/keys", placeholder),
  page("/account/users", placeholder),
  page("/account/audit", placeholder),
  page("/account/me", () => import("./pages/me/me.tsx")),
];
