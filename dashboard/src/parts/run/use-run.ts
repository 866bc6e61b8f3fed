import { useRef, useState } from "react";
import { t } from "../../i18n/t.ts";

/** Progress of a long task. */
export interface RunState {
  state: "running" | "done" | "stopped" | "failed";
  /** The current step, or the result. */
  sentence: string;
  /** 0 to 100; null if the total is unknown. */
  percent: number | null;
  error: Error | null;
}

type Tell = (sentence: string, percent?: number) => void;

/** A long task. It reports progress through `tell`, honours the abort signal and returns its result as a sentence. */
type Work = (tell: Tell, signal: AbortSignal) => Promise<string>;

interface Run {
  run: RunState | null;
  start: (work: Work) => Promise<void>;
  stop: () => void;
  /** Resets the state. A running task is stopped. */
  clear: () => void;
}

/** Runs a long task with progress and a stop button. Work done before the stop is kept. */
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
