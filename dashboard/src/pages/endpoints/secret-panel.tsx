import { Alert, NumberInput, Stack, Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { IconRefresh } from "@tabler/icons-react";
import { useState } from "react";
import { post } from "../../api.ts";
import { GuardedConfirm } from "../../parts/guarded.tsx";
import { SignatureHelp } from "../../parts/signature-help.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import type { Endpoint, EndpointPath } from "./endpoint.ts";

const OVERLAP_HOURS = 24;
const OVERLAP_HOURS_MAX = 168;

interface Props {
  path: EndpointPath;
  endpoint: Endpoint;
  onSecret: (secret: string) => void;
}

/** The secret that requests are signed with: it cannot be read back, so whoever lost it makes another. */
export function SecretPanel({ path, endpoint, onSecret }: Props) {
  const client = useQueryClient();
  const [hours, setHours] = useState<number>(OVERLAP_HOURS);
  return (
    <Stack>
      <Text size="sm">
        Every request is signed. The secret was shown when this was made and cannot be read back; who has lost it makes
        a new one.
      </Text>
      {endpoint.oldSecretUntil !== null && (
        <Alert color="blue" title="Two secrets sign">
          The one before signs as well until <TimeText at={endpoint.oldSecretUntil} size="sm" span />.
        </Alert>
      )}
      <NumberInput
        label="The old one goes on signing for"
        description="So that your server can change over in its own time."
        suffix=" hours"
        min={0}
        max={OVERLAP_HOURS_MAX}
        allowDecimal={false}
        value={hours}
        onChange={(value) => setHours(typeof value === "number" ? value : OVERLAP_HOURS)}
      />
      <div>
        <GuardedConfirm
          leftSection={<IconRefresh size={16} aria-hidden />}
          question="Make a new secret?"
          consequence={
            hours === 0
              ? "The old secret stops at once: your server refuses everything until it knows the new one."
              : `Requests are signed with both for ${hours} hours. Give your server the new one in that time.`
          }
          yes="Make it"
          run={async () => {
            const { secret } = await post<{ secret: string }>(`${path}/${endpoint.id}/rotate-secret`, {
              overlapHours: hours,
            });
            onSecret(secret);
            await client.invalidateQueries({ queryKey: [path] });
          }}
        >
          Rotate the secret
        </GuardedConfirm>
      </div>
      <SignatureHelp />
    </Stack>
  );
}
