import type { Draft } from "./kinds.ts";

export interface Prefilled {
  composed: { kind: string; draft: Draft };
}

/** Path and history state that open the composer with a draft. Texts and numbers stay out of the URL. */
export const prefill = (kind: string, draft: Draft): { path: string; state: Prefilled } => ({
  path: `/composer?kind=${kind}`,
  state: { composed: { kind, draft } },
});

/** The draft that another page has passed to the composer. */
export function prefilled(kind: string): Draft | null {
  const state = history.state as Partial<Prefilled> | null;
  return state?.composed?.kind === kind ? state.composed.draft : null;
}

/** Removes the draft from the history state, so that a reload does not replace the user's later input. */
export const forgetPrefilled = (): void => {
  if ((history.state as Partial<Prefilled> | null)?.composed) history.replaceState(null, "");
};
