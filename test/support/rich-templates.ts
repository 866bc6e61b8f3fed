import { newId } from "../../src/lib/ids.ts";
import type { CatalogContents } from "../../src/model/catalog.ts";
import type { ChatTemplate } from "../../src/model/chatapp.ts";
import type { RcsTemplate } from "../../src/model/rcs.ts";
import type { TestServer } from "./test-server.ts";

/** A chat-app template with one button of each kind. */
export const CHAT_TEMPLATE: ChatTemplate = {
  language: "pt_BR",
  category: "utility",
  status: "approved",
  header: { type: "text", text: null },
  body: "Hello {{1}}, your parcel is here.",
  variables: 1,
  footer: "Heliograph Parcels",
  buttons: [
    { type: "reply", text: "Stop" },
    { type: "url", text: "Track it", url: "https://parcels.example/4711" },
    { type: "call", text: "Call us", number: "+15550100198" },
  ],
};

/** An RCS template whose two cards share one suggestion and have one of their own. */
export const RCS_TEMPLATE: RcsTemplate = {
  kind: "carousel",
  text: null,
  variables: 0,
  suggestions: [
    { type: "reply", text: "Unsubscribe", data: "no-more" },
    { type: "dial", text: "Call us", data: "call", number: "+15550100198" },
  ],
  cards: ["coat", "boots"].map((name) => ({
    title: `Our ${name}`,
    description: "Warm",
    fileUrl: `https://shop.example/${name}.jpg`,
    suggestions: [
      { type: "reply", text: "Buy", data: `buy-${name}` },
      { type: "url", text: "Shop", data: "shop", url: "https://shop.example/" },
    ],
  })),
  status: "approved",
};

/** Stores an authored template of the first account and makes the server reload its records. */
export async function author<K extends "chatTemplate" | "rcsTemplate">(
  server: TestServer,
  kind: K,
  name: string,
  content: CatalogContents[K],
): Promise<void> {
  const now = Date.now();
  const record = { accountId: 1, kind, id: newId(now), name, origin: "authored", content } as const;
  const { store } = server.app;
  await store.insertCatalogRecord({ ...record, createdAt: now, updatedAt: now }, await store.revision("catalog"));
  // Reading records reloads them.
  await server.request("GET", "/api/senders");
}
