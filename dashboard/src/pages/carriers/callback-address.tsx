import { TextInput } from "@mantine/core";
import { CopyButton } from "../../parts/copy-button.tsx";

/** Where a platform calls back, ready to be taken there. */
export const CallbackAddress = ({ url, where }: { url: string; where: string }) => (
  <TextInput
    label="Callback address"
    description={`${where} It has to be reachable from outside, by https.`}
    value={url}
    readOnly
    rightSection={<CopyButton value={url} label="Copy the callback address" />}
  />
);
