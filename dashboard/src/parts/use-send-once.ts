import { useRef, useState } from "react";
import { api } from "../api.ts";
import { newKey } from "../new-key.ts";

interface SendOnce<T> {
  /** Sends the draft. Further calls for the same draft do nothing. */
  send: () => void;
  sent: T | null;
  error: Error | null;
  busy: boolean;
  /** Permits another send of the same draft, with a new idempotency key. */
  reset: () => void;
}

interface Options<T> {
  onSent?: (sent: T) => void;
  /** True if the response completes the draft. By default every response does. */
  isFinal?: (sent: T) => boolean;
  /** An API key in place of the session. */
  apiKey?: string | null;
}

interface Outcome<T> {
  id: string;
  sent: T | null;
  error: Error | null;
}

/**
 * Sends a draft (path and body) once. All attempts share an `Idempotency-Key` until the draft changes, so a retry after
 * a lost response sends nothing twice.
 */
export function useSendOnce<T>(path: string, body: unknown, options: Options<T> = {}): SendOnce<T> {
  const { onSent, isFinal, apiKey } = options;
  const id = JSON.stringify([path, body]);
  const [outcome, setOutcome] = useState<Outcome<T> | null>(null);
  const [busy, setBusy] = useState(false);
  /** A ref, because state would change only with the next render, after the second click of a double click. */
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
