import { TextInput } from "@mantine/core";
import { t } from "../../i18n/t.ts";
import { CopyButton } from "../../parts/copy-button.tsx";

/** The callback URL of a carrier connection, to be copied to the provider's console. */
export const CallbackAddress = ({ url, where }: { url: string; where: string }) => (
  <TextInput
    label={t("Callback URL")}
    description={t("{where} It must be reachable from the internet over HTTPS.", { where })}
    value={url}
    readOnly
    rightSection={<CopyButton value={url} label={t("Copy the callback URL")} />}
  />
);
