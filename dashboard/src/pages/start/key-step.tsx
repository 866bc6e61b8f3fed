import { Button, Group, Text } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { useState } from "react";
import { Link } from "wouter";
import { post } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { SecretInput } from "../../parts/record/secret-input.tsx";
import { SecretOnce } from "../../parts/secret-once.tsx";
import { useMay } from "../../session.tsx";

interface Props {
  apiKey: string | null;
  /** A new key is shown; a pasted one is not. */
  isNew: boolean;
  onKey: (key: string, isNew: boolean) => void;
}

const WISHES = { name: "Get started", mode: "test", scopes: ["sms", "rcs", "chatapp", "verify", "read"] };

/** Pasted keys may contain spaces and line breaks, which are invalid in headers. */
const NEVER_IN_KEYS = /[^\x21-\x7e]/g;

/**
 * The API key for the quick start. Keys are stored as digests, so only a new one can be shown; it is created on
 * request.
 */
export function KeyStep({ apiKey, isNew, onKey }: Props) {
  const mayOwn = useMay("own");
  const [error, setError] = useState<Error | null>(null);
  const [busy, setBusy] = useState(false);
  const [pasted, setPasted] = useState("");

  async function make(): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      const { key } = await post<{ key: string }>("/api/keys", WISHES);
      onKey(key, true);
    } catch (problem) {
      setError(problem as Error);
    } finally {
      setBusy(false);
    }
  }

  if (apiKey !== null && !isNew)
    return <Text size="sm">{t("Your key is in the command below. It is kept until you leave this page.")}</Text>;
  if (apiKey !== null) return <SecretOnce title={t("Your test key, already in the command below")} secret={apiKey} />;
  return (
    <>
      <Text size="sm" c="dimmed" mb="md">
        {t(
          "The first start printed two keys in the terminal. Or create a test key here: its messages go to simulated phones only.",
        )}
      </Text>
      <Group align="flex-end">
        <Button
          variant="light"
          leftSection={<IconKey size={17} aria-hidden />}
          onClick={() => void make()}
          loading={busy}
          disabled={!mayOwn}
        >
          {t("Create test key")}
        </Button>
        <SecretInput
          label={t("Existing key")}
          autoComplete="off"
          value={pasted}
          onChange={({ currentTarget }) => setPasted(currentTarget.value.replaceAll(NEVER_IN_KEYS, ""))}
          flex="1 1 12rem"
        />
        <Button variant="default" disabled={pasted === ""} onClick={() => onKey(pasted, false)}>
          {t("Use key")}
        </Button>
        <Button component={Link} href="/account/keys" variant="subtle">
          {t("All keys")}
        </Button>
      </Group>
      {error && <ErrorState error={error} title={t("Key not created")} />}
    </>
  );
}
