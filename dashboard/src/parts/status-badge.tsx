import { Badge } from "@mantine/core";
import {
  IconAlertTriangle,
  IconArrowBackUp,
  IconBan,
  IconCheck,
  IconChecks,
  IconCircleDashed,
  IconClock,
  IconHelp,
  IconPlayerPause,
  IconSend,
  IconX,
  type Icon,
} from "@tabler/icons-react";
import { t } from "../i18n/t.ts";

interface Look {
  word: string;
  color: string;
  icon: Icon;
}

const good = (word: string, icon: Icon = IconCheck): Look => ({ word, color: "green", icon });
const bad = (word: string, icon: Icon = IconX): Look => ({ word, color: "red", icon });
const going = (word: string, icon: Icon = IconClock): Look => ({ word, color: "blue", icon });
const careful = (word: string, icon: Icon = IconAlertTriangle): Look => ({ word, color: "yellow", icon });
const idle = (word: string, icon: Icon = IconCircleDashed): Look => ({ word, color: "gray", icon });

/** Name, colour and icon of every state of the API. Colour is never the only distinction. */
const LOOKS: Readonly<Record<string, Look>> = {
  accepted: going(t("Accepted")),
  scheduled: going(t("Scheduled")),
  submitting: going(t("Sending"), IconSend),
  submitted: going(t("Sent"), IconSend),
  sent: going(t("Sent"), IconSend),
  enroute: going(t("In transit"), IconSend),
  pending: going(t("Pending")),
  connecting: going(t("Connecting")),
  waiting: going(t("Waiting")),
  delivered: good(t("Delivered")),
  read: good(t("Read"), IconChecks),
  verified: good(t("Verified"), IconChecks),
  approved: good(t("Approved")),
  enabled: good(t("On")),
  healthy: good(t("Healthy")),
  up: good(t("Up")),
  bound: good(t("Bound")),
  undelivered: bad(t("Not delivered")),
  failed: bad(t("Failed")),
  refused: bad(t("Refused"), IconBan),
  rejected: bad(t("Rejected"), IconBan),
  expired: bad(t("Expired"), IconClock),
  exhausted: bad(t("Failed")),
  failing: bad(t("Failing"), IconAlertTriangle),
  revoked: bad(t("Revoked"), IconBan),
  blocked: bad(t("Blocked"), IconBan),
  unknown: careful(t("Unconfirmed"), IconHelp),
  retrying: careful(t("Retrying")),
  paused: careful(t("Paused"), IconPlayerPause),
  held: careful(t("Held"), IconPlayerPause),
  down: careful(t("Down")),
  cancelled: idle(t("Cancelled"), IconArrowBackUp),
  dropped: idle(t("Discarded")),
  superseded: idle(t("Superseded"), IconArrowBackUp),
  draft: idle(t("Draft")),
  disabled: idle(t("Off")),
  closing: idle(t("Closing")),
};

/** The name of a state. */
export const statusWord = (status: string): string => LOOKS[status.toLowerCase()]?.word ?? status;

/** A state as icon and name. `word` replaces the name. */
export function StatusBadge({ status, word }: { status: string; word?: string }) {
  const look = LOOKS[status.toLowerCase()] ?? idle(status, IconHelp);
  return (
    <Badge color={look.color} leftSection={<look.icon size={13} stroke={2.4} aria-hidden />}>
      {word ?? look.word}
    </Badge>
  );
}
