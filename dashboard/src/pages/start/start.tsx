import { Anchor, Button, Grid, Group, Paper, Stack, Text, ThemeIcon, Title } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { useState, type ReactNode } from "react";
import { Link } from "wouter";
import { api } from "../../api.ts";
import type { PhoneMessage, Sent } from "../../api-types.ts";
import { useLive } from "../../live.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { curlOf } from "../../parts/curl.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Bubble } from "../../parts/phone/bubble.tsx";
import { PhoneFrame } from "../../parts/phone/phone-frame.tsx";
import { useMay } from "../../session.tsx";
import { DeliverySteps } from "./delivery-steps.tsx";
import { KeyStep } from "./key-step.tsx";

const NUMBER = "15550100100";
const FIRST = { sender: "HELIOG", to: NUMBER, text: "Hello from Heliograph", type: "TRANS" };

/** From nothing to a delivered message: a key, a command, a phone that lights up, a delivery report. */
export default function Start() {
  const mayWrite = useMay("write");
  const [key, setKey] = useState<string | null>(null);
  const [arrived, setArrived] = useState<PhoneMessage[]>([]);
  const [messageId, setMessageId] = useState<string | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [busy, setBusy] = useState(false);
  // Whoever runs the command in a terminal sees it here just the same.
  useLive<PhoneMessage>("message", (message) => {
    if (message.to !== NUMBER || message.channel !== "sms") return;
    setArrived((before) => (before.some(({ id }) => id === message.id) ? before : [...before, message]));
    setMessageId(message.messageId);
  });

  async function run(): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      const sent = await api<Sent>("POST", "/v1/sms", { body: FIRST, ...(key ? { apiKey: key } : {}) });
      setMessageId(sent.data[0]?.messageId ?? null);
    } catch (problem) {
      setError(problem as Error);
    } finally {
      setBusy(false);
    }
  }

  return (
    <>
      <PageHeader
        title="Get started"
        lead="Sixty seconds from here to a delivered message. It goes to a simulated phone: nothing costs anything, and nobody is disturbed."
      />
      <Grid gap={{ base: "xl", lg: 48 }}>
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Stack gap="xl">
            <Step n={1} title="Your key">
              <KeyStep apiKey={key} onKey={setKey} />
            </Step>
            <Step n={2} title="Send the first message">
              <Text size="sm" c="dimmed" mb="sm">
                Paste this into a terminal, or run it right here.
              </Text>
              <CodeBlock heading="Terminal" code={curlOf({ path: "/v1/sms", body: FIRST, apiKey: key })} />
              <Group mt="md">
                <Button
                  leftSection={<IconPlayerPlay size={17} aria-hidden />}
                  onClick={() => void run()}
                  loading={busy}
                  disabled={!mayWrite}
                >
                  Run it
                </Button>
                {!mayWrite && (
                  <Text size="sm" c="dimmed">
                    You may look but not send; ask an owner for the role of a member.
                  </Text>
                )}
              </Group>
              {error && <ErrorState error={error} title="The message was not sent" />}
            </Step>
            <Step n={3} title="See what became of it">
              {messageId ? (
                <DeliverySteps messageId={messageId} />
              ) : (
                <Text size="sm" c="dimmed">
                  Once the message is on its way, every step shows here: accepted, on the phone, delivered.
                </Text>
              )}
            </Step>
            <Step n={4} title="Go on from here">
              <Text size="sm">
                <Anchor component={Link} href="/composer">
                  Compose
                </Anchor>{" "}
                any other kind of message,{" "}
                <Anchor component={Link} href={`/phones/${NUMBER}`}>
                  answer it from the phone
                </Anchor>
                , or have your own server told of every delivery by a{" "}
                <Anchor component={Link} href="/message-app/utility-manager/dlr-push-configuration">
                  delivery report
                </Anchor>
                .
              </Text>
            </Step>
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <PhoneFrame
            label={`The phone of +${NUMBER}`}
            title={FIRST.sender}
            subtitle={`on the phone of +${NUMBER}`}
            lit={arrived.at(-1)?.id}
          >
            {arrived.length === 0 ? (
              <Text c="dimmed" size="sm" ta="center" my="auto">
                This phone is waiting for your first message.
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

function Step({ n, title, children }: { n: number; title: string; children: ReactNode }) {
  return (
    <Paper component="section" aria-label={title}>
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
