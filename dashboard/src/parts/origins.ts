import type { Channel } from "./channel.tsx";

/** Who a message is from, by its channel: what people call it, where the API has it, and its field in a request. */
export const ORIGINS = {
  sms: { label: "Sender", path: "/api/senders", field: "sender" },
  rcs: { label: "Bot", path: "/api/bots", field: "botId" },
  chatapp: { label: "Business number", path: "/api/numbers", field: "from" },
} as const satisfies Record<Channel, { label: string; path: string; field: string }>;
