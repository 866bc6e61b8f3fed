export const TEXT = "Your order 4711 is on its way and will be with you tomorrow.";

/** A whole HTTP request, head and body. */
export const postRequest = (key: string, path: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\napikey: ${key}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

/** The request for a single SMS. */
export const sendRequest = (
  key: string,
  type: "OTP" | "TRANS" | "PROMO",
  text: string = TEXT,
  to = "15550100100",
): string => postRequest(key, "/v1/sms", JSON.stringify({ sender: "HELIOG", to, text, type }));
