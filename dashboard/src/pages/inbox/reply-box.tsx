import { Alert, Group, Select, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { IconSend } from "@tabler/icons-react";
import { useRef, useState, type KeyboardEvent } from "react";
import { get, type Page } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { GuardedButton } from "../../parts/guarded.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { useSendOnce } from "../../parts/use-send-once.ts";
import { CONVERSATIONS, showRead, takesText, type Conversation } from "./conversation.ts";

interface Canned {
  id: string;
  name: string;
  text: string;
}

/** Platforms show the typing for 20 seconds or a little longer. */
const TYPING_MS = 20_000;

interface Props {
  conversation: Conversation;
  onSent: () => void;
}

/** The form for a reply: a text, or a template where no free text is possible. */
export function ReplyBox({ conversation, onSent }: Props) {
  const { id, textUntil } = conversation;
  const [text, setText] = useState("");
  const [templateName, setTemplateName] = useState("");
  const [params, setParams] = useState("");
  const [openedAt] = useState(() => Date.now());
  const isText = takesText(conversation, openedAt);
  const shownAt = useRef(0);
  const showTyping = (): void => {
    if (Date.now() - shownAt.current < TYPING_MS) return;
    shownAt.current = Date.now();
    void showRead(conversation, true);
  };
  const values = params === "" ? [] : params.split("|").map((value) => value.trim());
  const body = isText ? { text } : { templateName: templateName.trim(), ...(values.length > 0 && { params: values }) };
  const isEmpty = (isText ? text : templateName).trim() === "";
  const { send, error, busy, reset } = useSendOnce(`${CONVERSATIONS}/${id}/replies`, body, {
    onSent: () => {
      setText("");
      setParams("");
      reset();
      onSent();
    },
  });
  const sendByKey = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || isEmpty) return;
    event.preventDefault();
    send();
  };
  return (
    <Stack gap="sm" mt="md">
      {textUntil !== null && <SessionNote isOpen={isText} until={textUntil} />}
      {isText && (
        <>
          <CannedReplies onChosen={(chosen) => setText(text === "" ? chosen : `${text}\n${chosen}`)} />
          <Textarea
            label={t("Reply")}
            value={text}
            onChange={({ currentTarget }) => {
              setText(currentTarget.value);
              showTyping();
            }}
            onKeyDown={sendByKey}
            autosize
            minRows={2}
            maxRows={8}
          />
        </>
      )}
      {!isText && (
        <Group grow>
          <TextInput
            label={t("Template name")}
            value={templateName}
            onChange={({ currentTarget }) => {
              setTemplateName(currentTarget.value);
              showTyping();
            }}
          />
          <TextInput
            label={t("Values")}
            description={t("In order, separated by |.")}
            value={params}
            onChange={({ currentTarget }) => setParams(currentTarget.value)}
          />
        </Group>
      )}
      {error && <ErrorState error={error} />}
      <Group justify="space-between">
        <Text size="xs" c="dimmed">
          {t("Ctrl Enter sends.")}
        </Text>
        <GuardedButton
          leftSection={<IconSend size={16} aria-hidden />}
          loading={busy}
          whyNot={isEmpty ? t("Write a reply first.") : null}
          onClick={send}
        >
          {t("Send reply")}
        </GuardedButton>
      </Group>
    </Stack>
  );
}

const SessionNote = ({ isOpen, until }: { isOpen: boolean; until: number }) =>
  isOpen ? (
    <Text size="xs" c="dimmed" component="div">
      {t("Free text is possible until")} <TimeText at={until} size="xs" span />
    </Text>
  ) : (
    <Alert color="yellow" title={t("The 24 hours are over")}>
      {t("Free text is possible for 24 hours after the user's last message. Send a template.")}
    </Alert>
  );

/** Inserts a prepared text. */
function CannedReplies({ onChosen }: { onChosen: (text: string) => void }) {
  const { data } = useQuery({
    queryKey: ["/api/canned-replies", "all"],
    queryFn: ({ signal }) => get<Page<Canned>>("/api/canned-replies", { limit: 200 }, signal),
  });
  const replies = data?.data ?? [];
  if (replies.length === 0) return null;
  return (
    <Select
      label={t("Canned reply")}
      placeholder={t("Choose one to insert")}
      data={replies.map(({ id, name }) => ({ value: id, label: name }))}
      value={null}
      onChange={(id) => {
        const chosen = replies.find((each) => each.id === id);
        if (chosen) onChosen(chosen.text);
      }}
      searchable
      maw={300}
    />
  );
}
