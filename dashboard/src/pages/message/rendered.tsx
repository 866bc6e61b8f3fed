import { Badge, Group, Paper, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { get } from "../../api.ts";
import type { Message, PhoneMessage } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { Bubble } from "../../parts/phone/bubble.tsx";
import { Flash } from "../../parts/phone/flash.tsx";
import { useMay } from "../../session.tsx";
import classes from "./rendered.module.css";

/** The message as the simulated phone shows it; without one, its text. */
export function Rendered({ message }: { message: Message }) {
  const { messageId, recipient } = message;
  // Viewers get masked numbers, so they cannot query the simulated phone.
  const mayAsk = useMay("write");
  const { data, isPending } = useQuery({
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
  const isUnknown = (!mayAsk || !isPending) && !data?.data;
  const { data: look } = useQuery({
    enabled: isUnknown && message.templateName !== null && message.channel !== "sms",
    queryKey: ["template of", messageId],
    // On demand: it needs the code of the composer and of templates.
    queryFn: async () => (await import("./template-look.ts")).templateLook(message),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const shown = data?.data ?? look ?? wordsOf(message);
  const isSimulated = Boolean(data?.data) || message.carrier === "simulator" || message.test;
  return (
    <Paper component="section" aria-label={t("Preview")} className={classes.screen}>
      <Group justify="space-between" mb="md">
        <Title order={2} size="h4">
          {message.status === "Delivered" ? t("On the phone") : t("Preview")}
        </Title>
        {isSimulated && (
          <Badge component={Link} href={`/phones/${recipient.replace("+", "")}`} color="gray" className={classes.link}>
            {t("Simulated phone")}
          </Badge>
        )}
      </Group>
      {message.status === "Failed" && (
        <Text size="sm" mb="sm">
          {t("This message is not on the phone: it was not delivered.")}
        </Text>
      )}
      {isSimulated && message.status === "Delivered" && (
        <Text size="sm" c="dimmed" mb="sm">
          {t("The simulator delivered it. No real phone got it.")}
        </Text>
      )}
      {look && !data?.data && (
        <Text size="sm" c="dimmed" mb="sm">
          {t("Shown with the template as it is now. Pictures and values of the message may differ.")}
        </Text>
      )}
      {message.erased && !data?.data ? (
        <Text size="sm" c="dimmed">
          {t("The text is not stored: it was a one-time password, or its retention has ended.")}
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

function wordsOf({
  messageId,
  recipient,
  sender,
  channel,
  templateName,
  createdAt,
  ...content
}: Message): PhoneMessage {
  const { text, encoding, dataCoding, udh, session } = content;
  return {
    id: messageId,
    messageId,
    to: recipient,
    sender,
    channel: channel === "chatapp" ? "chatapp" : "sms",
    text: text === "" && templateName !== null ? t("Template {templateName}", { templateName }) : text,
    encoding,
    dataCoding,
    udh,
    ...(session && { session }),
    receivedAt: createdAt,
  };
}
