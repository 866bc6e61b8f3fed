import { Alert, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { IconCheck, IconPlugConnected, IconX } from "@tabler/icons-react";
import { post } from "../../api.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { GuardedButton } from "../../parts/guarded.tsx";
import { duration } from "../../parts/time-text.tsx";
import { CARRIERS, type Carrier } from "./carrier.ts";

interface Trial {
  outcome: "bound" | "refused" | "unreachable";
  description: string;
  code: string | null;
  systemId: string | null;
  ms: number;
}

const TITLES: Readonly<Record<Trial["outcome"], string>> = {
  bound: "It can be bound",
  refused: "The carrier refused",
  unreachable: "The carrier cannot be reached",
};

/** A button that binds a line once, and says what happened. */
export function BindTrial({ carrier }: { carrier: Carrier }) {
  const trial = useMutation({ mutationFn: () => post<Trial>(`${CARRIERS}/${carrier.id ?? ""}/test`) });
  return (
    <Stack gap="sm">
      <div>
        <GuardedButton
          variant="default"
          leftSection={<IconPlugConnected size={16} aria-hidden />}
          loading={trial.isPending}
          onClick={() => trial.mutate()}
        >
          Try to bind
        </GuardedButton>
        <Text size="sm" c="dimmed" mt={6}>
          Once more beside the binds that there are, with the saved settings. A carrier that allows no further bind
          refuses it.
        </Text>
      </div>
      {trial.error && <ErrorState error={trial.error} title="It was not tried" />}
      {trial.data && <Outcome trial={trial.data} />}
    </Stack>
  );
}

function Outcome({ trial: { outcome, description, code, systemId, ms } }: { trial: Trial }) {
  const isBound = outcome === "bound";
  const Icon = isBound ? IconCheck : IconX;
  return (
    <Alert
      color={isBound ? "green" : "red"}
      icon={<Icon aria-hidden />}
      title={`${TITLES[outcome]}, after ${duration(ms)}`}
      data-outcome={outcome}
    >
      {description}
      {code !== null && ` (${code})`}
      {systemId && `. It calls itself ${systemId}`}
    </Alert>
  );
}
