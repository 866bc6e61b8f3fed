import { Accordion, Anchor, Code, List, Stack, Text } from "@mantine/core";
import { ownUrl } from "../base.ts";
import { t } from "../i18n/t.ts";
import { CodeBlock } from "./code-block.tsx";

const CHECK = `import { createHmac, timingSafeEqual } from "node:crypto";

export function verify(secret, headers, payload) {
  const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signatures = "" } = headers;
  if (!(Math.abs(Date.now() / 1000 - at) < 300)) return false;
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const ours = Buffer.from(\`v1,\${createHmac("sha256", key).update(\`\${id}.\${at}.\${payload}\`).digest("base64")}\`);
  return signatures.split(" ").map((each) => Buffer.from(each))
    .some((each) => each.length === ours.length && timingSafeEqual(each, ours));
}`;

/** Instructions for verifying the signature of our requests. */
export const SignatureHelp = ({ order = 3 }: { order?: 2 | 3 }) => (
  <Accordion variant="separated" order={order}>
    <Accordion.Item value="signature">
      <Accordion.Control>{t("Verify signatures")}</Accordion.Control>
      <Accordion.Panel>
        <Stack gap="sm">
          <Text size="sm">
            {t(
              "Every request has three headers, as defined by Standard Webhooks. Its libraries verify them in many languages.",
            )}
          </Text>
          <List size="sm">
            <List.Item>
              <Code>webhook-id</Code>{" "}
              {t("is the event ID. It is the same at every attempt: ignore ids you have already handled.")}
            </List.Item>
            <List.Item>
              <Code>webhook-timestamp</Code>{" "}
              {t("is the time of sending, in seconds. Reject requests older than five minutes.")}
            </List.Item>
            <List.Item>
              <Code>webhook-signature</Code> {t("has one")} <Code>v1,…</Code>{" "}
              {t("for each active secret: HMAC-SHA-256 of id, timestamp and body, joined by dots.")}
            </List.Item>
          </List>
          <Text size="sm">{t("The signature covers the raw body. For GET requests it covers the query string.")}</Text>
          <CodeBlock heading={t("Verification in Node.js")} code={CHECK} />
          <Text size="sm">
            <Anchor href={ownUrl("/docs/reference/callbacks")}>{t("All payloads")}</Anchor>
          </Text>
        </Stack>
      </Accordion.Panel>
    </Accordion.Item>
  </Accordion>
);
