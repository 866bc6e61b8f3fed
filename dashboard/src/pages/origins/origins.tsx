import type { Titled } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import type { Field } from "../../parts/record/field.ts";
import type { RecordKind, RecordRow } from "../../parts/record/record-kind.ts";
import { RecordTable } from "../../parts/record/record-table.tsx";
import { TimeText } from "../../parts/time-text.tsx";

interface Dated {
  updatedAt: number;
}

const changed = {
  title: t("Changed"),
  wide: true,
  render: ({ updatedAt }: Dated) => <TimeText at={updatedAt} size="sm" />,
};

const title: Field = {
  name: "title",
  label: t("Title"),
  hint: t("Sender name shown on phones. Default: its name."),
  input: { kind: "text", placeholder: "Heliograph" },
};

const removal = t("Real carriers reject requests with this name from now on. The simulator learns it again.");

const BOTS: RecordKind<Titled & Dated> = {
  path: "/api/bots",
  one: "bot",
  add: t("Add bot"),
  starts: { name: "", title: null, agentId: null },
  fields: [
    {
      name: "name",
      label: t("Name"),
      hint: t("Use this as botId in the API."),
      input: { kind: "text", placeholder: "heliograph" },
      required: true,
    },
    title,
    {
      name: "agentId",
      label: t("Agent ID"),
      hint: t("The agent ID in RCS for Business, without the part from @ on. Default: its name."),
      input: { kind: "text", placeholder: t("Its name") },
    },
  ],
  columns: [{ title: t("Title"), render: (bot) => bot.title ?? "–" }, changed],
  empty: {
    sentence: t("No bots yet. RCS messages are sent from a bot."),
    example: { name: "heliograph", title: "Heliograph" },
  },
  removal,
};

const NUMBERS: RecordKind<Titled & Dated> = {
  path: "/api/numbers",
  one: "number",
  add: t("Add number"),
  nameTitle: t("Number"),
  starts: { name: "", title: null, phoneNumberId: null },
  fields: [
    {
      name: "name",
      label: t("Number"),
      hint: t("Use this as from in the API, with the plus."),
      input: { kind: "text", type: "tel", placeholder: "+15550100199" },
      required: true,
    },
    title,
    {
      name: "phoneNumberId",
      label: t("Phone number ID"),
      hint: t("The phone_number_id in WhatsApp. Default: the carrier's."),
      input: { kind: "text", placeholder: t("The carrier's") },
    },
  ],
  columns: [{ title: t("Title"), render: (number) => number.title ?? "–" }, changed],
  empty: {
    sentence: t("No business numbers yet. Chat-app messages are sent from a business number."),
    example: { name: "+15550100199", title: "Heliograph" },
  },
  removal,
};

interface Sender extends RecordRow, Dated {
  dltEntityId: string | null;
}

const SENDERS: RecordKind<Sender> = {
  path: "/api/senders",
  one: "sender",
  add: t("Add sender"),
  starts: { name: "", dltEntityId: null },
  fields: [
    {
      name: "name",
      label: t("Name"),
      hint: t("Use this as sender in the API; phones show it. Letters and digits, or a number."),
      input: { kind: "text", placeholder: "HELIOG" },
      required: true,
    },
    {
      name: "dltEntityId",
      label: t("DLT entity ID (India)"),
      hint: t("Your registration with the Indian operators."),
      input: { kind: "text", placeholder: t("None") },
    },
  ],
  columns: [
    { title: t("DLT entity ID (India)"), wide: true, render: ({ dltEntityId }) => dltEntityId ?? "–" },
    changed,
  ],
  empty: {
    sentence: t("No senders yet. SMS are sent from a sender."),
    example: { name: "HELIOG" },
  },
  removal,
};

export const Bots = () => (
  <RecordTable kind={BOTS} title={t("Bots")} lead={t("The bots that send your RCS messages and receive replies.")} />
);

export const BusinessNumbers = () => (
  <RecordTable
    kind={NUMBERS}
    title={t("Numbers")}
    lead={t("The numbers that send your chat-app messages and receive replies.")}
  />
);

export const Senders = () => (
  <RecordTable kind={SENDERS} title={t("Senders")} lead={t("The sender names of your SMS, as phones show them.")} />
);
