/** Nobody said yes, so nothing was done. */
export class NotConfirmed extends Error {
  override name = "NotConfirmed";
}
