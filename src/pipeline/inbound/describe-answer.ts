import type { InboundContent } from "../../model/inbound.ts";

const QUOTED_MAX = 100;

/** Describes the recipient's answer; long texts are truncated. */
export function describeAnswer(content: InboundContent): string {
  switch (content.kind) {
    case "text":
      return `Answered ${quoted(content.text)}`;
    case "suggestion":
      return `Tapped ${quoted(content.plainText)}`;
    case "file":
      return `Sent a file: ${quoted(content.file.payload.fileName)} (${content.file.payload.mimeType})`;
    case "location":
    default:
      return "Shared a place";
  }
}

function quoted(words: string): string {
  const short = words.length <= QUOTED_MAX ? words : `${words.slice(0, QUOTED_MAX - 1).replace(LONE_HALF, "")}…`;
  return `"${short}"`;
}

/** A surrogate whose pair was cut off. */
const LONE_HALF = /[\ud800-\udbff]$/;
