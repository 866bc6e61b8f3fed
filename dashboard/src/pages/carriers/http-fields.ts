import type { Field, Parts, Values } from "../../parts/record/field.ts";
import { HttpSecretsInput, HttpValuesInput } from "./http-account-input.tsx";
import { PresetInput } from "./preset-input.tsx";
import { HTTP_PRESETS, presetOf } from "./http-presets.ts";
import { advanced, choice, number, own } from "./line-fields.ts";
import { jsonInput, templateInput } from "./template-inputs.tsx";

const template = (name: string, label: string, hint: string): Field => own(name, label, hint, templateInput(name));
const json = (name: string, label: string, hint: string): Field => own(name, label, hint, jsonInput(name));

/** One field for each address that is usual, because it stands there until another is written. */
const baseUrls: readonly Field[] = [null, ...HTTP_PRESETS].map((preset) => ({
  name: "baseUrl",
  label: "Base URL",
  hint: "Scheme and host. Secrets go only there: with another host, give them again.",
  input: {
    kind: "text",
    type: "url",
    empty: "omit",
    placeholder: preset?.baseUrl ?? (preset ? "http://kannel.internal:13013" : "https://api.provider.example"),
  },
  required: (preset?.baseUrl ?? null) === null,
  when: (line) => presetOf(line["preset"]) === (preset ?? undefined),
}));

/** What a line over HTTP is asked for: the account first, and below the whole request for providers that nobody knows yet. */
export const HTTP_PARTS: Parts = {
  starts: { preset: HTTP_PRESETS[0]?.value, timeoutSeconds: 15, requestsMax: 10 },
  fields: [
    own("preset", "Provider", "It decides what is asked for. Choosing another begins anew.", PresetInput),
    ...baseUrls,
    own(
      "values",
      "Values",
      "What is the same every time and no secret: {{value:name}} stands for it.",
      HttpValuesInput,
    ),
    { ...own("secrets", "Secrets", "", HttpSecretsInput), secret: true },
    ...[
      choice("method", "Method", "POST unless given.", [
        ["GET", "GET"],
        ["POST", "POST"],
        ["PUT", "PUT"],
      ]),
      template(
        "path",
        "Path",
        "Begins with a slash and has the query. {{recipient}} and others stand for what a message has.",
      ),
      json("headers", "Headers", 'Templates by name: { "authorization": "Bearer {{secret:token}}" }'),
      json(
        "basicAuth",
        "Basic authentication",
        '{ "user": "{{value:user}}", "password": "{{secret:password}}" }, or null.',
      ),
      choice("bodyType", "Body is", "How what stands in it is escaped.", [
        ["none", "None"],
        ["form", "A form"],
        ["json", "JSON"],
        ["raw", "As it is"],
      ]),
      template("body", "Body", "A template."),
      json("success", "Which answers are a yes", '{ "statuses": ["2xx"], "path": "status", "equals": ["accepted"] }'),
      json("id", "Where the provider's id is", "A path such as message.id, or null."),
      json("errorCode", "Where an error code is", "A path such as error.code, or null."),
      json(
        "errors",
        "What other answers mean",
        '[{ "status": "5xx", "meaning": "retry" }]; the first that fits decides.',
      ),
      json(
        "errorTexts",
        "What error codes mean",
        '{ "E17": "The account is empty" }; shown with messages that failed.',
      ),
      template("callbackQuery", "Query of the callback address", "Such as ref={{messageId}}."),
      json("proof", "How calls show who they are from", '{ "kind": "key" }, or in a header, or as a digest in one.'),
      json("receipts", "Where calls have what became of a message", "Paths and the meaning of states, or null."),
      json("inbound", "Where calls have what a phone sent", "Paths, or null."),
      template("answer", "What calls are answered with", "OK unless given."),
      number("timeoutSeconds", "An answer is waited for", "What has not come by then does not come.", 1, 60, "seconds"),
      number("requestsMax", "Requests at once", "On each node.", 1, 1000),
    ].map(advanced),
  ],
};

/** Another provider begins anew, as it does with the server: what is left of the last one would be a request that nobody knows. */
export const setHttp = (line: Values, name: string, next: unknown): Values =>
  name === "preset" ? { ...HTTP_PARTS.starts, preset: next } : { ...line, [name]: next };
