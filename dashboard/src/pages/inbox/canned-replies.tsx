import { Text } from "@mantine/core";
import { t } from "../../i18n/t.ts";
import { PageHeader } from "../../parts/page-header.tsx";
import type { RecordKind, RecordRow } from "../../parts/record/record-kind.ts";
import { RecordTable } from "../../parts/record/record-table.tsx";

interface CannedReply extends RecordRow {
  text: string;
}

const KIND: RecordKind<CannedReply> = {
  path: "/api/canned-replies",
  one: "canned reply",
  add: t("Add canned reply"),
  fields: [
    { name: "name", label: t("Name"), input: { kind: "text", placeholder: "thanks" }, required: true },
    { name: "text", label: t("Text"), input: { kind: "long", rows: 3 }, required: true },
  ],
  starts: { name: "", text: "" },
  columns: [{ title: t("Text"), render: ({ text }) => <Text size="sm">{text}</Text> }],
  empty: {
    sentence: t("No canned replies yet. They are texts that the inbox inserts into a reply."),
    example: { name: "thanks", text: "Thank you for your message." },
  },
  removal: t("The canned reply is deleted. Replies that were sent stay."),
};

/** Texts that the inbox inserts into replies. */
export default function CannedReplies() {
  return (
    <>
      <PageHeader title={t("Canned replies")} lead={t("Prepared texts for replies from the inbox.")} />
      <RecordTable kind={KIND} />
    </>
  );
}
