import { dlrConfig } from "../../records/types/dlr-config.ts";
import { dlrConfigs } from "../../records/record-types.ts";
import { endpointRoutes, endpointView } from "./endpoints.ts";
import type { RecordDocs } from "./record-shapes.ts";

const headers = [
  { key: "X-Message-Id", value: "{{messageId}}" },
  { key: "X-Status", value: "{{status}}" },
];

export const dlrConfigDocs: RecordDocs = {
  type: dlrConfigs,
  group: "Delivery reports",
  about:
    "URLs that receive delivery reports of text messages, by POST or GET. `headers` or `fields` choose the fields. Secrets are shown only once.",
  definitions: [
    {
      definition: dlrConfig,
      title: "DlrConfig",
      responseFields: endpointView,
      example: {
        name: "Reports",
        content: {
          provider: "ALL",
          method: "POST",
          url: "https://shop.example/reports",
          headers,
          enabled: true,
          disabledReason: null,
          secrets: [],
        },
      },
    },
  ],
  createExamples: {
    "default fields": { name: "Reports", url: "https://shop.example/reports" },
    "two fields, also as headers": {
      name: "Two fields",
      provider: "ALL",
      method: "POST",
      url: "https://shop.example/reports",
      headers,
    },
    "own field names and a header": {
      name: "Own names",
      url: "https://shop.example/reports",
      fields: [
        { name: "id", value: "{{messageId}}" },
        { name: "state", value: "{{status}}" },
        { name: "source", value: "heliograph" },
      ],
      constantHeaders: [{ name: "Authorization", value: "Bearer 3f9a17c2" }],
    },
    "by GET, one carrier": {
      name: "By GET",
      provider: "simulator",
      method: "GET",
      url: "https://shop.example/report",
    },
  },
  updateExamples: { enable: { enabled: true }, "new URL": { url: "https://shop.example/new" } },
};

export const dlrConfigRoutes = endpointRoutes(dlrConfigDocs);
