export type MediaKind = "image" | "video" | "audio" | "document" | "file";

interface LinkedFile {
  kind: MediaKind;
  /** The last piece of its path, as people read it; empty where there is none. */
  name: string;
  extension: string;
  host: string;
}

const KINDS: readonly { kind: MediaKind; extensions: readonly string[] }[] = [
  { kind: "image", extensions: ["jpg", "jpeg", "png", "gif", "webp", "avif", "svg"] },
  { kind: "video", extensions: ["mp4", "3gp", "mov", "webm", "m4v"] },
  { kind: "audio", extensions: ["mp3", "ogg", "oga", "m4a", "aac", "wav", "amr"] },
  { kind: "document", extensions: ["pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "txt", "csv", "vcf", "ics"] },
];

const EXTENSION = /\.([a-z0-9]{2,5})$/i;

/** What can be said of a file without fetching it. */
export function fileOf(type: string, link: string): LinkedFile {
  const url = URL.parse(link);
  const path = url ? url.pathname : link.split(/[?#]/, 1)[0];
  const name = decoded(path?.split("/").at(-1) ?? "");
  const extension = EXTENSION.exec(name)?.[1]?.toLowerCase() ?? "";
  return { kind: kindOf(type, extension), name, extension, host: url?.host ?? "" };
}

function kindOf(type: string, extension: string): MediaKind {
  const [family = ""] = type.split("/");
  const said = KINDS.find(({ kind }) => kind === family);
  if (said) return said.kind;
  return KINDS.find(({ extensions }) => extensions.includes(extension))?.kind ?? (type === "" ? "image" : "file");
}

/** Whether a file is a picture that this server has itself: a request for it tells nobody anything. */
export function isOwnPicture(link: string, origin: string): boolean {
  const url = URL.parse(link);
  // A short link of this server leads elsewhere, and a look at it would be a click; it has no such ending.
  return (
    url?.origin === origin && fileOf("", link).extension !== "" && kindOf("", fileOf("", link).extension) === "image"
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
