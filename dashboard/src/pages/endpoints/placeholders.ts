import { t } from "../../i18n/t.ts";
import type { HeaderPair, ReportField } from "./endpoint.ts";

/** The fields of a delivery report, each with a suggested header and a sample value. */
export const PLACEHOLDERS: readonly { name: string; about: string; header: string; sample: string }[] = [
  {
    name: "messageId",
    about: t("Unique message ID"),
    header: "X-Message-Id",
    sample: "01a1dee6-27d3-7000-a402-c8f176f30400:1",
  },
  { name: "mobileNumber", about: t("Recipient"), header: "X-Mobile-Number", sample: "15550100100" },
  { name: "messageCredit", about: t("Credits charged"), header: "X-Message-Credit", sample: "1" },
  { name: "gatewayName", about: t("Carrier"), header: "X-Gateway-Name", sample: "simulator" },
  { name: "senderName", about: t("Sender"), header: "X-Sender-Name", sample: "HELIOG" },
  { name: "errCode", about: t("Error code, 000 for none"), header: "X-Err-Code", sample: "000" },
  {
    name: "deliveredDate",
    about: t("Date and time of delivery"),
    header: "X-Delivered-Date",
    sample: "2026-01-01 00:00:01",
  },
  { name: "status", about: t("Delivered, Failed or Pending"), header: "X-Status", sample: "Delivered" },
  { name: "operatorCircle", about: t("Operator and circle, if known"), header: "X-Operator-Circle", sample: "" },
  { name: "createdAt", about: t("Submission time"), header: "X-Created-At", sample: "1767225600000" },
  {
    name: "statusDescription",
    about: t("Status description"),
    header: "X-Status-Description",
    sample: "Delivered to the phone",
  },
];

/** Fields of a report whose configuration chooses none. */
const USUAL = [
  "messageId", "mobileNumber", "senderName", "errCode", "status", "createdAt", "deliveredDate", "statusDescription",
]; // prettier-ignore

const sampleOf = (name: string): string => PLACEHOLDERS.find((each) => each.name === name)?.sample ?? "";
const nameIn = (value: string): string => value.replace(/^\{\{|\}\}$/g, "");

interface Sample {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | null;
}

/** Preview of the request of an unsaved configuration. Unlike the server's preview it has no signature. */
export function sampleRequest(values: Readonly<Record<string, unknown>>): Sample {
  const pairs = (values.headers as readonly HeaderPair[]).filter(({ key }) => key !== "");
  const constant = (values.constantHeaders as readonly { name: string }[]).filter(({ name }) => name !== "");
  const headers = {
    ...Object.fromEntries(constant.map(({ name }) => [name, "***"])),
    ...Object.fromEntries(pairs.map(({ key, value }) => [key, sampleOf(nameIn(value))])),
  };
  const names = pairs.length === 0 ? USUAL : [...new Set(pairs.map(({ value }) => nameIn(value)))];
  const byHeaders = names.map((name) => ({ name, value: `{{${name}}}` }));
  const fields = (values.fields as readonly ReportField[] | null) ?? byHeaders;
  const report = fields.map(
    ({ name, value }) => [name, value.startsWith("{{") ? sampleOf(nameIn(value)) : value] as const,
  );
  const url = (values.url as string) || "https://…";
  if (values.method === "GET") {
    const query = report.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
    return { method: "GET", url: `${url}${url.includes("?") ? "&" : "?"}${query}`, headers, body: null };
  }
  const body = JSON.stringify(Object.fromEntries(report));
  return { method: "POST", url, headers: { "content-type": "application/json", ...headers }, body };
}
