import { Anchor, Button, Grid, Group, Paper, Stack, Text, ThemeIcon, Title } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { useEffect, useRef, useState, type ReactNode, type Ref } from "react";
import { Link } from "wouter";
import type { PhoneMessage, Sent } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { useLive } from "../../live.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { curlOf } from "../../parts/curl.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Bubble } from "../../parts/phone/bubble.tsx";
import { PhoneFrame } from "../../parts/phone/phone-frame.tsx";
import { useSendOnce } from "../../parts/use-send-once.ts";
import { useMay } from "../../session.tsx";
import { DeliverySteps } from "./delivery-steps.tsx";
import { KeyStep } from "./key-step.tsx";

const NUMBER = "15550100100";
const FIRST = { sender: "HELIOG", to: NUMBER, text: "Hello from Heliograph", type: "TRANS" };

/** Quick start: an API key, a curl command, the message on a phone, and its delivery report. */
export default function Start() {
  const mayWrite = useMay("write");
  const [key, setKey] = useState<string | null>(null);
  const [isNew, setNew] = useState(false);
  const [arrived, setArrived] = useState<PhoneMessage[]>([]);
  const [messageId, setMessageId] = useState<string | null>(null);
  const result = useRef<HTMLDivElement>(null);
  const { send, sent, error, busy, reset } = useSendOnce<Sent>("/v1/sms", FIRST, {
    apiKey: key,
    onSent: ({ data }) => setMessageId(data[0]?.messageId ?? null),
  });
  useEffect(() => {
    if (messageId !== null) result.current?.scrollIntoView({ block: "nearest" });
  }, [messageId]);
  // Also shows messages that were sent from a terminal.
  useLive<PhoneMessage>("message", (message) => {
    if (message.to !== NUMBER || message.channel !== "sms") return;
    setArrived((before) => (before.some(({ id }) => id === message.id) ? before : [...before, message]));
    setMessageId(message.messageId);
  });

  return (
    <>
      <PageHeader
        title={t("Get started")}
        lead={t("Send your first message in a minute. It goes to a simulated phone and costs nothing.")}
      />
      <Grid gap={{ base: "xl", lg: 48 }}>
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Stack gap="xl">
            <Step n={1} title={t("Your key")}>
              <KeyStep
                apiKey={key}
                isNew={isNew}
                onKey={(next, made) => {
                  setKey(next);
                  setNew(made);
                }}
              />
            </Step>
            <Step n={2} title={t("Send the first message")}>
              <Text size="sm" c="dimmed" mb="sm">
                {t("Paste this into a terminal, or run it right here.")}
              </Text>
              <CodeBlock heading={t("Terminal")} code={curlOf({ path: "/v1/sms", body: FIRST, apiKey: key })} />
              <Group mt="md">
                <Button
                  leftSection={<IconPlayerPlay size={17} aria-hidden />}
                  onClick={send}
                  loading={busy}
                  disabled={!mayWrite || sent !== null}
                >
                  {sent ? t("Sent") : t("Run")}
                </Button>
                {sent && (
                  <Button variant="subtle" onClick={reset}>
                    {t("Send another one")}
                  </Button>
                )}
                {!mayWrite && (
                  <Text size="sm" c="dimmed">
                    {t("Your role (viewer) cannot send. Ask an owner for the member role.")}
                  </Text>
                )}
              </Group>
              {error && <ErrorState error={error} title={t("Message not sent")} />}
            </Step>
            <Step n={3} title={t("Check its status")} box={result}>
              {messageId ? (
                <DeliverySteps messageId={messageId} />
              ) : (
                <Text size="sm" c="dimmed">
                  {t("After sending, every step appears here: accepted, on the phone, delivered.")}
                </Text>
              )}
            </Step>
            <Step n={4} title={t("Next steps")}>
              <Text size="sm">
                <Anchor component={Link} href="/composer">
                  {t("Compose")}
                </Anchor>{" "}
                {t("other kinds of messages,")}{" "}
                <Anchor component={Link} href={`/phones/${NUMBER}`}>
                  {t("reply from the phone")}
                </Anchor>
                {t(", or receive every delivery on your server with a")}{" "}
                <Anchor component={Link} href="/message-app/utility-manager/dlr-push-configuration">
                  {t("delivery report")}
                </Anchor>
                .
              </Text>
            </Step>
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <PhoneFrame
            label={t("Phone +{NUMBER}", { NUMBER })}
            title={FIRST.sender}
            subtitle={t("on the phone of +{NUMBER}", { NUMBER })}
            lit={arrived.at(-1)?.id}
          >
            {arrived.length === 0 ? (
              <Text c="dimmed" size="sm" ta="center" my="auto">
                {t("Waiting for your first message")}
              </Text>
            ) : (
              arrived.map((message) => <Bubble key={message.id} message={message} />)
            )}
          </PhoneFrame>
        </Grid.Col>
      </Grid>
    </>
  );
}

interface StepProps {
  n: number;
  title: string;
  children: ReactNode;
  box?: Ref<HTMLDivElement>;
}

function Step({ n, title, children, box }: StepProps) {
  return (
    <Paper component="section" aria-label={title} ref={box}>
      <Group gap="sm" mb="sm">
        <ThemeIcon radius="xl" size={28} variant="light">
          <Text size="sm" fw={700} component="span">
            {n}
          </Text>
        </ThemeIcon>
        <Title order={2} size="h4">
          {title}
        </Title>
      </Group>
      {children}
    </Paper>
  );
}
