import { Button, Group, Modal, Text, type ButtonProps } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useState, type ReactNode } from "react";
import { t } from "../i18n/t.ts";
import { ErrorState } from "./error-state.tsx";

interface Props extends ButtonProps {
  children: ReactNode;
  /** The question, as a heading: "Revoke this key?" */
  question: string;
  /** The consequence of the action. */
  consequence: string;
  /** Label of the button that confirms. */
  yes: string;
  /** Label of the button that cancels, if "Cancel" would be ambiguous. */
  no?: string;
  run: () => Promise<unknown>;
}

/** A button for an irreversible action. It asks for confirmation and shows errors in the dialogue. */
export function ConfirmButton({ children, question, consequence, yes, no = t("Cancel"), run, ...button }: Props) {
  const [opened, { open, close }] = useDisclosure(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);

  async function confirm(): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      await run();
      close();
    } catch (problem) {
      setError(problem as Error);
    } finally {
      setBusy(false);
    }
  }

  return (
    <>
      <Button variant="default" {...button} onClick={open}>
        {children}
      </Button>
      <Modal opened={opened} onClose={close} title={question}>
        <Text size="sm" mb="lg">
          {consequence}
        </Text>
        {error && <ErrorState error={error} />}
        <Group justify="flex-end" mt="md">
          <Button variant="default" onClick={close} data-autofocus>
            {no}
          </Button>
          <Button color="red" loading={busy} onClick={() => void confirm()}>
            {yes}
          </Button>
        </Group>
      </Modal>
    </>
  );
}
