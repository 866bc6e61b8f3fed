/** The prompt was not confirmed, and nothing was changed. */
export class NotConfirmed extends Error {
  override name = "NotConfirmed";
}
