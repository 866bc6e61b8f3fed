import { Alert, Badge, Button, Group, Loader, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { post } from "../../api.ts";
import type { SmsPreview } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";

const TYPING_MS = 300;

interface Props {
  body: Record<string, unknown>;
  /** Replaces the text by a cheaper encoding of it. Absent for texts of templates. */
  onText?: ((text: string) => void) | undefined;
}

/** The server's preview of a text: segments, price and refusals. */
export function SegmentCounter({ body, onText }: Props) {
  const [settled] = useDebouncedValue(JSON.stringify(body), TYPING_MS);
  const { data, error } = useQuery({
    queryKey: ["sms preview", settled],
    queryFn: () => post<SmsPreview>("/v1/sms/preview", JSON.parse(settled)),
    placeholderData: keepPreviousData,
    retry: false,
  });
  if (error)
    return (
      <Text size="sm" c="red.7" aria-live="polite">
        {error.message}
      </Text>
    );
  if (!data) return <Loader size="xs" />;
  const failed = data.recipients.filter(({ failure }) => failure !== null);
  const { cheaper } = data;
  return (
    <div data-segments={data.segmentCount}>
      <Group gap="xs" aria-live="polite">
        <Badge color={data.segmentCount > 1 ? "yellow" : "green"}>
          {t(data.segmentCount === 1 ? "{count} segment" : "{count} segments", { count: data.segmentCount })}
        </Badge>
        <Badge color="gray">{data.encoding === "gsm7" ? "GSM-7" : "UCS-2"}</Badge>
        <Text size="sm" c="dimmed">
          {t("{characters} characters", { characters: data.characters })} ·{" "}
          {t(data.credits === 1 ? "{count} credit" : "{count} credits", { count: data.credits })}
          {data.balance === null ? "" : t(" of {balance}", { balance: data.balance })}
        </Text>
      </Group>
      {cheaper && onText && (
        <Alert
          color="yellow"
          mt="xs"
          title={t("{segments} instead of {segmentCount} segments", {
            segments: cheaper.segments,
            segmentCount: data.segmentCount,
          })}
        >
          <Group justify="space-between">
            <Text size="sm" flex={1}>
              {cheaper.replaced.map(({ found, use }) => `${found} → ${use || t("nothing")}`).join(", ")}
            </Text>
            <Button size="compact-sm" variant="default" onClick={() => onText(cheaper.text)}>
              {t("Use it")}
            </Button>
          </Group>
        </Alert>
      )}
      {!data.affordable && <Text size="sm">{t("Not enough credits.")}</Text>}
      {failed.map(({ recipient, failure }) => (
        <Text key={recipient} size="sm" mt={4}>
          {t("{recipient} would fail: {failure}", { recipient, failure: failure ?? "" })}
        </Text>
      ))}
      {data.wouldRefuse.map((policy) => (
        <Text key={policy} size="sm" c="dimmed" mt={4}>
          {t("A real carrier would reject this: {policy}", { policy })}
        </Text>
      ))}
    </div>
  );
}
