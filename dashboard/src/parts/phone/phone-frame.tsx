import { Group, Text } from "@mantine/core";
import { IconBattery3, IconWifi } from "@tabler/icons-react";
import { useState, type ReactNode } from "react";
import { locale } from "../../i18n/language.ts";
import { t } from "../../i18n/t.ts";
import classes from "./phone.module.css";

interface Props {
  /** Accessible name of the phone. */
  label: string;
  /** The other party of the open conversation. */
  title: string;
  subtitle?: ReactNode;
  /** Left of the title, such as a link back to all conversations. */
  lead?: ReactNode;
  children: ReactNode;
  /** Reply inputs below the conversation. */
  foot?: ReactNode;
  /** A change of this value makes the screen light up briefly. */
  lit?: string | undefined;
}

/** Keeps the phone in view beside a long form on wide screens. */
export const STICKY = { pos: { base: "static", md: "sticky" }, top: 88 } as const;

const clock = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });

/** A phone with an open conversation. */
export function PhoneFrame({ label, title, subtitle, lead, children, foot, lit }: Props) {
  const [time] = useState(() => clock.format(Date.now()));
  return (
    <section className={classes.phone} aria-label={label} data-phone>
      {lit && <span key={lit} className={classes.glow} aria-hidden />}
      <div className={classes.screen}>
        <Group justify="space-between" px="md" pt={8} pb={2} aria-hidden>
          <Text size="xs" fw={600}>
            {time}
          </Text>
          <Group gap={4}>
            <IconWifi size={14} />
            <IconBattery3 size={16} />
          </Group>
        </Group>
        <Group className={classes.head} wrap="nowrap" gap="xs">
          {lead}
          <div className={classes.titles}>
            <Text fw={650} truncate>
              {title}
            </Text>
            {subtitle && (
              <Text size="xs" c="dimmed" truncate component="div">
                {subtitle}
              </Text>
            )}
          </div>
        </Group>
        <div
          className={classes.thread}
          tabIndex={0}
          role="log"
          aria-label={t("Conversation with {title}", { title })}
          aria-live="polite"
        >
          {children}
        </div>
        {foot && <div className={classes.foot}>{foot}</div>}
      </div>
    </section>
  );
}
