import { useEffect, useSyncExternalStore } from "react";
import { ownUrl } from "./base.ts";

/** Interval of the health checks while the server is unreachable. */
const PROBE_MS = 2000;
/** Interval of the health checks otherwise, so a page without requests notices an outage too. */
const WATCH_MS = 10_000;

let lost = false;
let probing = false;
const listeners = new Set<() => void>();

function setLost(next: boolean): void {
  if (lost === next) return;
  lost = next;
  for (const listener of listeners) listener();
}

/** Records that a request or the stream got no response, and polls the server until it answers. */
export function noteLost(): void {
  setLost(true);
  void probe();
}

/** Calls the health check. It needs no session, so polling does not keep one alive. */
async function isReachable(): Promise<boolean> {
  try {
    const { ok } = await fetch(ownUrl("/healthz"), { cache: "no-store", credentials: "omit" });
    return ok;
  } catch {
    return false;
  }
}

async function probe(): Promise<void> {
  if (probing) return;
  probing = true;
  while (!(await isReachable())) {
    setLost(true);
    await new Promise((resolve) => window.setTimeout(resolve, PROBE_MS));
  }
  probing = false;
  setLost(false);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** True while the server cannot be reached. */
export const useLost = (): boolean => useSyncExternalStore(subscribe, () => lost);

/** Runs the callback when the server answers again. */
export function whenFound(run: () => void): () => void {
  return subscribe(() => !lost && run());
}

/** Checks the connection regularly while the page is visible. */
export function useWatchedConnection(): void {
  useEffect(() => {
    const look = (): void => {
      if (document.visibilityState === "visible") void probe();
    };
    const timer = window.setInterval(look, WATCH_MS);
    const listened = [
      [window, "online"],
      [window, "offline"],
      [document, "visibilitychange"],
    ] as const;
    for (const [target, event] of listened) target.addEventListener(event, look);
    return () => {
      window.clearInterval(timer);
      for (const [target, event] of listened) target.removeEventListener(event, look);
    };
  }, []);
}
