import { Button, Text } from "@mantine/core";
import type { PhoneMessage } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { isBinary, Octets } from "./octets.tsx";
import classes from "./phone.module.css";

/** A flash message, which covers the screen until the user closes it. */
export function Flash({ message, onClose }: { message: PhoneMessage; onClose?: () => void }) {
  return (
    <div className={classes.flash} data-message={message.messageId} role="alertdialog" aria-label={t("Flash message")}>
      <Text size="xs" c="dimmed" mb={6}>
        {t("Flash message from {sender}", { sender: message.sender })}
      </Text>
      {isBinary(message) ? <Octets {...message} /> : <Text mb="md">{message.text}</Text>}
      {onClose && (
        <Button size="xs" variant="light" onClick={onClose}>
          {t("Dismiss")}
        </Button>
      )}
    </div>
  );
}
