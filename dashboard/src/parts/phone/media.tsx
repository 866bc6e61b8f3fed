import {
  IconFile,
  IconFileTypePdf,
  IconMovie,
  IconMusic,
  IconPhoto,
  IconPlayerPlayFilled,
  type Icon,
} from "@tabler/icons-react";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import { ownUrl } from "../../base.ts";
import { t } from "../../i18n/t.ts";
import { fileOf, isOwnPicture, type MediaKind } from "./file-of.ts";
import classes from "./media.module.css";

interface Props {
  /** The media type that the message states, or its MIME type. If empty, the file extension decides. */
  type?: string;
  link: string;
  /** File name, if the message states one. */
  name?: string;
  /** The link is the account's own, such as a template's, so the server may proxy the picture. */
  isOwn?: true;
}

const TYPING_MS = 600;

/**
 * A file in a message. Shows pictures of this server, and proxies pictures of the account's own content, so that third
 * parties do not learn the viewer's address. Any other file appears as a card with its kind, name and host.
 */
export function Media({ type = "", link: written, name, isOwn }: Props) {
  const link = linkOf(written);
  const [broken, setBroken] = useState(false);
  const [loaded, setLoaded] = useState("");
  // Debounced, because a URL is incomplete while the user types.
  const [settled] = useDebouncedValue(link, TYPING_MS);
  const file = fileOf(type, link);
  const title = name ?? (file.name || t("Your {value}", { value: file.kind === "file" ? "file" : file.kind }));
  if (isOwnPicture(link, window.location.origin) && !broken)
    return (
      <img className={classes.picture} src={link} alt={title} onError={() => setBroken(true)} data-media="shown" />
    );
  const proxied =
    isOwn && file.kind === "image" && /^https?:\/\/./i.test(settled)
      ? ownUrl(`/api/media-preview?url=${encodeURIComponent(settled)}`)
      : "";
  const picture = proxied !== "" && (
    <img
      className={classes.picture}
      src={proxied}
      alt={title}
      hidden={loaded !== proxied}
      onLoad={() => setLoaded(proxied)}
      {...(loaded === proxied ? { "data-media": "shown" } : {})}
    />
  );
  if (picture && loaded === proxied) return picture;
  return (
    <figure className={classes.card} data-media={file.kind}>
      {picture}
      <Stage kind={file.kind} extension={file.extension} />
      <figcaption className={classes.caption}>
        <span className={classes.name}>{title}</span>
        {file.host !== "" && (
          <span className={classes.host} title={link}>
            {file.host}
          </span>
        )}
      </figcaption>
    </figure>
  );
}

/** Uploaded media of the account has its id as a link. */
const linkOf = (written: string): string =>
  written.startsWith("media:")
    ? new URL(ownUrl(`/v1/media/${written.slice("media:".length)}/content?disposition=inline`), window.location.origin)
        .href
    : written;

const ICONS: Readonly<Record<MediaKind, Icon>> = {
  image: IconPhoto,
  video: IconMovie,
  audio: IconMusic,
  document: IconFile,
  file: IconFile,
};

function Stage({ kind, extension }: { kind: MediaKind; extension: string }) {
  const KindIcon = extension === "pdf" ? IconFileTypePdf : ICONS[kind];
  return (
    <div className={classes.stage} data-kind={kind}>
      <KindIcon size={38} stroke={1.2} aria-label={kind} />
      {kind === "video" && (
        <span className={classes.play}>
          <IconPlayerPlayFilled size={15} aria-hidden />
        </span>
      )}
      {extension !== "" && <span className={classes.extension}>{extension}</span>}
    </div>
  );
}
