import { Anchor, Button, Code, Text } from "@mantine/core";
import { IconTestPipe } from "@tabler/icons-react";
import { Link } from "wouter";
import { usePages } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { DataTable } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { curlOf } from "../../parts/curl.ts";
import type { TestNumber, VerifyConfig } from "./verification.ts";

const PATH = "/api/verify-configs";

interface Row extends TestNumber {
  config: VerifyConfig;
}

/** Test numbers of all configurations. A link leads to the configuration, where they are edited. */
export function TestNumbers() {
  const { rows, query } = usePages<VerifyConfig>(PATH, { limit: 200 });
  const numbers: Row[] = rows.flatMap((config) => config.testNumbers.map((each) => ({ ...each, config })));
  const [first] = rows;
  return (
    <>
      <Text size="sm" c="dimmed" mb="md">
        {t(
          "For app-store reviewers and tests: these numbers always get the same code, only through the simulator. Edit them in their configuration.",
        )}
      </Text>
      <DataTable
        label={t("Test numbers")}
        columns={[
          { title: t("Number"), render: ({ number }) => number },
          { title: t("Code"), render: ({ code }) => <Code>{code}</Code> },
          {
            title: t("Configuration"),
            render: ({ config }) => (
              <Anchor component={Link} href={`/verify?tab=configurations&open=${config.id}`} size="sm">
                {config.name}
              </Anchor>
            ),
          },
        ]}
        rows={numbers}
        rowKey={({ config, number }) => `${config.id} ${number}`}
        loading={query.isPending}
        error={query.error}
        retry={() => void query.refetch()}
        empty={
          <EmptyState
            icon={IconTestPipe}
            sentence={t("No test numbers yet")}
            action={
              first && (
                <Button component={Link} href={`/verify?tab=configurations&open=${first.id}`}>
                  {t("Add one to {name}", { name: first.name })}
                </Button>
              )
            }
            curl={curlOf({
              method: "PATCH",
              path: `${PATH}/${first?.id ?? "{id}"}`,
              body: { testNumbers: [{ number: "15550100111", code: "123456" }] },
            })}
          />
        }
      />
    </>
  );
}
