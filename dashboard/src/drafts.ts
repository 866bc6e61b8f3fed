/** Prefix of the session-storage keys of unsaved drafts. */
export const DRAFTS = "heliograph-draft ";

/** Deletes all drafts at sign-out. */
export function forgetDrafts(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(DRAFTS)) sessionStorage.removeItem(key);
}
