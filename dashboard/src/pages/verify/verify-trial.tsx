import { Alert, Anchor, Button, Grid, Group, Paper, Select, Stack, Text, TextInput, Title } from "@mantine/core";
import { IconCheck, IconSend, IconShieldCheck } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { get, post, type Page } from "../../api.ts";
import { ownUrl } from "../../base.ts";
import { t } from "../../i18n/t.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { curlOf } from "../../parts/curl.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { GuardedButton } from "../../parts/guarded.tsx";
import { useSendOnce } from "../../parts/use-send-once.ts";
import type { VerifyConfig } from "./verification.ts";

/** Sends a code and checks the user's input, as the API does. */
export function VerifyTrial() {
  const { data: listed } = useQuery({
    queryKey: ["/api/verify-configs", "all"],
    queryFn: ({ signal }) => get<Page<VerifyConfig>>("/api/verify-configs", { limit: 200 }, signal),
  });
  const configs = listed?.data ?? [];
  const [configId, setConfigId] = useState<string | null>(null);
  const [to, setTo] = useState("");
  const [email, setEmail] = useState("");
  const [language, setLanguage] = useState<string | null>(null);
  const [verifyId, setVerifyId] = useState<string | null>(null);
  const config = configs.find(({ name }) => name === configId) ?? configs[0];
  const { isEmailed, isOnlyEmailed } = emailUse(config);
  const languages = languagesOf(config);
  const body = {
    configId: config?.name ?? "default",
    to,
    ...(isEmailed && email.trim() !== "" ? { email: email.trim() } : {}),
    ...(language !== null && languages.includes(language) ? { locale: language } : {}),
  };
  const send = useSendOnce<{ data: string }>("/v1/verify", body, {
    onSent: ({ data }) => setVerifyId(data),
  });
  const change = (run: () => void): void => {
    run();
    send.reset();
    setVerifyId(null);
  };
  return (
    <Grid gap="xl">
      <Grid.Col span={{ base: 12, md: 6 }}>
        <Paper component="section" aria-label={t("Send a code")}>
          <Title order={2} size="h4" mb="md">
            {t("1. Send a code")}
          </Title>
          <Stack>
            <Select
              label={t("Configuration")}
              data={configs.map(({ name }) => name)}
              value={body.configId}
              onChange={(name) => change(() => setConfigId(name))}
              allowDeselect={false}
            />
            <TextInput
              label={t("Phone number")}
              description={t("With its country code, such as 15550100100.")}
              inputMode="tel"
              value={to}
              onChange={({ currentTarget: { value } }) => change(() => setTo(value))}
            />
            {isEmailed && (
              <TextInput
                label={t("E-mail address")}
                description={
                  isOnlyEmailed
                    ? t("Address of the same user. This configuration sends its codes by e-mail only.")
                    : t("Address of the same user. Without it the channel e-mail is skipped.")
                }
                inputMode="email"
                autoComplete="off"
                value={email}
                onChange={({ currentTarget: { value } }) => change(() => setEmail(value))}
              />
            )}
            {languages.length > 0 && (
              <Select
                label={t("Language of the user")}
                placeholder={t("Text without a language")}
                data={languages}
                value={body.locale ?? null}
                onChange={(tag) => change(() => setLanguage(tag))}
                clearable
                clearButtonProps={{ "aria-label": t("Clear the language") }}
              />
            )}
            {send.error && <ErrorState error={send.error} title={t("The code was not sent")} />}
            <Group>
              <GuardedButton
                leftSection={<IconSend size={16} aria-hidden />}
                loading={send.busy}
                whyNot={whyNotSend({ to, email, isOnlyEmailed, isSent: verifyId !== null })}
                onClick={send.send}
              >
                {verifyId ? t("Sent") : t("Send code")}
              </GuardedButton>
              {verifyId && (
                <Button variant="subtle" onClick={() => change(() => undefined)}>
                  {t("Send another")}
                </Button>
              )}
            </Group>
            <CodeBlock heading={t("The same as curl")} code={curlOf({ path: "/v1/verify", body })} />
          </Stack>
        </Paper>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 6 }}>
        {verifyId ? <Check key={verifyId} verifyId={verifyId} to={to} /> : <Waiting />}
      </Grid.Col>
    </Grid>
  );
}

