import type { FileType } from "../../model/chat-session.ts";

export const LINK_MAX = 2000;

export const EXTENSIONS: Record<FileType, readonly string[]> = {
  image: ["jpg", "jpeg", "png"],
  video: ["mp4", "3gp"],
  document: ["pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "txt"],
  audio: ["aac", "amr", "mp3", "m4a", "mp4", "ogg", "opus"],
  sticker: ["webp"],
};

/** Completes error texts such as "A link is …". */
export const LINK_RULE = `an address that starts with http:// or https://, at most ${LINK_MAX} characters`;

/** The normalised URL; null when it is no http or https URL. */
export function readLink(value: unknown): string | null {
  if (typeof value !== "string" || value.length > LINK_MAX) return null;
  return /^https?:\/\//i.test(value) && URL.canParse(value) ? new URL(value).href : null;
}

/**
 * The fault of a link whose file extension does not fit the type. A link without an extension is checked by a request.
 * `place` names what shows the file.
 */
export function extensionFault(type: FileType, link: string, place = "header"): string | null {
  const extension = EXTENSION.exec(new URL(link).pathname)?.[1]?.toLowerCase();
  if (extension === undefined || EXTENSIONS[type].includes(extension)) return null;
  return `The link is to a .${extension} file: a ${place} of type ${type} shows ${EXTENSIONS[type].join(", ")}.`;
}

/** Short and with a letter, which excludes version numbers and dates at the end of a path. */
const EXTENSION = /\.(?=\d*[a-z])([a-z\d]{1,5})$/i;
