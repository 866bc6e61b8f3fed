import { Alert, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { IconCheck, IconPlugConnected, IconX } from "@tabler/icons-react";
import { post } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { GuardedButton } from "../../parts/guarded.tsx";
import { duration } from "../../parts/time-text.tsx";
import type { RealLine } from "./adapters.ts";
import { CARRIERS, type Carrier } from "./carrier.ts";

interface Trial {
  outcome: "bound" | "refused" | "unreachable";
  description: string;
  code: string | null;
  systemId: string | null;
  ms: number;
}

const NOES = { refused: t("Refused by the carrier"), unreachable: t("The carrier cannot be reached") } as const;

interface Props {
  carrier: Carrier;
  words: NonNullable<RealLine["trial"]>;
}

/** A button that tests the connection to a carrier once and shows the result. */
export function LineTrial({ carrier, words }: Props) {
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
          {words.button}
        </GuardedButton>
        <Text size="sm" c="dimmed" mt={6}>
          {words.about}
        </Text>
      </div>
      {trial.error && <ErrorState error={trial.error} title={t("Not tested")} />}
      {trial.data && <Outcome trial={trial.data} yes={words.yes} />}
    </Stack>
  );
}

function Outcome({ trial, yes }: { trial: Trial; yes: string }) {
  const { outcome, description, code, systemId, ms } = trial;
  const Icon = outcome === "bound" ? IconCheck : IconX;
  return (
    <Alert
      color={outcome === "bound" ? "green" : "red"}
      icon={<Icon aria-hidden />}
      title={t("{value}, after {duration}", {
        value: outcome === "bound" ? yes : NOES[outcome],
        duration: duration(ms),
      })}
      data-outcome={outcome}
    >
      {description}
      {code !== null && ` (${code})`}
      {systemId && t(". Its system_id is {systemId}", { systemId })}
    </Alert>
  );
}
