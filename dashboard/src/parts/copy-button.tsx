import { ActionIcon, Button, CopyButton as MantineCopy, Tooltip } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { t } from "../i18n/t.ts";

interface Props {
  value: string;
  /** Accessible name, such as "Copy the key". */
  label: string;
  /** Shows the label beside the icon. */
  wide?: boolean;
}

/** Copies a value to the clipboard and confirms it. */
export function CopyButton({ value, label, wide = false }: Props) {
  return (
    <MantineCopy value={value} timeout={1500}>
      {({ copied, copy }) => {
        const icon = copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />;
        if (wide)
          return (
            <Button variant="default" size="xs" leftSection={icon} onClick={copy}>
              {copied ? t("Copied") : label}
            </Button>
          );
        return (
          <Tooltip label={copied ? t("Copied") : label}>
            <ActionIcon variant="subtle" color="gray" onClick={copy} aria-label={copied ? t("Copied") : label}>
              {icon}
            </ActionIcon>
          </Tooltip>
        );
      }}
    </MantineCopy>
  );
}
