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

/** Every state that the API tells of anything, as people should read it. A state never shows by its colour alone. */
const LOOKS: Readonly<Record<string, Look>> = {
  accepted: going("Accepted"),
  scheduled: going("Scheduled"),
  submitting: going("Sending", IconSend),
  submitted: going("Sent", IconSend),
  sent: going("Sent", IconSend),
  enroute: going("On its way", IconSend),
  pending: going("Pending"),
  connecting: going("Connecting"),
  waiting: going("Waiting"),
  delivered: good("Delivered"),
  read: good("Read", IconChecks),
  verified: good("Verified", IconChecks),
  approved: good("Approved"),
  enabled: good("On"),
  healthy: good("Healthy"),
  up: good("Up"),
  bound: good("Bound"),
  undelivered: bad("Not delivered"),
  failed: bad("Failed"),
  refused: bad("Refused", IconBan),
  rejected: bad("Rejected", IconBan),
  expired: bad("Expired", IconClock),
  exhausted: bad("Given up"),
  failing: bad("Failing", IconAlertTriangle),
  revoked: bad("Revoked", IconBan),
  blocked: bad("Blocked", IconBan),
  unknown: careful("Unconfirmed", IconHelp),
  paused: careful("Paused", IconPlayerPause),
  held: careful("Held", IconPlayerPause),
  down: careful("Down"),
  cancelled: idle("Cancelled", IconArrowBackUp),
  dropped: idle("Dropped"),
  superseded: idle("Superseded", IconArrowBackUp),
  draft: idle("Draft"),
  disabled: idle("Off"),
  closing: idle("Closing"),
};

/** A state as an icon and a word; `word` says it in the page's own words. */
export function StatusBadge({ status, word }: { status: string; word?: string }) {
  const look = LOOKS[status.toLowerCase()] ?? idle(status, IconHelp);
  return (
    <Badge color={look.color} leftSection={<look.icon size={13} stroke={2.4} aria-hidden />}>
      {word ?? look.word}
    </Badge>
  );
}
