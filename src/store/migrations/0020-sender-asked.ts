import type { Migration } from "./migration.ts";

/** The requested sender, beside `asked_channel`: an RCS message that continues as SMS has another sender. */
export const askedSender: Migration = {
  name: "0020-sender-asked",
  statements: () => [`alter table messages add column asked_sender text`],
};
