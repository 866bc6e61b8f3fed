import { t } from "../../i18n/t.ts";
import type { Field, Parts, Values } from "../../parts/record/field.ts";
import { HttpSecretsInput, HttpValuesInput } from "./http-account-input.tsx";
import { PresetInput } from "./preset-input.tsx";
import { HTTP_PRESETS, presetOf } from "./http-presets.ts";
import { advanced, choice, number, own } from "./line-fields.ts";
import { jsonInput, templateInput } from "./template-inputs.tsx";

const template = (name: string, label: string, hint: string): Field => own(name, label, hint, templateInput(name));
const json = (name: string, label: string, hint: string): Field => own(name, label, hint, jsonInput(name));

/** One field per preset, because each preset has its own default URL as the placeholder. */
const baseUrls: readonly Field[] = [null, ...HTTP_PRESETS].map((preset) => ({
  name: "baseUrl",
  label: t("Base URL"),
  hint: t("Scheme and host. Secrets are only sent there: if you change the host, enter them again."),
  input: {
    kind: "text",
    type: "url",
    empty: "omit",
    placeholder: preset?.baseUrl ?? (preset ? "http://kannel.internal:13013" : "https://api.provider.example"),
  },
  required: (preset?.baseUrl ?? null) === null,
  when: (line) => presetOf(line["preset"]) === (preset ?? undefined),
}));

/** Settings of an HTTP connection: the account first, the full request template under "Advanced". */
export const HTTP_PARTS: Parts = {
  starts: { preset: HTTP_PRESETS[0]?.value, timeoutSeconds: 15, requestsMax: 10 },
  fields: [
    own(
      "preset",
      t("Provider"),
      t("Decides which fields are needed. Choosing another one resets the form."),
      PresetInput,
    ),
    ...baseUrls,
    own("values", t("Values"), t("Constants that are not secret, used as {{value:name}}."), HttpValuesInput),
    { ...own("secrets", t("Secrets"), "", HttpSecretsInput), secret: true },
    ...[
      choice("method", t("Method"), t("Default: POST."), [
        ["GET", "GET"],
        ["POST", "POST"],
        ["PUT", "PUT"],
      ]),
      template(
        "path",
        t("Path"),
        t("Starts with a slash and may have a query. Use {{recipient}} and other placeholders for message fields."),
      ),
      json("headers", t("Headers"), t('Templates by name: { "authorization": "Bearer {{secret:token}}" }')),
      json(
        "basicAuth",
        t("Basic authentication"),
        '{ "user": "{{value:user}}", "password": "{{secret:password}}" }, or null.',
      ),
      choice("bodyType", t("Body format"), t("Decides how values are escaped."), [
        ["none", t("None")],
        ["form", t("Form")],
        ["json", "JSON"],
        ["raw", t("Plain text")],
      ]),
      template("body", t("Body"), t("A template.")),
      json("success", t("Success responses"), '{ "statuses": ["2xx"], "path": "status", "equals": ["accepted"] }'),
      json("id", t("Path to the provider's message ID"), t("A path such as message.id, or null.")),
      json("errorCode", t("Path to the error code"), t("A path such as error.code, or null.")),
      json(
        "errors",
        t("Meaning of other responses"),
        t('[{ "status": "5xx", "meaning": "retry" }]; the first match decides.'),
      ),
      json("errorTexts", t("Error codes"), t('{ "E17": "The account is empty" }; shown with messages that failed.')),
      template("callbackQuery", t("Query of the callback URL"), t("Such as ref={{messageId}}.")),
      json("proof", t("Callback authentication"), t('{ "kind": "key" }, or a header, or a digest in a header.')),
      json("receipts", t("Delivery report fields"), t("Paths, and the meaning of each status; or null.")),
      json("inbound", t("Incoming message fields"), t("Paths, or null.")),
      template("answer", t("Response to callbacks"), t("Default: OK.")),
      number("timeoutSeconds", t("Response timeout"), t("Later responses are ignored."), 1, 60, t("seconds")),
      number("requestsMax", t("Concurrent requests"), t("Per node."), 1, 1000),
    ].map(advanced),
  ],
};

/** A change of the preset resets the form, as on the server: the old request template does not fit another provider. */
export const setHttp = (line: Values, name: string, next: unknown): Values =>
  name === "preset" ? { ...HTTP_PARTS.starts, preset: next } : { ...line, [name]: next };
