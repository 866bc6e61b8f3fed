import { lazy, type ComponentType } from "react";

interface PageEntry {
  /** As wouter matches it: `/messages/:messageId`. */
  path: string;
  page: ComponentType;
}

type Loaded = Promise<{ default: ComponentType }>;

const page = (path: string, load: () => Loaded): PageEntry => ({ path, page: lazy(load) });

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
  page("/message-app/templates", placeholder),
  page("/message-app/senders", placeholder),
  page("/message-app/links", placeholder),
  page("/message-app/utility-manager/dlr-push-configuration", placeholder),
  page("/rcs/bots", placeholder),
  page("/rcs/templates", placeholder),
  page("/rcs/utility/webhook", placeholder),
  page("/chat-app/numbers", placeholder),
  page("/chat-app/templates", placeholder),
  page("/operations/callbacks", placeholder),
  page("/operations/carriers", placeholder),
  page("/operations/opt-outs", placeholder),
  page("/operations/credits", placeholder),
  page("/operations/system", placeholder),
  page("/account/keys", placeholder),
  page("/account/users", placeholder),
  page("/account/audit", placeholder),
  page("/account/me", () => import("./pages/me/me.tsx")),
];
