import { lazy, type ComponentType } from "react";

interface PageEntry {
  /** Route pattern of wouter, such as `/messages/:messageId`. */
  path: string;
  page: ComponentType;
}

type Loaded = Promise<{ default: ComponentType }>;

const page = (path: string, load: () => Loaded): PageEntry => ({ path, page: lazy(load) });

/** A page that is a named export of a module with several pages. */
const named = (path: string, load: () => Promise<ComponentType>): PageEntry =>
  page(path, async () => ({ default: await load() }));

const templates = () => import("./pages/templates/templates.tsx");
const templateEditor = () => import("./pages/templates/editor.tsx");
const origins = () => import("./pages/origins/origins.tsx");
const campaignForm = () => import("./pages/campaigns/campaign-form.tsx");
const webhooks = () => import("./pages/endpoints/webhooks.tsx");

/** Every page, each in its own chunk. */
export const PAGES: readonly PageEntry[] = [
  page("/", () => import("./pages/home.tsx")),
  page("/start", () => import("./pages/start/start.tsx")),
  page("/overview", () => import("./pages/overview/overview.tsx")),
  page("/messages", () => import("./pages/messages/messages.tsx")),
  page("/messages/:messageId", () => import("./pages/message/message.tsx")),
  page("/composer", () => import("./pages/compose/compose.tsx")),
  page("/phones", () => import("./pages/phones/phones.tsx")),
  page("/phones/:number", () => import("./pages/phones/phones.tsx")),
  page("/simulator", () => import("./pages/simulator/simulator.tsx")),
  page("/verify", () => import("./pages/verify/verify.tsx")),
  page("/campaigns", () => import("./pages/campaigns/campaigns.tsx")),
  page("/audiences", () => import("./pages/audiences/audiences.tsx")),
  page("/audiences/:id", () => import("./pages/audiences/audience-page.tsx")),
  page("/inbox", () => import("./pages/inbox/inbox.tsx")),
  page("/inbox/:id", () => import("./pages/inbox/inbox.tsx")),
  page("/canned-replies", () => import("./pages/inbox/canned-replies.tsx")),
  page("/contacts", () => import("./pages/contacts/contacts.tsx")),
  page("/segments", () => import("./pages/contacts/segments.tsx")),
  page("/contacts/import/:id", () => import("./pages/contacts/import-page.tsx")),
  page("/contacts/:number", () => import("./pages/contacts/contact-page.tsx")),
  page("/campaigns/new", campaignForm),
  page("/campaigns/to-audience/:id/edit", campaignForm),
  page("/campaigns/to-audience/:id", () => import("./pages/campaigns/audience-campaign-page.tsx")),
  page("/campaigns/:id", () => import("./pages/campaigns/campaign-page.tsx")),
  named("/message-app/templates", async () => (await templates()).SmsTemplates),
  named("/message-app/templates/:id", async () => (await templateEditor()).SmsTemplateEditor),
  named("/message-app/senders", async () => (await origins()).Senders),
  page("/message-app/links", () => import("./pages/links/links.tsx")),
  page("/message-app/utility-manager/dlr-push-configuration", () => import("./pages/endpoints/dlr-configs.tsx")),
  named("/message-app/utility-manager/webhook", async () => (await webhooks()).SmsWebhooks),
  named("/rcs/bots", async () => (await origins()).Bots),
  named("/rcs/templates", async () => (await templates()).RcsTemplates),
  named("/rcs/templates/:id", async () => (await templateEditor()).RcsTemplateEditor),
  named("/rcs/utility/webhook", async () => (await webhooks()).RcsWebhooks),
  named("/chat-app/numbers", async () => (await origins()).BusinessNumbers),
  named("/chat-app/templates", async () => (await templates()).ChatTemplates),
  named("/chat-app/templates/:id", async () => (await templateEditor()).ChatTemplateEditor),
  named("/chat-app/utility/webhook", async () => (await webhooks()).ChatWebhooks),
  page("/developers/smpp-clients", () => import("./pages/smpp-binds/smpp-binds.tsx")),
  page("/developers/identity-products", () => import("./pages/identity-hooks/identity-hooks.tsx")),
  page("/developers/credentials", () => import("./pages/credentials/credentials.tsx")),
  page("/developers/agent-sends", () => import("./pages/agent-sends/agent-sends.tsx")),
  page("/developers/requests", () => import("./pages/requests/requests.tsx")),
  page("/developers/webhooks", () => import("./pages/endpoints/all-endpoints.tsx")),
  page("/operations/alerts", () => import("./pages/alerts/alerts.tsx")),
  page("/operations/callbacks", () => import("./pages/callbacks/callbacks.tsx")),
  page("/operations/carriers", () => import("./pages/carriers/carriers.tsx")),
  page("/operations/opt-outs", () => import("./pages/opt-outs/opt-outs.tsx")),
  page("/operations/credits", () => import("./pages/credits/credits.tsx")),
  page("/operations/set-up", () => import("./pages/set-up/set-up.tsx")),
  page("/operations/system", () => import("./pages/system/system.tsx")),
  page("/account/keys", () => import("./pages/keys/keys.tsx")),
  page("/account/users", () => import("./pages/users/users.tsx")),
  page("/account/audit", () => import("./pages/audit/audit.tsx")),
  page("/account/settings", () => import("./pages/settings/settings.tsx")),
  page("/account/me", () => import("./pages/me/me.tsx")),
];
