import { Button } from "@mantine/core";
import { IconCopy, IconRepeat } from "@tabler/icons-react";
import { useState } from "react";
import { useLocation } from "wouter";
import type { Message } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { isBinary } from "../../parts/phone/octets.tsx";

/** Opens the composer with the same content, for the same or another recipient. Sends nothing. */
export function Again({ message }: { message: Message }) {
  const [, navigate] = useLocation();
  const [busy, setBusy] = useState(false);

  async function compose(to: string): Promise<void> {
    setBusy(true);
    try {
      // On demand: it needs the code of the composer and of templates, which this page does without.
      const { sameDraft } = await import("./same-draft.ts");
      const { path, state } = await sameDraft(message, to);
      navigate(path, { state });
    } finally {
      setBusy(false);
    }
  }

  // A text that is not stored cannot be sent again, and the composer has no octets.
  if (message.erased || isBinary(message)) return null;
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconRepeat size={16} aria-hidden />}
        loading={busy}
        onClick={() => void compose(message.recipient)}
      >
        {t("Send again")}
      </Button>
      <Button
        variant="default"
        leftSection={<IconCopy size={16} aria-hidden />}
        loading={busy}
        onClick={() => void compose("")}
      >
        {t("Similar message")}
      </Button>
    </>
  );
}
