import type { StoredMedia } from "../model/media.ts";

type MediaRef = Pick<StoredMedia, "accountId" | "id">;

/** A file that a carrier sends. */
export type SentFile = Pick<StoredMedia, "accountId" | "id" | "type" | "name" | "size">;

/** The result of handing a file over to a platform. */
export type HandOver =
  | { kind: "taken"; platformId: string; lifeMs: number }
  /** The platform refuses the file. */
  | { kind: "refused"; description: string }
  /** It did not answer, or is busy: the file may be handed over later. */
  | { kind: "failed"; description: string };

/** Stored media for carriers. */
export interface CarrierMedia {
  /** Null if it is gone. */
  find(ref: MediaRef): Promise<SentFile | null>;
  /** A URL by which the platform fetches the file during the next hours. */
  signedUrl(ref: MediaRef): string;
  /**
   * The platform's id of a file at a place, such as one of its numbers. The file is handed over once while that id is valid, also
   * for concurrent messages; after a refusal the next message tries again.
   */
  handOver(ref: MediaRef, place: string, upload: () => Promise<HandOver>): Promise<HandOver>;
  /** The platform does not know its id any more. */
  forget(ref: MediaRef, place: string): Promise<void>;
  /** Posts a form with the bytes of a file. Rejects without an answer. */
  postForm(
    file: SentFile,
    form: {
      url: string;
      headers: Readonly<Record<string, string>>;
      fields: Readonly<Record<string, string>>;
      limitMs: number;
    },
  ): Promise<{ status: number; text: string }>;
}
