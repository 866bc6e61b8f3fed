import type { Encryption } from "../../lib/encryption.ts";
import { isEncrypted, type MessageContent, type EncryptedContent } from "../../model/message.ts";

/** Encrypts message texts at rest. */
export interface EncryptedTexts {
  /** `simulated` marks content for a test number, which goes to the simulator with a live key too. */
  encrypt(content: MessageContent, simulated?: boolean): EncryptedContent;
  /** Returns content that is not encrypted as it is. */
  decrypt(content: MessageContent): MessageContent;
}

/** Caches the plain content of encrypted objects, so that a process that encrypts and sends a message need not decrypt it. */
export function createEncryptedTexts(encryption: Encryption): EncryptedTexts {
  const plain = new WeakMap<EncryptedContent, MessageContent>();
  return {
    encrypt: (content, simulated = false) => {
      const encrypted: EncryptedContent = { text: "", sealed: encryption.encrypt(JSON.stringify(content)) };
      if (simulated) encrypted.simulated = true;
      plain.set(encrypted, content);
      return encrypted;
    },
    decrypt: (content) => {
      if (!isEncrypted(content)) return content;
      const known = plain.get(content);
      plain.delete(content);
      return known ?? (JSON.parse(encryption.decrypt(content.sealed)) as MessageContent);
    },
  };
}
