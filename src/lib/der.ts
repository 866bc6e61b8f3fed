/** Encodes one DER element: tag, length, value. */
export function der(tag: number, ...content: readonly Buffer[]): Buffer {
  const value = Buffer.concat(content);
  const { length } = value;
  const octets = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...octets]), value]);
}

export const DER = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  sequence: 0x30,
  set: 0x31,
  /** The context-specific tag of a primitive and of a constructed element. */
  context: (number: number): number => 0x80 + number,
  contextConstructed: (number: number): number => 0xa0 + number,
} as const;

/** PEM text of a DER structure. */
export function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString("base64").match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n");
}
