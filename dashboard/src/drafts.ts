/** The beginning of the keys under which unsaved work is in the session storage. */
export const DRAFTS = "heliograph-draft ";

/** Who signs out leaves nothing behind. */
export function forgetDrafts(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(DRAFTS)) sessionStorage.removeItem(key);
}
