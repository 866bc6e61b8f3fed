import { Button, Grid, Paper, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { IconDownload } from "@tabler/icons-react";
import { get } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { curlOf } from "../../parts/curl.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { saveFile } from "../../parts/save-file.ts";
import { ApplySetUp } from "./apply-set-up.tsx";
import { SET_UP } from "./set-up-plan.ts";

/** Exports the whole configuration as one file, for version control or another server, and applies such files. */
export default function SetUp() {
  const { data, error, refetch } = useQuery({
    queryKey: [SET_UP],
    queryFn: ({ signal }) => get<Record<string, unknown>>(SET_UP, {}, signal),
  });
  const text = JSON.stringify(data, null, 2);
  return (
    <>
      <PageHeader
        title={t("Set-up file")}
        lead={t(
          "Settings, templates, routes, webhooks and all other records as one file: store it in a repository, compare it, or apply it to another server. It contains no secrets.",
        )}
      />
      <Grid gap="xl">
        <Grid.Col span={{ base: 12, md: 6 }}>
          <ApplySetUp current={text} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Paper component="section" aria-label={t("Export")}>
            <Stack>
              <Title order={2} size="h4">
                {t("Export")}
              </Title>
              {error && <ErrorState error={error} retry={() => void refetch()} />}
              {!data && !error && <PageLoading />}
              {data && (
                <>
                  <Text size="sm">{t("Always in the same order, so that files can be compared.")}</Text>
                  <div>
                    <Button
                      variant="default"
                      leftSection={<IconDownload size={16} aria-hidden />}
                      onClick={() => saveFile("heliograph-set-up.json", "application/json", [`${text}\n`])}
                    >
                      {t("Download")}
                    </Button>
                  </div>
                  <CodeBlock heading="heliograph-set-up.json" code={text} />
                  <CodeBlock heading={t("Terminal command")} code={curlOf({ path: SET_UP })} />
                </>
              )}
            </Stack>
          </Paper>
        </Grid.Col>
      </Grid>
    </>
  );
}
