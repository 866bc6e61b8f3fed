import { useQueryClient } from "@tanstack/react-query";
import { post, removeListed } from "../../api.ts";
import { GuardedConfirm } from "../../parts/guarded.tsx";
import { KEYS, type ApiKey } from "./api-key.ts";

interface Props {
  apiKey: ApiKey;
  onSecret: (secret: string) => void;
  close: () => void;
}

/** A new key for the same program, or an end to it. */
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
        question={`Make a new key for ${name}?`}
        consequence="The new key has the same rights. The old one goes on working for 24 hours, so that the program can change over."
        yes="Rotate it"
        run={async () => {
          onSecret((await post<{ key: string }>(`${KEYS}/${id}/rotate`)).key);
          await done();
        }}
      >
        Rotate
      </GuardedConfirm>
      <GuardedConfirm
        may="own"
        size="xs"
        color="red"
        variant="subtle"
        question={`Revoke ${name}?`}
        consequence="The key stops working at once, and cannot be brought back."
        yes="Revoke it"
        run={() => removeListed(`${KEYS}/${id}`, done)}
      >
        Revoke
      </GuardedConfirm>
    </>
  );
}
