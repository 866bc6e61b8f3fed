import { Button, Group, Modal, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { t } from "../i18n/t.ts";
import { SecretOnce } from "./secret-once.tsx";

interface Props {
  /** Null closes it. */
  secret: string | null;
  title: string;
  onClose: () => void;
  /** What it is good for, below it. */
  children?: ReactNode;
}

/** A secret in a dialogue of its own: it goes away only when somebody says that it is kept, not by a click beside it. */
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
