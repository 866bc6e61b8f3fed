import { Text } from "@mantine/core";
import {
  IconBuildingStore,
  IconCalendar,
  IconCopy,
  IconExternalLink,
  IconForms,
  IconMapPin,
  IconPhone,
  type Icon,
} from "@tabler/icons-react";
import type { ChatButton, Suggestion } from "../../api-types.ts";
import classes from "./phone.module.css";

const TAP_ICONS: Readonly<Record<string, Icon>> = {
  url: IconExternalLink,
  dial: IconPhone,
  call: IconPhone,
  copyCode: IconCopy,
  flow: IconForms,
  catalog: IconBuildingStore,
  viewLocation: IconMapPin,
  shareLocation: IconMapPin,
  calendar: IconCalendar,
};

/** A code is copied; a form or a catalogue opens in the app. */
const SENDS_NOTHING: ReadonlySet<string> = new Set(["copyCode", "flow", "catalog"]);

interface TappableProps {
  of: Suggestion | ChatButton;
  row?: boolean;
  /** A line below the label. */
  note?: string | undefined;
  onTap?: (() => void) | undefined;
}

/** A button or suggestion of a message. */
export function Tappable({ of, row = false, note, onTap }: TappableProps) {
  const TapIcon = TAP_ICONS[of.type];
  return (
    <button
      type="button"
      className={row ? classes.row : classes.chip}
      onClick={onTap}
      disabled={!onTap || SENDS_NOTHING.has(of.type)}
      title={of.url ?? of.number ?? ("value" in of ? of.value : undefined)}
    >
      {TapIcon && <TapIcon size={15} aria-hidden />}
      {of.text}
      {note && (
        <Text span size="xs" c="dimmed" display="block">
          {note}
        </Text>
      )}
    </button>
  );
}
