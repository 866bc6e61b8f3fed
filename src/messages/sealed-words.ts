import type { Seal } from "../lib/seal.ts";
import { isSealed, type MessageContent, type SealedContent } from "../model/message.ts";

/** Words that must not lie readable in the store. */
export interface SealedWords {
  seal(content: MessageContent): SealedContent;
  /** What was sealed, or what never was. */
  open(content: MessageContent): MessageContent;
}

/**
 * What the same process seals and sends is not opened for it: the words stay beside their sealed form until they are asked
 * for, or for as long as that form is in memory.
 */
export function createSealedWords(seal: Seal): SealedWords {
  const unread = new WeakMap<SealedContent, MessageContent>();
  return {
    seal: (content) => {
      const sealed: SealedContent = { text: "", sealed: seal.seal(JSON.stringify(content)) };
      unread.set(sealed, content);
      return sealed;
    },
    open: (content) => {
      if (!isSealed(content)) return content;
      const words = unread.get(content);
      unread.delete(content);
      return words ?? (JSON.parse(seal.open(content.sealed)) as MessageContent);
    },
  };
}
