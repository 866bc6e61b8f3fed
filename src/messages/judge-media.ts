import type { Verdict } from "../egress/media.ts";

interface MediaFailure {
  code: "MEDIA_TYPE_UNSUPPORTED" | "MEDIA_TOO_LARGE";
  /** What was found. */
  detail: string;
}

/** What is wrong with a file by the word of its server; null when nothing is, or nothing is known. */
export function mediaFailure(verdict: Verdict): MediaFailure | null {
  switch (verdict.kind) {
    case "wrong type":
      return { code: "MEDIA_TYPE_UNSUPPORTED", detail: `Its server says ${verdict.found}.` };
    case "too large":
      return { code: "MEDIA_TOO_LARGE", detail: `It has ${verdict.bytes} bytes.` };
    case "fine":
    case "unknown":
    default:
      return null;
  }
}
