import { Alert, Anchor, Group, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { IconPencil } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { Link, useLocation, useParams } from "wouter";
import { ApiError, get, remove, usePages } from "../../api.ts";
import type { Message } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { GuardedButton, GuardedConfirm } from "../../parts/guarded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { saveFile } from "../../parts/save-file.ts";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { ContactFormButton } from "./contact-form.tsx";
import { consentKey, consentLabel, CONTACTS, type Contact } from "./contact.ts";
import { Tags } from "./contacts.tsx";

/** One contact, with its messages in both directions. */
export default function ContactPage() {
  const { number } = useParams<{ number: string }>();
  const path = `${CONTACTS}/${number}`;
  const { data, error, refetch } = useQuery({
    queryKey: [CONTACTS, number],
    queryFn: ({ signal }) => get<Contact>(path, {}, signal),
  });
  if (error instanceof ApiError && error.status === 404)
    return (
      <>
        <PageHeader title={number} lead={<AllContacts />}>
          <Privacy number={number} />
        </PageHeader>
        <Alert title={t("{number} is no contact", { number })}>
          {t("Add it under Contacts to note a name, tags and consents.")}
        </Alert>
        <Traffic number={number} />
      </>
    );
  if (error) return <ErrorState error={error} retry={() => void refetch()} title={t("Contact cannot be loaded")} />;
  if (!data) return <PageLoading />;
  return <Loaded contact={data} />;
}

const AllContacts = () => (
  <Anchor component={Link} href="/contacts" size="sm">
    {t("All contacts")}
  </Anchor>
);

function Loaded({ contact }: { contact: Contact }) {
  const { number, name, attributes, tags, consents, optedOut, createdAt } = contact;
  const client = useQueryClient();
  const [, navigate] = useLocation();
  return (
    <>
      <PageHeader title={name ?? number} lead={<AllContacts />}>
        <ContactFormButton
          contact={contact}
          label={t("Edit contact")}
          icon={<IconPencil size={17} aria-hidden />}
          onSaved={(saved) => client.setQueryData([CONTACTS, number], saved)}
        />
        <GuardedConfirm
          color="red"
          variant="light"
          question={t("Delete {name}?", { name: name ?? number })}
          consequence={t("The contact is deleted. Its messages and its opt-out stay.")}
          yes={t("Delete contact")}
          run={async () => {
            await remove(`${CONTACTS}/${number}`);
            await client.invalidateQueries({ queryKey: [CONTACTS], exact: false, refetchType: "none" });
            navigate("/contacts");
          }}
        >
          {t("Delete")}
        </GuardedConfirm>
        <Privacy number={number} />
      </PageHeader>
      <SimpleGrid cols={{ base: 1, sm: 2 }} mb="lg">
        <Stack gap="xs">
          <Fact label={t("Number")}>{number}</Fact>
          <Fact label={t("Tags")}>{tags.length === 0 ? "–" : <Tags tags={tags} />}</Fact>
          <Fact label={t("Opted out")}>{optedOut ? t("Yes: it gets no promotions.") : t("No")}</Fact>
          <Fact label={t("Added")}>
            <TimeText at={createdAt} size="sm" />
          </Fact>
          {Object.entries(attributes).map(([attribute, value]) => (
            <Fact key={attribute} label={attribute}>
              {value}
            </Fact>
          ))}
        </Stack>
        <Stack gap="xs">
          {consents.length === 0 && <Fact label={t("Consents")}>–</Fact>}
          {consents.map((consent) => (
            <Fact key={consentKey(consent)} label={consentLabel(consentKey(consent))}>
              {consent.granted ? t("Granted") : t("Withdrawn")} · <TimeText at={consent.at} size="sm" span />
              {consent.source !== null && ` · ${consent.source}`}
            </Fact>
          ))}
        </Stack>
      </SimpleGrid>
      <Traffic number={number} />
    </>
  );
}

/** Export and erasure, for requests of the person whose number it is. */
function Privacy({ number }: { number: string }) {
  const [, navigate] = useLocation();
  const client = useQueryClient();
  const save = useMutation({
    mutationFn: () => get<object>(`${CONTACTS}/${number}/export`),
    onSuccess: (stored) => saveFile(`number-${number}.json`, "application/json", [JSON.stringify(stored, null, 2)]),
  });
  return (
    <>
      {save.error && <ErrorState error={save.error} />}
      <GuardedButton may="own" variant="default" loading={save.isPending} onClick={() => save.mutate()}>
        {t("Export number")}
      </GuardedButton>
      <GuardedConfirm
        may="own"
        color="red"
        variant="light"
        question={t("Erase {number}?", { number })}
        consequence={t(
          "Every trace of the number is removed: messages, inbound messages, conversations, audiences and log entries. Waiting messages are cancelled. An opt-out still holds.",
        )}
        yes={t("Erase number")}
        run={async () => {
          await remove(`${CONTACTS}/${number}?erase=true`);
          await client.invalidateQueries({ queryKey: [CONTACTS], exact: false, refetchType: "none" });
          navigate("/contacts");
        }}
      >
        {t("Erase number")}
      </GuardedConfirm>
    </>
  );
}

const Fact = ({ label, children }: { label: string; children: ReactNode }) => (
  <Group gap="sm" wrap="nowrap" align="flex-start">
    <Text size="sm" c="dimmed" w={130} style={{ flexShrink: 0 }}>
      {label}
    </Text>
    <Text size="sm" component="div">
      {children}
    </Text>
  </Group>
);

interface Inbound {
  id: string;
  channel: string;
  to: string;
  text: string;
  receivedAt: number;
}

const SENT_COLUMNS: readonly Column<Message>[] = [
  {
    title: t("Time"),
    render: ({ messageId, createdAt }) => (
      <Anchor component={Link} href={`/messages/${messageId}`} size="sm">
        <TimeText at={createdAt} size="sm" span />
      </Anchor>
    ),
  },
  { title: t("Channel"), render: ({ channel }) => channel },
  { title: t("Status"), render: ({ status }) => <StatusBadge status={status} /> },
  { title: t("Text"), wide: true, render: ({ text }) => text ?? "–" },
];

const RECEIVED_COLUMNS: readonly Column<Inbound>[] = [
  { title: t("Time"), render: ({ receivedAt }) => <TimeText at={receivedAt} size="sm" /> },
  { title: t("Channel"), render: ({ channel }) => channel },
  { title: t("To"), wide: true, render: ({ to }) => to },
  { title: t("Text"), render: ({ text }) => text || "–" },
];

/** Messages in both directions, whether the number is a contact or not. */
function Traffic({ number }: { number: string }) {
  const isWhole = /^\d+$/.test(number);
  const sent = usePages<Message>("/v1/messages", { recipient: number, limit: 10 }, { enabled: isWhole });
  const received = usePages<Inbound>("/v1/inbound", { from: number, limit: 10 }, { enabled: isWhole });
  if (!isWhole) return null;
  return (
    <>
      <Title order={2} size="h4" mb="md" mt="xl">
        {t("Messages")}
      </Title>
      <DataTable
        label={t("Messages")}
        columns={SENT_COLUMNS}
        rowKey={({ messageId }) => messageId}
        {...sent.table}
        empty={<Text p="md">{t("No messages to this number.")}</Text>}
      />
      <Title order={2} size="h4" mb="md" mt="xl">
        {t("Received")}
      </Title>
      <DataTable
        label={t("Received")}
        columns={RECEIVED_COLUMNS}
        rowKey={({ id }) => id}
        {...received.table}
        empty={<Text p="md">{t("Nothing came from this number.")}</Text>}
      />
    </>
  );
}
