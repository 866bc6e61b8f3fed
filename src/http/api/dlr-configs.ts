import { dlrConfig } from "../../catalog/kinds/dlr-config.ts";
import { dlrConfigs } from "../../catalog/shelves.ts";
import { endpointRoutes, endpointShown } from "./endpoints.ts";
import type { Telling } from "./record-shapes.ts";

const headers = [
  { key: "X-Message-Id", value: "{{messageId}}" },
  { key: "X-Status", value: "{{status}}" },
];

/** Where the delivery reports of text messages go. */
export const dlrConfigTelling: Telling = {
  shelf: dlrConfigs,
  group: "Delivery reports",
  about:
    "Addresses that are told what became of text messages, by POST or by GET, with the fields that their headers name. The secrets are never shown again.",
  kinds: [
    {
      kind: dlrConfig,
      title: "DlrConfig",
      shown: endpointShown,
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
    "the usual fields": { name: "Reports", url: "https://shop.example/reports" },
    "two fields, also as headers": {
      name: "Two fields",
      provider: "ALL",
      method: "POST",
      url: "https://shop.example/reports",
      headers,
    },
    "in the query, of one carrier": {
      name: "By GET",
      provider: "simulator",
      method: "GET",
      url: "https://shop.example/report",
    },
  },
  changeExamples: { "on again": { enabled: true }, "another address": { url: "https://shop.example/new" } },
};

export const dlrConfigRoutes = endpointRoutes(dlrConfigTelling);
