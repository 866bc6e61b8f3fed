export type MediaKind = "image" | "video" | "audio" | "document" | "file";

interface LinkedFile {
  kind: MediaKind;
  /** The last segment of the URL path, decoded; empty if there is none. */
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

/** Properties of a file that its URL and type reveal, without fetching it. */
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

/** True if this server itself serves the picture, so loading it reveals nothing to third parties. */
export function isOwnPicture(link: string, origin: string): boolean {
  const url = URL.parse(link);
  // Loading a short link of this server would count as a click. Short links have no file extension.
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
