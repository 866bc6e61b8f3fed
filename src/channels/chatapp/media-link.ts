import type { MediaType } from "../../model/chatapp.ts";

const LINK_MAX = 2000;

const EXTENSIONS: Record<MediaType, readonly string[]> = {
  image: ["jpg", "jpeg", "png"],
  video: ["mp4", "3gp"],
  document: ["pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "txt"],
};

/** What a link needs, for whoever gave something else. */
export const LINK_RULE = `an address that starts with http:// or https://, at most ${LINK_MAX} characters`;

/** A link as whoever fetches it will read it; null when it is none. */
export function readLink(value: unknown): string | null {
  if (typeof value !== "string" || value.length > LINK_MAX) return null;
  return /^https?:\/\//i.test(value) && URL.canParse(value) ? new URL(value).href : null;
}

/**
 * What is wrong with the kind of file that a link names, as far as its path tells. A path without an extension tells
 * nothing: what lies there is found out by asking.
 */
export function extensionFault(type: MediaType, link: string): string | null {
  const extension = EXTENSION.exec(new URL(link).pathname)?.[1]?.toLowerCase();
  if (extension === undefined || EXTENSIONS[type].includes(extension)) return null;
  return `The link is to a .${extension} file: a header of type ${type} shows ${EXTENSIONS[type].join(", ")}.`;
}

/** Short and with a letter in it, which a version number or a date at the end of a path is not. */
const EXTENSION = /\.(?=\d*[a-z])([a-z\d]{1,5})$/i;
