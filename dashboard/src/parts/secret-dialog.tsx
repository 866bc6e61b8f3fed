import { Button, Group, Modal, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { t } from "../i18n/t.ts";
import { SecretOnce } from "./secret-once.tsx";

interface Props {
  /** Null closes the dialogue. */
  secret: string | null;
  title: string;
  /** The words above the secret, if it is none to be kept: its heading, its use, and the button that closes. */
  words?: { heading: string; hint: string; done: string };
  onClose: () => void;
  /** Usage note below the secret. */
  children?: ReactNode;
}

/**
 * Shows a secret once. A click outside does not close the dialogue: the user must confirm that the secret is stored.
 */
export function SecretDialog({ secret, title, words, onClose, children }: Props) {
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
        {secret !== null && (
          <SecretOnce title={words?.heading ?? t("Copy your secret now")} secret={secret} hint={words?.hint} />
        )}
        {children}
        <Group justify="flex-end">
          <Button onClick={onClose}>{words?.done ?? t("I've saved it")}</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
