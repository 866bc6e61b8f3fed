import { expect, test } from "vitest";
import { createEncryption } from "../../src/lib/encryption.ts";
import { createEncryptedTexts } from "../../src/pipeline/accept/encrypted-text.ts";
import type { SmsContent } from "../../src/model/message.ts";

const seal = createEncryption(Buffer.alloc(32, 7));
const WORDS: SmsContent = { text: "482913 is your code.", encoding: "gsm7", flash: false };

test("words that are sealed and sent by the same process are not opened for it, the first time", () => {
  let opened = 0;
  const words = createEncryptedTexts({ ...seal, decrypt: (sealed) => (opened++, seal.decrypt(sealed)) });
  const sealed = words.encrypt(WORDS);
  expect(JSON.stringify(sealed)).not.toContain("482913");
  expect([words.decrypt(sealed), opened]).toEqual([WORDS, 0]);
  expect([words.decrypt(sealed), opened]).toEqual([WORDS, 1]);
});

test("words that others have sealed are opened, as after a restart, unless they were changed", () => {
  const words = createEncryptedTexts(seal);
  const sealed = words.encrypt(WORDS);
  expect(createEncryptedTexts(seal).decrypt({ ...words.encrypt(WORDS) })).toEqual(WORDS);
  expect(() => words.decrypt({ ...sealed, sealed: sealed.sealed.slice(0, -2) })).toThrow("cannot be decrypted");
});

test("words that never were sealed are as they are", () => {
  expect(createEncryptedTexts(seal).decrypt(WORDS)).toBe(WORDS);
});
