/** Why there is no answer, in words for whoever gave the address. */
export class NoAnswer extends Error {
  override name = "NoAnswer";
}
