import { useRef, useState } from "react";
import { t } from "../../i18n/t.ts";

/** How far a piece of long work is. */
export interface RunState {
  state: "running" | "done" | "stopped" | "failed";
  /** What happens, or what came of it. */
  sentence: string;
  /** From 0 to 100; null where nobody knows how much there is. */
  percent: number | null;
  error: Error | null;
}

type Tell = (sentence: string, percent?: number) => void;

/** Tells how it goes through `tell`, gives up when the signal says so, and answers with what came of it. */
type Work = (tell: Tell, signal: AbortSignal) => Promise<string>;

interface Run {
  run: RunState | null;
  start: (work: Work) => Promise<void>;
  stop: () => void;
  /** Forgets it; what still runs is stopped. */
  clear: () => void;
}

/** Long work that shows how far it is and can be stopped. What was done before the stop stays done. */
export function useRun(): Run {
  const [run, setRun] = useState<RunState | null>(null);
  const stopper = useRef<AbortController | null>(null);

  async function start(work: Work): Promise<void> {
    const { signal } = (stopper.current = new AbortController());
    let last = t("Starting…");
    let reached: number | null = null;
    const tell: Tell = (sentence, percent) => {
      last = sentence;
      reached = percent ?? null;
      if (!signal.aborted) setRun({ state: "running", sentence, percent: reached, error: null });
    };
    tell(last);
    try {
      setRun({ state: "done", sentence: await work(tell, signal), percent: 100, error: null });
    } catch (problem) {
      const state = signal.aborted ? "stopped" : "failed";
      setRun({ state, sentence: last, percent: reached, error: signal.aborted ? null : (problem as Error) });
    }
  }

  const stop = (): void => stopper.current?.abort();
  return {
    run,
    start,
    stop,
    clear: () => {
      stop();
      setRun(null);
    },
  };
}
