import { AppShell, NavLink, ScrollArea, Text } from "@mantine/core";
import { Link, useLocation } from "wouter";
import { ownUrl } from "./base.ts";
import { t } from "./i18n/t.ts";
import { destinations, NAV, type NavEntry } from "./nav.ts";
import { UnreadBadge } from "./parts/unread-badge.tsx";
import classes from "./navigation.module.css";

const leadsTo = (entry: NavEntry, path: string): boolean =>
  destinations([entry]).some((each) => path === each.path || path.startsWith(`${each.path}/`));

export function Navigation() {
  const [path] = useLocation();
  return (
    <AppShell.Section grow component={ScrollArea} type="auto" scrollbarSize={6} viewportProps={{ tabIndex: -1 }}>
      <nav aria-label={t("Main")} className={classes.nav}>
        {NAV.map(({ title, entries }) => (
          <div key={title ?? ""} role={title === null ? undefined : "group"} aria-label={title ?? undefined}>
            {title !== null && (
              <Text size="xs" c="dimmed" fw={600} className={classes.title} aria-hidden>
                {title}
              </Text>
            )}
            {entries.map((entry) => (
              <Entry key={entry.label} entry={entry} path={path} depth={0} />
            ))}
          </div>
        ))}
      </nav>
    </AppShell.Section>
  );
}

function Entry({ entry, path, depth }: { entry: NavEntry; path: string; depth: number }) {
  const { label, icon: Icon, path: target, children, isOutside, note, badge } = entry;
  const icon = depth < 2 ? <Icon size={depth === 0 ? 19 : 17} stroke={1.7} aria-hidden /> : undefined;
  const active = target !== undefined && leadsTo(entry, path);
  if (target !== undefined && isOutside)
    return <NavLink component="a" href={ownUrl(target)} label={label} leftSection={icon} className={classes.link} />;
  if (target !== undefined)
    return (
      <NavLink
        component={Link}
        href={target}
        label={label}
        leftSection={icon}
        rightSection={badge && <UnreadBadge />}
        active={active}
        aria-current={active ? "page" : undefined}
        className={classes.link}
      />
    );
  return (
    <NavLink
      component="button"
      type="button"
      label={label}
      description={note}
      leftSection={icon}
      defaultOpened={depth > 0 || leadsTo(entry, path)}
      childrenOffset={depth === 0 ? 22 : 28}
      className={classes.link}
      fw={depth === 0 ? 500 : 400}
    >
      {children?.map((child) => (
        <Entry key={child.label} entry={child} path={path} depth={depth + 1} />
      ))}
    </NavLink>
  );
}
