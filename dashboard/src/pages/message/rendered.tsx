import { Paper, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { get } from "../../api.ts";
import type { Message, PhoneMessage } from "../../api-types.ts";
import { Bubble } from "../../parts/phone/bubble.tsx";
import { Flash } from "../../parts/phone/flash.tsx";
import { useMay } from "../../session.tsx";
import classes from "./rendered.module.css";

/** The message as a phone shows it: what lies on the simulated phone, else the words alone. */
export function Rendered({ message }: { message: Message }) {
  const { messageId, recipient } = message;
  // A viewer sees the number in part and cannot ask by it.
  const mayAsk = useMay("write");
  const { data } = useQuery({
    enabled: mayAsk,
    queryKey: ["on the phone", messageId, message.state],
    queryFn: ({ signal }) =>
      get<{ data: PhoneMessage | null }>(
        "/api/simulator/messages/wait",
        { to: recipient, messageId, timeout: 0 },
        signal,
      ),
    retry: false,
  });
  const shown = data?.data ?? wordsOf(message);
  return (
    <Paper component="section" aria-label="Preview" className={classes.screen}>
      <Title order={2} size="h4" mb="md">
        On the phone
      </Title>
      {message.erased && !data?.data ? (
        <Text size="sm" c="dimmed">
          The text is not kept: it was a one-time password, or its time is over.
        </Text>
      ) : shown.flash ? (
        <Flash message={shown} />
      ) : (
        <div className={classes.column}>
          <Bubble message={shown} />
        </div>
      )}
    </Paper>
  );
}

const wordsOf = ({ messageId, recipient, sender, channel, text, templateName, createdAt }: Message): PhoneMessage => ({
  id: messageId,
  messageId,
  to: recipient,
  sender,
  channel: channel === "chatapp" ? "chatapp" : "sms",
  text: text === "" && templateName !== null ? `Template ${templateName}` : text,
  receivedAt: createdAt,
});
