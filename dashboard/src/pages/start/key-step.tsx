import { Button, Group, Text } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { useState } from "react";
import { Link } from "wouter";
import { post } from "../../api.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { SecretOnce } from "../../parts/secret-once.tsx";
import { useMay } from "../../session.tsx";

interface Props {
  apiKey: string | null;
  onKey: (key: string) => void;
}

const WISHES = { name: "Get started", mode: "test", scopes: ["sms", "rcs", "chatapp", "verify", "read"] };

/** A key to try things with. Keys are stored as digests, so an older one cannot be shown; a new one is made on request. */
export function KeyStep({ apiKey, onKey }: Props) {
  const mayOwn = useMay("own");
  const [error, setError] = useState<Error | null>(null);
  const [busy, setBusy] = useState(false);

  async function make(): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      const { key } = await post<{ key: string }>("/api/keys", WISHES);
      onKey(key);
    } catch (problem) {
      setError(problem as Error);
    } finally {
      setBusy(false);
    }
  }

  if (apiKey !== null) return <SecretOnce title="Your test key, filled in below" secret={apiKey} />;
  return (
    <>
      <Text size="sm" c="dimmed" mb="md">
        The first start printed two keys in the terminal. A test key made here does as well: its messages go to
        simulated phones only.
      </Text>
      <Group>
        <Button
          variant="light"
          leftSection={<IconKey size={17} aria-hidden />}
          onClick={() => void make()}
          loading={busy}
          disabled={!mayOwn}
        >
          Make a test key
        </Button>
        <Button component={Link} href="/account/keys" variant="subtle">
          All keys
        </Button>
      </Group>
      {error && <ErrorState error={error} title="The key was not made" />}
    </>
  );
}
