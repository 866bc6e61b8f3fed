import { Anchor, Button, Code, Text } from "@mantine/core";
import { IconTestPipe } from "@tabler/icons-react";
import { Link } from "wouter";
import { usePages } from "../../api.ts";
import { DataTable } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { curlOf } from "../../parts/curl.ts";
import type { TestNumber, VerifyConfig } from "./verification.ts";

const PATH = "/api/verify-configs";

interface Row extends TestNumber {
  config: VerifyConfig;
}

/** Numbers whose code is always the same, over all configurations. They are changed where they stand. */
export function TestNumbers() {
  const { rows, query } = usePages<VerifyConfig>(PATH, { limit: 200 });
  const numbers: Row[] = rows.flatMap((config) => config.testNumbers.map((each) => ({ ...each, config })));
  const [first] = rows;
  return (
    <>
      <Text size="sm" c="dimmed" mb="md">
        For reviewers of app stores and for tests: codes to these numbers are always the same, and only the simulator
        brings them. They stand in a configuration, and are changed there.
      </Text>
      <DataTable
        label="Test numbers"
        columns={[
          { title: "Number", render: ({ number }) => number },
          { title: "Code", render: ({ code }) => <Code>{code}</Code> },
          {
            title: "Configuration",
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
            sentence="No number has a code that is always the same."
            action={
              first && (
                <Button component={Link} href={`/verify?tab=configurations&open=${first.id}`}>
                  Add one to {first.name}
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
