import type { Template } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import type { SendChannel } from "../../parts/channel.tsx";
import { ORIGINS } from "../../parts/origins.ts";
import { requestOf } from "../compose/body.ts";
import { draftOf, kindFor } from "../templates/sendable.ts";

/** Inputs of the test message form. */
export interface Written {
  from: string;
  to: string;
  text: string;
  /** Template name; empty for the first template. */
  template: string;
  params: readonly string[];
  /** Text or URL of the header; empty for the default. */
  header: string;
}

export const NOTHING_WRITTEN: Written = {
  from: "",
  to: "",
  text: "Can you read this?",
  template: "",
  params: [],
  header: "",
};

/** Label and default of the template's header input; null if the template has no header. */
export function headerOf(template: Template): { label: string; usual: string } | null {
  if (template.channel !== "chatapp" || !template.header) return null;
  const { headerText, link } = draftOf(template, []);
  return template.header.type === "text"
    ? { label: t("Text of the header"), usual: headerText }
    : { label: t("URL of the {type}", { type: template.header.type }), usual: link };
}

/** The request body for the channel's `POST /v1` endpoint. */
export function bodyOf(
  channel: SendChannel,
  written: Written,
  template: Template | undefined,
): Record<string, unknown> {
  const { from, to, text, params, header } = written;
  if (!template) return { [ORIGINS[channel].field]: from, to, text, type: "TRANS" };
  const draft = { ...draftOf(template, params), to, [ORIGINS[channel].field]: from };
  return requestOf(
    kindFor(template),
    { ...draft, ...(header === "" ? {} : { headerText: header, link: header }) },
    template,
  ).body;
}
