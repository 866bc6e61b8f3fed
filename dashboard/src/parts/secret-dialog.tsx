import { Button, Group, Modal, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { t } from "../i18n/t.ts";
import { SecretOnce } from "./secret-once.tsx";

interface Props {
  /** Null closes the dialogue. */
  secret: string | null;
  title: string;
  onClose: () => void;
  /** Usage note below the secret. */
  children?: ReactNode;
}

/**
 * Shows a secret once. A click outside does not close the dialogue: the user must confirm that the secret is stored.
 */
export function SecretDialog({ secret, title, onClose, children }: Props) {
  return (
    <Modal
      opened={secret !== null}
      onClose={onClose}
      title={title}
      size="lg"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack>
        {secret !== null && <SecretOnce title={t("Copy your secret now")} secret={secret} />}
        {children}
        <Group justify="flex-end">
          <Button onClick={onClose}>{t("I've saved it")}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
