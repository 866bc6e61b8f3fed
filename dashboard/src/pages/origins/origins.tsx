import type { Titled } from "../../api-types.ts";
import type { Field } from "../../parts/record/field.ts";
import type { RecordKind, RecordRow } from "../../parts/record/record-kind.ts";
import { RecordTable } from "../../parts/record/record-table.tsx";
import { TimeText } from "../../parts/time-text.tsx";

interface Dated {
  updatedAt: number;
}

const changed = {
  title: "Changed",
  wide: true,
  render: ({ updatedAt }: Dated) => <TimeText at={updatedAt} size="sm" />,
};

const title: Field = {
  name: "title",
  label: "Title",
  hint: "Who phones show it is from; its name unless given.",
  input: { kind: "text", placeholder: "Heliograph" },
};

const removal = "Requests that name it are refused on real carriers from now on; the simulator learns it again.";

const BOTS: RecordKind<Titled & Dated> = {
  path: "/api/bots",
  one: "bot",
  add: "Add bot",
  starts: { name: "", title: null, agentId: null },
  fields: [
    {
      name: "name",
      label: "Name",
      hint: "The botId of requests.",
      input: { kind: "text", placeholder: "heliograph" },
      required: true,
    },
    title,
    {
      name: "agentId",
      label: "Agent id",
      hint: "What RCS for Business calls it, without the part from the @ on; its name unless given.",
      input: { kind: "text", placeholder: "Its name" },
    },
  ],
  columns: [{ title: "Title", render: (bot) => bot.title ?? "–" }, changed],
  empty: {
    sentence: "No bot yet. It is who your RCS messages are from.",
    example: { name: "heliograph", title: "Heliograph" },
  },
  removal,
};

const NUMBERS: RecordKind<Titled & Dated> = {
  path: "/api/numbers",
  one: "number",
  add: "Add number",
  nameTitle: "Number",
  starts: { name: "", title: null, phoneNumberId: null },
  fields: [
    {
      name: "name",
      label: "Number",
      hint: "The from of requests, with its plus.",
      input: { kind: "text", type: "tel", placeholder: "+15550100199" },
      required: true,
    },
    title,
    {
      name: "phoneNumberId",
      label: "Phone number id",
      hint: "What WhatsApp calls it, its phone_number_id; the carrier's unless given.",
      input: { kind: "text", placeholder: "The carrier's" },
    },
  ],
  columns: [{ title: "Title", render: (number) => number.title ?? "–" }, changed],
  empty: {
    sentence: "No business number yet. It is who your chat-app messages are from.",
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
  add: "Add sender",
  starts: { name: "", dltEntityId: null },
  fields: [
    {
      name: "name",
      label: "Name",
      hint: "The sender of requests, as phones show it: letters and digits, or a number.",
      input: { kind: "text", placeholder: "HELIOG" },
      required: true,
    },
    {
      name: "dltEntityId",
      label: "DLT entity id",
      hint: "Under which the operators of India know who it belongs to.",
      input: { kind: "text", placeholder: "None" },
    },
  ],
  columns: [{ title: "DLT entity id", wide: true, render: ({ dltEntityId }) => dltEntityId ?? "–" }, changed],
  empty: {
    sentence: "No sender yet. It is who your text messages are from.",
    example: { name: "HELIOG" },
  },
  removal,
};

export const Bots = () => (
  <RecordTable kind={BOTS} title="Bots" lead="Who your RCS messages are from, and who users write to." />
);

export const BusinessNumbers = () => (
  <RecordTable kind={NUMBERS} title="Numbers" lead="Who your chat-app messages are from, and who users write to." />
);

export const Senders = () => (
  <RecordTable kind={SENDERS} title="Senders" lead="Who your text messages are from, as phones show it." />
);
