/** The request failed. The text is for the owner of the URL. */
export class NoResponse extends Error {
  override name = "NoResponse";
}
