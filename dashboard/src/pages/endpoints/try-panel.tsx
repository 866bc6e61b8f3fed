import { Alert, Select, Stack, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { IconCheck, IconSend, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { get, post } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { GuardedButton } from "../../parts/guarded.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { PushRequest } from "../../parts/push-request.tsx";
import { duration } from "../../parts/time-text.tsx";
import { EVENT_NAMES, type Endpoint, type EndpointPath, type Trial } from "./endpoint.ts";

interface Props {
  path: EndpointPath;
  endpoint: Endpoint;
}

/** Preview of the request to an endpoint, and a button that sends it now. */
export function TryPanel({ path, endpoint }: Props) {
  const events = "events" in endpoint ? endpoint.events : [];
  const [event, setEvent] = useState(events[0] ?? null);
  const preview = useQuery({
    queryKey: [path, endpoint.id, "preview", event],
    queryFn: ({ signal }) => get<Pick<Trial, "request">>(`${path}/${endpoint.id}/preview`, { event }, signal),
  });
  const trial = useMutation({
    mutationFn: () => post<Trial>(`${path}/${endpoint.id}/test`, event === null ? {} : { event }),
  });
  const request = trial.data?.request ?? preview.data?.request;
  return (
    <Stack>
      {events.length > 0 && (
        <Select
          label={t("Event")}
          data={events.map((value) => ({ value, label: `${EVENT_NAMES[value] ?? value} (${value})` }))}
          value={event}
          onChange={(value) => {
            setEvent(value);
            trial.reset();
          }}
          allowDeselect={false}
        />
      )}
      <Text size="sm" c="dimmed">
        {t(
          "A sample event, signed like a real one. A test is sent once, even while the endpoint is disabled, and is not stored.",
        )}
      </Text>
      <div>
        <GuardedButton
          leftSection={<IconSend size={16} aria-hidden />}
          loading={trial.isPending}
          onClick={() => trial.mutate()}
        >
          {t("Send test event")}
        </GuardedButton>
      </div>
      {trial.error && <ErrorState error={trial.error} title={t("Test not sent")} />}
      {trial.data && <Answer response={trial.data.response} />}
      {preview.error && <ErrorState error={preview.error} title={t("No preview")} />}
      {preview.isPending && <PageLoading />}
      {request && <PushRequest request={request} />}
    </Stack>
  );
}

function Answer({ response }: Pick<Trial, "response">) {
  const { delivered, status, ms, excerpt, reason } = response;
  const Icon = delivered ? IconCheck : IconX;
  return (
    <Stack gap="sm" data-answer={delivered}>
      <Alert
        color={delivered ? "green" : "red"}
        icon={<Icon aria-hidden />}
        title={
          delivered
            ? t("Your server answered {status} in {duration}", { status: status ?? "", duration: duration(ms) })
            : t("Not delivered")
        }
      >
        {reason}
      </Alert>
      {excerpt !== "" && <CodeBlock heading={t("Response")} code={excerpt} />}
    </Stack>
  );
}
