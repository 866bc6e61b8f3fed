import { Alert, Group, Paper, Select, Stack, Text, TextInput, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { IconCheck, IconUpload } from "@tabler/icons-react";
import { useState } from "react";
import { get, post, type Page } from "../../api.ts";
import type { ChatTemplate, Template } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { GuardedButton } from "../../parts/guarded.tsx";
import { neededValue } from "../compose/body.ts";

interface Props {
  template: Template;
  /** True if the editor has unsaved changes. */
  changed: boolean;
  /** Samples of the variables, which the platform's reviewers see. */
  params: readonly string[];
}

/** Submits a chat-app template to the platform of a WhatsApp carrier; nothing if the account has none. */
export function SubmitTemplate({ template, ...props }: Props) {
  const { data } = useQuery({
    queryKey: ["/api/carriers", "names"],
    queryFn: ({ signal }) => get<Page<{ name: string; adapter: string }>>("/api/carriers", { limit: 200 }, signal),
    enabled: template.channel === "chatapp",
  });
  const names = data?.data.filter(({ adapter }) => adapter === "whatsapp").map(({ name }) => name) ?? [];
  if (template.channel !== "chatapp" || names.length === 0) return null;
  return <Submission template={template} names={names} {...props} />;
}

function Submission({
  template,
  names,
  changed,
  params,
}: Omit<Props, "template"> & { template: ChatTemplate; names: readonly string[] }) {
  const [carrier, setCarrier] = useState(names[0] ?? "");
  const [header, setHeader] = useState("4711");
  const client = useQueryClient();
  const hasHeaderVariable = template.header?.text?.includes("{{") === true;
  const buttons = Object.fromEntries(
    template.buttons.flatMap((button, index) => (neededValue(button) ? [[String(index), "4711"]] : [])),
  );
  const submit = useMutation({
    mutationFn: () =>
      post<object>(`/api/templates/${template.id}/submit`, {
        carrier,
        params: Array.from({ length: template.variables }, (_, index) => params[index] || "4711"),
        buttons,
        ...(hasHeaderVariable && { header }),
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["/api/templates"] }),
  });
  return (
    <Paper mt="xl" component="section" aria-label={t("Submit to the platform")}>
      <Title order={2} size="h4" mb="md">
        {t("Submit to the platform")}
      </Title>
      <Stack>
        <Text size="sm" c="dimmed">
          {t("The platform reviews the template with the samples of this page. It can be sent once it is approved.")}
        </Text>
        <Group grow align="flex-start">
          <Select
            label={t("Carrier")}
            data={names}
            value={carrier}
            onChange={(name) => setCarrier(name ?? carrier)}
            allowDeselect={false}
          />
          {hasHeaderVariable && (
            <TextInput
              label={t("Example for the header")}
              value={header}
              onChange={({ currentTarget }) => setHeader(currentTarget.value)}
            />
          )}
        </Group>
        {submit.error && <ErrorState error={submit.error} title={t("Template not submitted")} />}
        {submit.isSuccess && (
          <Alert color="green" icon={<IconCheck aria-hidden />}>
            {t("Submitted. The result of the review appears here.")}
          </Alert>
        )}
        <Group>
          <GuardedButton
            variant="default"
            leftSection={<IconUpload size={16} aria-hidden />}
            loading={submit.isPending}
            whyNot={changed ? t("Save the template first.") : null}
            onClick={() => submit.mutate()}
          >
            {t("Submit")}
          </GuardedButton>
        </Group>
      </Stack>
    </Paper>
  );
}
