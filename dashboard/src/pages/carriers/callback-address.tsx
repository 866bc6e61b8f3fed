import { Code, Group, Input, Text } from "@mantine/core";
import { CopyButton } from "../../parts/copy-button.tsx";

/** Where a platform calls back, ready to be taken there. */
export const CallbackAddress = ({ url, where }: { url: string; where: string }) => (
  <Input.Wrapper label="Callback address" labelElement="div">
    <Group gap="xs" wrap="nowrap" mt={4}>
      <Code block flex={1} fz="sm" data-callback>
        {url}
      </Code>
      <CopyButton value={url} label="Copy the callback address" />
    </Group>
    <Text size="sm" c="dimmed" mt={6}>
      {where} It has to be reachable from outside, by https.
    </Text>
  </Input.Wrapper>
);
