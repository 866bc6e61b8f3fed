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
  page("/start", placeholder),
  page("/overview", placeholder),
  page("/messages", placeholder),
  page("/messages/:messageId", placeholder),
  page("/compose", placeholder),
  page("/phones", placeholder),
  page("/phones/:number", placeholder),
  page("/simulator", placeholder),
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
  page("/callbacks", placeholder),
  page("/carriers", placeholder),
  page("/opt-outs", placeholder),
  page("/credits", placeholder),
  page("/system", placeholder),
  page("/account/keys", placeholder),
  page("/account/users", placeholder),
  page("/account/audit", placeholder),
  page("/account/me", placeholder),
];
