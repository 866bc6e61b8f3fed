import { Text } from "@mantine/core";
import { t } from "../../i18n/t.ts";
import type { RecordKind } from "../../parts/record/record-kind.ts";
import { CONSTANT_HEADERS } from "./constant-headers-input.tsx";
import type { DlrConfig } from "./endpoint.ts";
import { HeadersInput } from "./headers-input.tsx";
import { HealthBadge } from "./health-panel.tsx";
import { REPORT_FIELDS } from "./report-fields-input.tsx";

export const DLR_PATH = "/api/dlr-configs" as const;

/** Delivery reports of text messages, from all carriers or the given ones. */
export const dlrKind = (carriers: readonly string[]): Omit<RecordKind<DlrConfig>, "panels" | "onMade"> => ({
  path: DLR_PATH,
  one: "configuration",
  add: t("Add Configuration"),
  starts: {
    name: "",
    provider: "ALL",
    method: "POST",
    url: "",
    headers: [],
    fields: null,
    constantHeaders: [],
    enabled: true,
  },
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
        "Each header is sent with its value filled in. Without custom fields, the report has exactly these fields; without headers, the eight default ones.",
      ),
      input: { kind: "own", component: HeadersInput },
    },
    REPORT_FIELDS,
    CONSTANT_HEADERS,
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
    { title: t("Health"), render: (config) => <HealthBadge path={DLR_PATH} endpoint={config} /> },
  ],
  empty: {
    sentence: t("No endpoints yet. Add one to receive the delivery report of every SMS."),
    example: { name: "Reports", provider: "ALL", method: "POST", url: "https://shop.example/reports" },
  },
  removal: t("It gets no more reports. Reports that wait for delivery are discarded."),
});
