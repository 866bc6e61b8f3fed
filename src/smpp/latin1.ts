/** It takes what is not there as well, so that sixteen octets need no sixteen questions. */
const ofCodes = String.fromCharCode as (...codes: (number | undefined)[]) => string;

/**
 * The characters of some octets. Sixteen are more than most addresses and ids have, and to make them here and cut them
 * off takes a third of the time of a call into native code.
 */
export function latin1(octets: Buffer, from: number, to: number): string {
  const length = to - from;
  if (length > 16 || from + 16 > octets.length) return octets.toString("latin1", from, to);
  const sixteen = ofCodes(
    octets[from], octets[from + 1], octets[from + 2], octets[from + 3],
    octets[from + 4], octets[from + 5], octets[from + 6], octets[from + 7],
    octets[from + 8], octets[from + 9], octets[from + 10], octets[from + 11],
    octets[from + 12], octets[from + 13], octets[from + 14], octets[from + 15],
  ); // prettier-ignore
  return length === 16 ? sixteen : sixteen.slice(0, length);
}
