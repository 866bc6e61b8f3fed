import { Text } from "@mantine/core";
import { t } from "../../i18n/t.ts";
import { useNames } from "../../parts/record/use-names.ts";
import type { RecordKind } from "../../parts/record/record-kind.ts";
import { RecordTable } from "../../parts/record/record-table.tsx";
import type { DlrConfig } from "./endpoint.ts";
import { HeadersInput } from "./headers-input.tsx";
import { HealthBadge } from "./health-panel.tsx";
import { useEndpointParts } from "./use-endpoint-parts.tsx";

const PATH = "/api/dlr-configs";

const kindWith = (carriers: readonly string[]): Omit<RecordKind<DlrConfig>, "panels" | "onMade"> => ({
  path: PATH,
  one: "configuration",
  add: t("Add Configuration"),
  starts: { name: "", provider: "ALL", method: "POST", url: "", headers: [], enabled: true },
  fields: [
    {
      name: "name",
      label: t("Name"),
      hint: t("Unique name, shown in the delivery log."),
      input: { kind: "text", placeholder: t("Reports") },
      required: true,
    },
    {
      name: "provider",
      label: t("Provider"),
      hint: t("Only reports from this carrier."),
      input: {
        kind: "choice",
        options: [
          { value: "ALL", label: t("All carriers") },
          ...carriers.map((name) => ({ value: name, label: name })),
        ],
      },
      required: true,
    },
    {
      name: "method",
      label: t("Method"),
      hint: t("POST sends JSON; GET sends query parameters."),
      input: {
        kind: "choice",
        options: [
          { value: "POST", label: "POST" },
          { value: "GET", label: "GET" },
        ],
      },
      required: true,
    },
    {
      name: "url",
      label: t("End Point"),
      hint: t("A public URL that responds with 2xx within 15 seconds."),
      input: { kind: "text", type: "url", placeholder: "https://shop.example/reports" },
      required: true,
    },
    {
      name: "headers",
      label: t("Headers"),
      hint: t(
        "Each header is sent with its value filled in, and the report has exactly these fields. Without headers, the report has the eight default fields.",
      ),
      input: { kind: "own", component: HeadersInput },
    },
    {
      name: "enabled",
      label: t("On"),
      hint: t("Events that occur while disabled are not delivered later."),
      input: { kind: "switch" },
    },
  ],
  columns: [
    { title: t("Provider"), wide: true, render: ({ provider }) => provider },
    { title: t("Method"), wide: true, render: ({ method }) => method },
    {
      title: t("End Point"),
      wide: true,
      render: ({ url }) => (
        <Text size="sm" lineClamp={1} maw={360}>
          {url}
        </Text>
      ),
    },
    { title: t("Health"), render: (config) => <HealthBadge path={PATH} endpoint={config} /> },
  ],
  empty: {
    sentence: t("No endpoints yet. Add one to receive the delivery report of every SMS."),
    example: { name: "Reports", provider: "ALL", method: "POST", url: "https://shop.example/reports" },
  },
  removal: t("It gets no more reports. Reports that wait for delivery are discarded."),
});

/** Where the delivery reports of text messages go. */
export default function DlrConfigs() {
  const { parts, dialog } = useEndpointParts<DlrConfig>(PATH);
  const carriers = useNames("/api/carriers");
  return (
    <>
      <RecordTable
        kind={{ ...kindWith(carriers), ...parts }}
        title={t("DLR Push Configuration")}
        lead={t("Your endpoints that receive delivery reports of SMS, with the fields you choose.")}
      />
      {dialog}
    </>
  );
}
