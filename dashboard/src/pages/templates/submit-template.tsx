import { Alert, Group, Paper, Select, Stack, Text, TextInput, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { IconCheck, IconUpload } from "@tabler/icons-react";
import { useState } from "react";
import { get, post, type Page } from "../../api.ts";
import type { ChatButton, ChatTemplate, Template } from "../../api-types.ts";
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
  const [language, setLanguage] = useState(template.language);
  const [handles, setHandles] = useState<readonly string[]>([]);
  const [forms, setForms] = useState<Readonly<Record<string, string>>>({});
  const languages = [template, ...(template.languages ?? [])];
  const version = languages.find((each) => each.language === language) ?? template;
  const cards = version.cards ?? [];
  const isFile = ["image", "video", "document"].includes(version.header?.type ?? "");
  const hasHeaderVariable = version.header?.text?.includes("{{") === true;
  const samples = (count: number): string[] => Array.from({ length: count }, (_, index) => params[index] || "4711");
  const examplesOf = (buttons: readonly ChatButton[]): Record<string, string> =>
    Object.fromEntries(buttons.flatMap((button, index) => (neededValue(button) ? [[String(index), "4711"]] : [])));
  const formButtons = version.buttons.flatMap((button, index) => (button.type === "flow" ? [{ button, index }] : []));
  const setHandle = (place: number, handle: string): void =>
    setHandles(Array.from({ length: cards.length + 1 }, (_, at) => (at === place ? handle : (handles[at] ?? ""))));
  const submit = useMutation({
    mutationFn: () =>
      post<object>(`/api/templates/${template.id}/submit`, {
        carrier,
        ...(language !== template.language && { language }),
        params: samples(version.variables),
        buttons: { ...examplesOf(version.buttons), ...forms },
        ...(hasHeaderVariable && { header }),
        ...(isFile && handles[0] && { header: handles[0] }),
        ...(cards.length > 0 && {
          cards: cards.map((card, index) => ({
            params: samples(card.variables ?? 0),
            buttons: examplesOf(card.buttons),
            ...(handles[index + 1] && { header: handles[index + 1] }),
          })),
        }),
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
          {languages.length > 1 && (
            <Select
              label={t("Language")}
              data={languages.map((each) => each.language)}
              value={language}
              onChange={(chosen) => setLanguage(chosen ?? language)}
              allowDeselect={false}
            />
          )}
          {hasHeaderVariable && (
            <TextInput
              label={t("Example for the header")}
              value={header}
              onChange={({ currentTarget }) => setHeader(currentTarget.value)}
            />
          )}
        </Group>
        {isFile && (
          <TextInput
            label={t("Handle of the sample file")}
            description={t("From the platform's resumable upload.")}
            value={handles[0] ?? ""}
            onChange={({ currentTarget }) => setHandle(0, currentTarget.value)}
          />
        )}
        {cards.map((_, index) => (
          <TextInput
            key={index}
            label={t("Handle of the sample file of card {number}", { number: index + 1 })}
            description={t("From the platform's resumable upload.")}
            value={handles[index + 1] ?? ""}
            onChange={({ currentTarget }) => setHandle(index + 1, currentTarget.value)}
          />
        ))}
        {formButtons.map(({ button, index }) => (
          <TextInput
            key={index}
            label={t("ID of the form {text}", { text: button.text })}
            value={forms[index] ?? ""}
            onChange={({ currentTarget }) => setForms({ ...forms, [index]: currentTarget.value })}
          />
        ))}
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
