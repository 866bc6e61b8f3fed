import type { Draft } from "./kinds.ts";

interface Prefilled {
  composed: { kind: string; draft: Draft };
}

/** The composer with a draft in it. Texts and numbers are in the browser's history entry, not in the address. */
export const prefill = (kind: string, draft: Draft): { path: string; state: Prefilled } => ({
  path: `/composer?kind=${kind}`,
  state: { composed: { kind, draft } },
});

/** The draft that another page has prepared for a kind of message. */
export function prefilled(kind: string): Draft | null {
  const state = history.state as Partial<Prefilled> | null;
  return state?.composed?.kind === kind ? state.composed.draft : null;
}

/** A prepared draft is taken once: after a reload, what was typed since is there. */
export const forgetPrefilled = (): void => {
  if ((history.state as Partial<Prefilled> | null)?.composed) history.replaceState(null, "");
};
