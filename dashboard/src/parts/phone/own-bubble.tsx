import { Text } from "@mantine/core";
import { IconChecks, IconHandFinger, IconMapPin } from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { Inbound } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { TimeText } from "../time-text.tsx";
import { Media } from "./media.tsx";
import classes from "./phone.module.css";

/** A message from the phone's owner. */
export function OwnBubble({ inbound }: { inbound: Inbound }) {
  return (
    <div className={classes.out} data-inbound={inbound.id}>
      {inbound.userFile ? <OwnFile {...inbound.userFile} /> : <div className={classes.bubble}>{said(inbound)}</div>}
      {inbound.details?.description && (
        <Text size="xs" c="dimmed">
          {inbound.details.description}
        </Text>
      )}
      <div className={classes.meta}>
        <TimeText at={inbound.receivedAt} fz="inherit" />
        {inbound.readAt !== null && <IconChecks size={13} color="var(--mantine-color-blue-6)" aria-label={t("Read")} />}
      </div>
    </div>
  );
}

const OwnFile = ({ category, payload }: NonNullable<Inbound["userFile"]>) => (
  <div className={classes.rich}>
    <Media type={payload.mimeType ?? category} link={payload.fileUri} name={payload.fileName} />
  </div>
);

function said({ text, suggestionResponse, location }: Inbound): ReactNode {
  if (suggestionResponse)
    return (
      <>
        <IconHandFinger size={14} aria-label={t("Tapped")} /> {suggestionResponse.plainText}
      </>
    );
  if (location)
    return (
      <>
        <IconMapPin size={14} aria-label={t("Place")} /> {location.latitude}, {location.longitude}
      </>
    );
  return text;
}
