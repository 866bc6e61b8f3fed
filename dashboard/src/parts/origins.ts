import { t } from "../i18n/t.ts";
import type { SendChannel } from "./channel.tsx";

/** The sender of each channel: its name, its API path and its field in a send request. */
export const ORIGINS = {
  sms: { label: t("Sender"), path: "/api/senders", field: "sender" },
  rcs: { label: t("Bot"), path: "/api/bots", field: "botId" },
  chatapp: { label: t("Business number"), path: "/api/numbers", field: "from" },
} as const satisfies Record<SendChannel, { label: string; path: string; field: string }>;
