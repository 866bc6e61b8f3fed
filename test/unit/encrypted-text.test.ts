import { expect, test } from "vitest";
import { createEncryption } from "../../src/lib/encryption.ts";
import { createEncryptedTexts } from "../../src/pipeline/accept/encrypted-text.ts";
import type { SmsContent } from "../../src/model/message.ts";

const encryption = createEncryption(Buffer.alloc(32, 7));
const WORDS: SmsContent = { text: "482913 is your code.", encoding: "gsm7", flash: false };

test("a text that this process encrypted is not decrypted for its first use", () => {
  let opened = 0;
  const words = createEncryptedTexts({ ...encryption, decrypt: (sealed) => (opened++, encryption.decrypt(sealed)) });
  const sealed = words.encrypt(WORDS);
  expect(JSON.stringify(sealed)).not.toContain("482913");
  expect([words.decrypt(sealed), opened]).toEqual([WORDS, 0]);
  expect([words.decrypt(sealed), opened]).toEqual([WORDS, 1]);
});

test("a text encrypted by another process, or before a restart, is decrypted unless it was changed", () => {
  const words = createEncryptedTexts(encryption);
  const sealed = words.encrypt(WORDS);
  expect(createEncryptedTexts(encryption).decrypt({ ...words.encrypt(WORDS) })).toEqual(WORDS);
  expect(() => words.decrypt({ ...sealed, sealed: sealed.sealed.slice(0, -2) })).toThrow("cannot be decrypted");
});

test("a text that was never encrypted is returned unchanged", () => {
  expect(createEncryptedTexts(encryption).decrypt(WORDS)).toBe(WORDS);
});
