import { Alert, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { IconRefresh } from "@tabler/icons-react";
import { useState } from "react";
import { post } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { GuardedConfirm } from "../../parts/guarded.tsx";
import { SignatureHelp } from "../../parts/signature-help.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import type { Endpoint, EndpointPath } from "./endpoint.ts";
import { NumberInput } from "../../parts/number-input.tsx";

const OVERLAP_HOURS = 24;
const OVERLAP_HOURS_MAX = 168;

interface Props {
  path: EndpointPath;
  endpoint: Endpoint;
  onSecret: (secret: string) => void;
}

/** The signing secret. It cannot be read back, so a lost one is rotated. */
export function SecretPanel({ path, endpoint, onSecret }: Props) {
  const client = useQueryClient();
  const [hours, setHours] = useState<number>(OVERLAP_HOURS);
  return (
    <Stack>
      <Text size="sm">
        {t("Every request is signed. The secret was shown once at creation. If you lose it, rotate it.")}
      </Text>
      {endpoint.oldSecretUntil !== null && (
        <Alert color="blue" title={t("Two active secrets")}>
          {t("The previous secret also signs until")} <TimeText at={endpoint.oldSecretUntil} size="sm" span />.
        </Alert>
      )}
      <NumberInput
        label={t("Keep the old secret active for")}
        description={t("Gives your server time to switch.")}
        suffix={t(" hours")}
        min={0}
        max={OVERLAP_HOURS_MAX}
        value={hours}
        onChange={(value) => setHours(typeof value === "number" ? value : OVERLAP_HOURS)}
      />
      <div>
        <GuardedConfirm
          leftSection={<IconRefresh size={16} aria-hidden />}
          question={t("Rotate the secret?")}
          consequence={
            hours === 0
              ? t("The old secret stops at once: your server rejects all requests until it has the new one.")
              : t("Requests are signed with both for {hours} hours. Give your server the new one in that time.", {
                  hours,
                })
          }
          yes={t("Rotate")}
          run={async () => {
            const { secret } = await post<{ secret: string }>(`${path}/${endpoint.id}/rotate-secret`, {
              overlapHours: hours,
            });
            onSecret(secret);
            await client.invalidateQueries({ queryKey: [path] });
          }}
        >
          {t("Rotate secret")}
        </GuardedConfirm>
      </div>
      <SignatureHelp />
    </Stack>
  );
}
