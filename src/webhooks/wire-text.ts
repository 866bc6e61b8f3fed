/** Most servers refuse a request whose address and headers together have more than 16 KB, or an address of 8 KB. */
const HEADER_BYTES_MAX = 4096;
const QUERY_BYTES_MAX = 1024;

const PLAIN = /^[\x20-\x7e\xa0-\xff]*$/;
const CONTROL = /\p{Cc}/u;

/**
 * A text as the value of a header: what carriers write may hold line ends, which would begin another header, and letters
 * that no header can hold. Control characters are dropped, and what Latin-1 has not is percent-encoded.
 */
export function headerValue(text: string): string {
  if (text.length <= HEADER_BYTES_MAX && PLAIN.test(text)) return text;
  return join(text, HEADER_BYTES_MAX, (character) => {
    if (character > "\u00ff") return encodeURIComponent(character);
    return CONTROL.test(character) ? "" : character;
  });
}

/** A text as a value in a query. */
export function queryValue(text: string): string {
  const whole = text.toWellFormed();
  const encoded = encodeURIComponent(whole);
  return encoded.length <= QUERY_BYTES_MAX ? encoded : join(whole, QUERY_BYTES_MAX, encodeURIComponent);
}

/** Ends between two characters, so that what is cut short can still be decoded. */
function join(text: string, bytesMax: number, write: (character: string) => string): string {
  let joined = "";
  for (const character of text.toWellFormed()) {
    const written = write(character);
    if (joined.length + written.length > bytesMax) break;
    joined += written;
  }
  return joined;
}
