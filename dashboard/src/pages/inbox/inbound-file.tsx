import { Anchor, Text } from "@mantine/core";
import { ownUrl } from "../../base.ts";
import { t } from "../../i18n/t.ts";
import classes from "./inbox.module.css";

/** Our copy of a user's file. */
export interface InboundMedia {
  id: string;
  state: "pending" | "ready" | "failed";
  kind: string | null;
  name: string | null;
  failure: string | null;
}

/** A picture of a user, which the server sends without scripts, or the download of another file. */
export function InboundFile({ media, title }: { media: InboundMedia; title: string }) {
  const url = ownUrl(`/v1/media/${media.id}/content`);
  if (media.state === "pending") return <Text size="sm">{t("{file} is being fetched.", { file: title })}</Text>;
  if (media.state === "failed")
    return (
      <Text size="sm" title={media.failure ?? undefined}>
        {t("{file} could not be fetched.", { file: title })}
      </Text>
    );
  if (media.kind === "image" || media.kind === "sticker")
    return (
      <a href={url} download={media.name ?? undefined}>
        <img className={classes.picture} src={`${url}?disposition=inline`} alt={title} loading="lazy" />
      </a>
    );
  return (
    <Anchor size="sm" href={url} download={media.name ?? undefined}>
      {title}
    </Anchor>
  );
}
