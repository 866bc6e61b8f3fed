import { Stack } from "@mantine/core";
import { t } from "../i18n/t.ts";
import { CodeBlock } from "./code-block.tsx";

interface Props {
  request: { method: string; url: string; headers: Readonly<Record<string, string>>; body: string | null };
}

/** An HTTP request to a customer's endpoint, as sent. */
export const PushRequest = ({ request: { method, url, headers, body } }: Props) => (
  <Stack gap="sm">
    <CodeBlock
      heading={`${method} ${url}`}
      code={Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}`)
        .join("\n")}
    />
    {body !== null && body !== "" && <CodeBlock heading={t("Body")} code={readable(body)} />}
  </Stack>
);

/** The body of a request, indented if it is JSON. */
function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
