import {
  IconFile,
  IconFileTypePdf,
  IconMovie,
  IconMusic,
  IconPhoto,
  IconPlayerPlayFilled,
  type Icon,
} from "@tabler/icons-react";
import { useState } from "react";
import { fileOf, isOwnPicture, type MediaKind } from "./file-of.ts";
import classes from "./media.module.css";

interface Props {
  /** What the message says that it is, or its MIME type; where it says nothing, the name of the file does. */
  type?: string;
  link: string;
  /** Where it is called otherwise than in its address. */
  name?: string;
}

/**
 * A file in a message. One that lies on this server is shown; one of anybody else's is told by its kind, name and host,
 * because its server must not learn that this page was opened.
 */
export function Media({ type = "", link, name }: Props) {
  const [broken, setBroken] = useState(false);
  const file = fileOf(type, link);
  const title = name ?? (file.name || `Your ${file.kind === "file" ? "file" : file.kind}`);
  if (isOwnPicture(link, window.location.origin) && !broken)
    return (
      <img className={classes.picture} src={link} alt={title} onError={() => setBroken(true)} data-media="shown" />
    );
  return (
    <figure className={classes.card} data-media={file.kind}>
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