function emailUse(config: VerifyConfig | undefined): { isEmailed: boolean; isOnlyEmailed: boolean } {
  const channels = config?.channels ?? [];
  const isEmailed = channels.some(({ channel }) => channel === "email");
  return { isEmailed, isOnlyEmailed: isEmailed && channels.every(({ channel }) => channel === "email") };
}

/** The languages in which a configuration has a text or a subject of its own. */
const languagesOf = (config: VerifyConfig | undefined): string[] =>
  [...new Set([...Object.keys(config?.texts ?? {}), ...Object.keys(config?.subjects ?? {})])].toSorted();

interface Ready {
  to: string;
  email: string;
  isOnlyEmailed: boolean;
  isSent: boolean;
}

function whyNotSend({ to, email, isOnlyEmailed, isSent }: Ready): string | null {
  if (to.trim() === "") return t("Enter a number first.");
  if (isOnlyEmailed && email.trim() === "") return t("Enter an e-mail address first.");
  return isSent ? t("A code has been sent.") : null;
}

const Waiting = () => (
  <Paper component="section" aria-label={t("Check the code")}>
    <Title order={2} size="h4" mb="md">
      {t("2. Check the code")}
    </Title>
    <Text size="sm" c="dimmed">
      {t("Send a code first. Then enter here what the phone shows.")}
    </Text>
  </Paper>
);

function Check({ verifyId, to }: { verifyId: string; to: string }) {
  const client = useQueryClient();
  const [otp, setOtp] = useState("");
  const [error, setError] = useState<Error | null>(null);
  const [busy, setBusy] = useState(false);
  const [verified, setVerified] = useState(false);
  const number = to.replaceAll(/\D/g, "");

  async function check(): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      await post("/v1/verify/validate", { verifyId, otp });
      setVerified(true);
    } catch (problem) {
      setError(problem as Error);
    } finally {
      setBusy(false);
    }
    await client.invalidateQueries({ queryKey: ["/api/verifications"] });
  }

  return (
    <Paper component="section" aria-label={t("Check the code")}>
      <Title order={2} size="h4" mb="md">
        {t("2. Check the code")}
      </Title>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void check();
        }}
      >
        <Stack>
          {/* In other tabs, because the code is checked here. */}
          <Text size="sm">
            {t("Sent to {to}.", { to })}{" "}
            <Anchor href={ownUrl(`/messages/${verifyId}:1`)} target="_blank" size="sm">
              {t("View status")}
            </Anchor>{" "}
            <Anchor href={ownUrl(`/phones/${number}`)} target="_blank" size="sm">
              {t("View on the phone")}
            </Anchor>
          </Text>
          <TextInput
            label={t("Code")}
            value={otp}
            onChange={({ currentTarget }) => setOtp(currentTarget.value.trim())}
            autoComplete="one-time-code"
            inputMode="numeric"
            maxLength={10}
          />
          {error && <ErrorState error={error} title={t("Not verified")} />}
          {verified && (
            <Alert color="green" icon={<IconCheck aria-hidden />} title={t("Verified")} data-verified>
              {t("The code was right. It cannot be used again.")}
            </Alert>
          )}
          <Group>
            <GuardedButton
              type="submit"
              leftSection={<IconShieldCheck size={16} aria-hidden />}
              loading={busy}
              whyNot={verified ? t("This code has been used.") : otp === "" ? t("Enter the code first.") : null}
            >
              {t("Check code")}
            </GuardedButton>
          </Group>
          <CodeBlock
            heading={t("The same as curl")}
            code={curlOf({ path: "/v1/verify/validate", body: { verifyId, otp: otp || "…" } })}
          />
        </Stack>
      </form>
    </Paper>
  );
}
