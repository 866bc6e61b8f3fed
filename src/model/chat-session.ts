/** Content of chat-app messages within a session, in the shapes of the platform. */

export const FILE_TYPES = ["image", "video", "document", "audio", "sticker"] as const;
export type FileType = (typeof FILE_TYPES)[number];

/** Kinds of session messages besides a text. */
export const PART_TYPES = [...FILE_TYPES, "location", "contacts", "interactive", "reaction"] as const;

/** A file and the address from which the platform fetches it. */
export interface LinkedFile {
  readonly type: FileType;
  readonly link: string;
}

export interface SessionFile {
  readonly link: string;
  readonly caption?: string;
  /** The name of a document on the phone. */
  readonly filename?: string;
  /** An audio that the phone shows as a voice message. */
  readonly voice?: boolean;
}

interface Place {
  readonly latitude: number;
  readonly longitude: number;
  readonly name?: string;
  readonly address?: string;
}

interface Contact {
  readonly name: { readonly formatted_name: string } & Readonly<Record<string, string>>;
  readonly [part: string]: unknown;
}

export interface SessionHeader {
  readonly type: "text" | "image" | "video" | "document";
  readonly text?: string;
  readonly image?: SessionFile;
  readonly video?: SessionFile;
  readonly document?: SessionFile;
}

interface ListRow {
  readonly id: string;
  readonly title: string;
  readonly description?: string;
}

/** A text with something to choose or to open below it. */
export type Interactive = {
  readonly header?: SessionHeader;
  readonly body: { readonly text: string };
  readonly footer?: { readonly text: string };
} & (
  | {
      readonly type: "button";
      readonly action: {
        readonly buttons: readonly {
          readonly type: "reply";
          readonly reply: { readonly id: string; readonly title: string };
        }[];
      };
    }
  | {
      readonly type: "list";
      readonly action: {
        /** The label of the button that opens the list. */
        readonly button: string;
        readonly sections: readonly { readonly title?: string; readonly rows: readonly ListRow[] }[];
      };
    }
  | {
      readonly type: "cta_url";
      readonly action: {
        readonly name: "cta_url";
        readonly parameters: { readonly display_text: string; readonly url: string };
      };
    }
);

/** The content besides the text, under its own type as in requests. */
export type SessionPart =
  | { readonly [T in FileType]: { readonly type: T } & { readonly [K in T]: SessionFile } }[FileType]
  | { readonly type: "location"; readonly location: Place }
  | { readonly type: "contacts"; readonly contacts: readonly Contact[] }
  | { readonly type: "interactive"; readonly interactive: Interactive }
  /** An empty emoji takes the reaction back. The message that it is about is the reference. */
  | { readonly type: "reaction"; readonly reaction: { readonly emoji: string } };

/** The message that a reply or a reaction is about. */
export interface MessageReference {
  /** As in the request. */
  readonly id: string;
  /** The platform's id; null if it has none. */
  readonly platformId: string | null;
}

/** The words of a part, for lists, search and phones that show texts only. */
export function wordsOfPart(part: SessionPart): string {
  switch (part.type) {
    case "location":
      return (
        [part.location.name, part.location.address].filter(Boolean).join(", ") ||
        `${part.location.latitude}, ${part.location.longitude}`
      );
    case "contacts":
      return part.contacts.map(({ name }) => name.formatted_name).join("\n");
    case "interactive":
      return part.interactive.body.text;
    case "reaction":
      return part.reaction.emoji;
    case "image":
    case "video":
    case "document":
    case "audio":
    case "sticker":
    default:
      return fileIn(part)?.caption ?? "";
  }
}

/** The file that the platform fetches; null if there is none. */
export function linkedFileOf(part: SessionPart): LinkedFile | null {
  if (part.type === "interactive") {
    const { header } = part.interactive;
    const file = header && header.type !== "text" ? header[header.type] : undefined;
    return header && header.type !== "text" && file ? { type: header.type, link: file.link } : null;
  }
  const file = fileIn(part);
  return file && isFileType(part.type) ? { type: part.type, link: file.link } : null;
}

const isFileType = (type: string): type is FileType => FILE_TYPES.some((each) => each === type);

function fileIn(part: SessionPart): SessionFile | null {
  if (part.type === "image") return part.image;
  if (part.type === "video") return part.video;
  if (part.type === "document") return part.document;
  if (part.type === "audio") return part.audio;
  return part.type === "sticker" ? part.sticker : null;
}
