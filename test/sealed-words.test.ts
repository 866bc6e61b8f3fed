import { expect, test } from "vitest";
import { createSeal } from "../src/lib/seal.ts";
import { createSealedWords } from "../src/messages/sealed-words.ts";
import type { SmsContent } from "../src/model/message.ts";

const seal = createSeal(Buffer.alloc(32, 7));
const WORDS: SmsContent = { text: "482913 is your code.", encoding: "gsm7", flash: false };

test("words that are sealed and sent by the same process are not opened for it, the first time", () => {
  let opened = 0;
  const words = createSealedWords({ ...seal, open: (sealed) => (opened++, seal.open(sealed)) });
  const sealed = words.seal(WORDS);
  expect(JSON.stringify(sealed)).not.toContain("482913");
  expect([words.open(sealed), opened]).toEqual([WORDS, 0]);
  expect([words.open(sealed), opened]).toEqual([WORDS, 1]);
});

test("words that others have sealed are opened, as after a restart, unless they were changed", () => {
  const words = createSealedWords(seal);
  const sealed = words.seal(WORDS);
  expect(createSealedWords(seal).open({ ...words.seal(WORDS) })).toEqual(WORDS);
  expect(() => words.open({ ...sealed, sealed: sealed.sealed.slice(0, -2) })).toThrow("does not open");
});

test("words that never were sealed are as they are", () => {
  expect(createSealedWords(seal).open(WORDS)).toBe(WORDS);
});
