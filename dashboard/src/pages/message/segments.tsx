import { Badge, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { post } from "../../api.ts";
import type { Message, SmsPreview } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { SegmentList } from "../../parts/segment-list.tsx";

/** The SMS segments of a text. */
export function Segments({ message }: { message: Message }) {
  const { sender, recipient, text, type, messageId } = message;
  const { data } = useQuery({
    queryKey: ["segments", messageId],
    queryFn: () => post<SmsPreview>("/v1/sms/preview", { sender, to: recipient, text, type }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  if (!data) return null;
  return (
    <Paper component="section" aria-label={t("Segments")}>
      <Group justify="space-between" mb="md">
        <Title order={2} size="h4">
          {t("Segments")}
        </Title>
        <Badge color="gray">{data.encoding === "gsm7" ? "GSM-7" : "UCS-2"}</Badge>
      </Group>
      <Stack gap="xs">
        <SegmentList segments={data.segments} />
        <Text size="xs" c="dimmed">
          {t("{characters} characters", { characters: data.characters })}
        </Text>
      </Stack>
    </Paper>
  );
}
