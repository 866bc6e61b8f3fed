import { useEffect, useRef, useState } from "react";
import { useSession } from "../session.tsx";
import { DRAFTS } from "../drafts.ts";

interface Kept<T> {
  value: T;
  set: (value: T) => void;
  /** Deletes the stored draft after a save, a send or a discard. */
  clear: () => void;
  /** True if the value comes from an earlier visit to the page. */
  isRestored: boolean;
}

/**
 * Stores unsaved input in this tab's session storage, so that navigation and expired sessions do not lose it. The
 * caller leaves secrets out. With an empty key nothing is stored.
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
    // The draft exceeds the storage quota. It remains in memory.
    sessionStorage.removeItem(place);
  }
}

/**
 * Makes the browser confirm closing or reloading a tab with unsaved input. Within the dashboard drafts are kept anyway.
 */
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
