import { Accordion, Anchor, Code, List, Stack, Text } from "@mantine/core";
import { ownUrl } from "../base.ts";
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

/** How a receiver can tell that a request is ours, for whoever writes one. */
export const SignatureHelp = ({ order = 3 }: { order?: 2 | 3 }) => (
  <Accordion variant="separated" order={order}>
    <Accordion.Item value="signature">
      <Accordion.Control>Is it really from us? How requests are signed</Accordion.Control>
      <Accordion.Panel>
        <Stack gap="sm">
          <Text size="sm">
            Every request has three headers, as Standard Webhooks has it, so its libraries check them in any language.
          </Text>
          <List size="sm">
            <List.Item>
              <Code>webhook-id</Code> names what happened. It is the same at every try: remember those you have had.
            </List.Item>
            <List.Item>
              <Code>webhook-timestamp</Code> is when it was sent, in seconds. Refuse what is older than five minutes.
            </List.Item>
            <List.Item>
              <Code>webhook-signature</Code> has one <Code>v1,…</Code> for each secret that counts: HMAC-SHA-256 over
              the id, the time and the body, with dots between them.
            </List.Item>
          </List>
          <Text size="sm">
            The body is signed exactly as it is sent, before anything parses it. Of a GET it is everything behind the
            question mark.
          </Text>
          <CodeBlock heading="The check in Node" code={CHECK} />
          <Text size="sm">
            <Anchor href={ownUrl("/docs#webhooks")}>Every shape that is sent</Anchor>
          </Text>
        </Stack>
      </Accordion.Panel>
    </Accordion.Item>
  </Accordion>
);
