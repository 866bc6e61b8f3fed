import { useEffect, useRef, useState } from "react";
import { useSession } from "../session.tsx";
import { DRAFTS } from "../drafts.ts";

interface Kept<T> {
  value: T;
  set: (value: T) => void;
  /** Forgets the stored draft, once it is saved, sent or discarded. */
  clear: () => void;
  /** The draft is one of an earlier visit to the page. */
  isRestored: boolean;
}

/**
 * Keeps unsaved work in this tab's session storage, so that neither a link nor a session that ends throws it away. Secrets
 * are the caller's to leave out. An empty key keeps nothing.
 */
export function useDraft<T>(key: string, starts: T, given?: T | null): Kept<T> {
  const { user } = useSession();
  const place = key === "" ? "" : `${DRAFTS}${user.id} ${key}`;
  const [stored] = useState(() => (given ? null : read<T>(place)));
  const [value, setValue] = useState<T>(given ?? stored ?? starts);
  const [isRestored, setRestored] = useState(stored !== null);
  return {
    value,
    set(next) {
      setValue(next);
      write(place, next);
    },
    clear() {
      setRestored(false);
      if (place !== "") sessionStorage.removeItem(place);
    },
    isRestored,
  };
}

function read<T>(place: string): T | null {
  const stored = place === "" ? null : sessionStorage.getItem(place);
  return stored === null ? null : (JSON.parse(stored) as T);
}

function write(place: string, value: unknown): void {
  if (place === "") return;
  try {
    sessionStorage.setItem(place, JSON.stringify(value));
  } catch {
    // A draft beyond the storage's quota is not kept; the page itself still has it.
    sessionStorage.removeItem(place);
  }
}

/** The browser asks before a tab with unsaved work is closed or reloaded. Within the dashboard the draft is kept instead. */
export function useLeaveGuard(isUnsaved: boolean): void {
  const unsaved = useRef(isUnsaved);
  useEffect(() => {
    unsaved.current = isUnsaved;
  }, [isUnsaved]);
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent): void => {
      if (unsaved.current) event.preventDefault();
    };
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, []);
}
