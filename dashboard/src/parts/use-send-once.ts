import { useRef, useState } from "react";
import { api } from "../api.ts";
import { newKey } from "../new-key.ts";

interface SendOnce<T> {
  /** Sends the draft; a draft that was sent or is being sent is not sent again. */
  send: () => void;
  sent: T | null;
  error: Error | null;
  busy: boolean;
  /** The draft may be sent once more, under a new key. */
  reset: () => void;
}

interface Options<T> {
  onSent?: (sent: T) => void;
  /** Whether an answer ends the draft; without it, every answer does. */
  isFinal?: (sent: T) => boolean;
  /** A key of the API, in the place of the session. */
  apiKey?: string | null;
}

interface Outcome<T> {
  id: string;
  sent: T | null;
  error: Error | null;
}

/**
 * Sends a draft once: with one `Idempotency-Key` until the draft changes. After an answer that never came, the same draft can
 * be sent again, and the server sends nothing twice. A draft is its path and body.
 */
export function useSendOnce<T>(path: string, body: unknown, options: Options<T> = {}): SendOnce<T> {
  const { onSent, isFinal, apiKey } = options;
  const id = JSON.stringify([path, body]);
  const [outcome, setOutcome] = useState<Outcome<T> | null>(null);
  const [busy, setBusy] = useState(false);
  /** Set at once, not with the next render: the second click of a double click comes before that. */
  const draft = useRef({ id, key: newKey(), isTaken: false });

  async function run(): Promise<void> {
    if (draft.current.id !== id) draft.current = { id, key: newKey(), isTaken: false };
    const { current } = draft;
    if (current.isTaken) return;
    current.isTaken = true;
    setBusy(true);
    setOutcome(null);
    try {
      const sent = await api<T>("POST", path, { body, idempotencyKey: current.key, ...(apiKey ? { apiKey } : {}) });
      if (draft.current !== current) return;
      if (isFinal && !isFinal(sent)) draft.current = { id, key: newKey(), isTaken: false };
      setOutcome({ id, sent, error: null });
      onSent?.(sent);
    } catch (problem) {
      current.isTaken = false;
      if (draft.current === current) setOutcome({ id, sent: null, error: problem as Error });
    } finally {
      setBusy(false);
    }
  }

  const own = outcome?.id === id ? outcome : null;
  return {
    send: () => void run(),
    sent: own?.sent ?? null,
    error: own?.error ?? null,
    busy,
    reset() {
      draft.current = { id: "", key: newKey(), isTaken: false };
      setOutcome(null);
    },
  };
}
