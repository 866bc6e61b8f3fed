import { Group, Text } from "@mantine/core";
import { IconBattery3, IconWifi } from "@tabler/icons-react";
import { useState, type ReactNode } from "react";
import { locale } from "../../i18n/language.ts";
import { t } from "../../i18n/t.ts";
import classes from "./phone.module.css";

interface Props {
  /** Whose phone it is, for who does not see it. */
  label: string;
  /** Who the open conversation is with. */
  title: string;
  subtitle?: ReactNode;
  /** At the left of the title, such as a way back to all conversations. */
  lead?: ReactNode;
  children: ReactNode;
  /** What is typed and sent with, below the conversation. */
  foot?: ReactNode;
  /** Makes the phone light up for a moment when it changes. */
  lit?: string | undefined;
}

/** Keeps a phone in view beside a long form, where there is room beside it. */
export const STICKY = { pos: { base: "static", md: "sticky" }, top: 88 } as const;

const clock = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });

/** A phone with one conversation open. */
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
