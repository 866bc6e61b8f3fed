import { useQueryClient } from "@tanstack/react-query";
import { post, removeListed } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { GuardedConfirm } from "../../parts/guarded.tsx";
import { KEYS, type ApiKey } from "./api-key.ts";

interface Props {
  apiKey: ApiKey;
  onSecret: (secret: string) => void;
  close: () => void;
}

/** Buttons that rotate or revoke a key. */
export function KeyActions({ apiKey: { id, name }, onSecret, close }: Props) {
  const client = useQueryClient();
  async function done(): Promise<void> {
    close();
    await client.invalidateQueries({ queryKey: [KEYS] });
  }
  return (
    <>
      <GuardedConfirm
        may="own"
        size="xs"
        question={t("Rotate {name}?", { name })}
        consequence={t(
          "The new key has the same permissions. The old key works for another 24 hours, so that your program can switch.",
        )}
        yes={t("Rotate key")}
        run={async () => {
          onSecret((await post<{ key: string }>(`${KEYS}/${id}/rotate`)).key);
          await done();
        }}
      >
        {t("Rotate")}
      </GuardedConfirm>
      <GuardedConfirm
        may="own"
        size="xs"
        color="red"
        variant="subtle"
        question={t("Revoke {name}?", { name })}
        consequence={t("The key stops working at once. This cannot be undone.")}
        yes={t("Revoke key")}
        run={() => removeListed(`${KEYS}/${id}`, done)}
      >
        {t("Revoke")}
      </GuardedConfirm>
    </>
  );
}
