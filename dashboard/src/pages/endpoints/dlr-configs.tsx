import { Text } from "@mantine/core";
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
  add: "Add Configuration",
  starts: { name: "", provider: "ALL", method: "POST", url: "", headers: [], enabled: true },
  fields: [
    {
      name: "name",
      label: "Name",
      hint: "Unique: the log of callbacks shows it.",
      input: { kind: "text", placeholder: "Reports" },
      required: true,
    },
    {
      name: "provider",
      label: "Provider",
      hint: "The carrier whose messages it is told of.",
      input: {
        kind: "choice",
        options: [{ value: "ALL", label: "All of them" }, ...carriers.map((name) => ({ value: name, label: name }))],
      },
      required: true,
    },
    {
      name: "method",
      label: "Method",
      hint: "POST brings JSON; GET brings everything in the query.",
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
      label: "End Point",
      hint: "A public address that answers with a 2xx within 15 seconds.",
      input: { kind: "text", type: "url", placeholder: "https://shop.example/reports" },
      required: true,
    },
    {
      name: "headers",
      label: "Headers",
      hint: "Each is sent along with its value filled in, and the report has exactly these fields. Without any, it has the eight usual ones.",
      input: { kind: "own", component: HeadersInput },
    },
    {
      name: "enabled",
      label: "On",
      hint: "What happens while it is off is not told later.",
      input: { kind: "switch" },
    },
  ],
  columns: [
    { title: "Provider", wide: true, render: ({ provider }) => provider },
    { title: "Method", wide: true, render: ({ method }) => method },
    {
      title: "End Point",
      wide: true,
      render: ({ url }) => (
        <Text size="sm" lineClamp={1} maw={360}>
          {url}
        </Text>
      ),
    },
    { title: "Health", render: (config) => <HealthBadge path={PATH} endpoint={config} /> },
  ],
  empty: {
    sentence: "No address gets delivery reports yet. Add one, and it hears what became of every text message.",
    example: { name: "Reports", provider: "ALL", method: "POST", url: "https://shop.example/reports" },
  },
  removal: "It gets no more reports, and those that still wait for it are dropped.",
});

/** Where the delivery reports of text messages go. */
export default function DlrConfigs() {
  const { parts, dialog } = useEndpointParts<DlrConfig>(PATH);
  const carriers = useNames("/api/carriers");
  return (
    <>
      <RecordTable
        kind={{ ...kindWith(carriers), ...parts }}
        title="DLR Push Configuration"
        lead="Addresses of yours that hear what became of text messages, with the fields that you choose."
      />
      {dialog}
    </>
  );
}
