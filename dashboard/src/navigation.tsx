import { Anchor, AppShell, Group, NavLink, ScrollArea } from "@mantine/core";
import { Link, useLocation } from "wouter";
import { ownUrl } from "./base.ts";
import { destinations, DOCS, NAV, type NavEntry } from "./nav.ts";
import classes from "./navigation.module.css";

const leadsTo = (entry: NavEntry, path: string): boolean =>
  destinations([entry]).some((each) => path === each.path || path.startsWith(`${each.path}/`));

/** The side bar. */
export function Navigation() {
  const [path] = useLocation();
  return (
    <>
      <AppShell.Section grow component={ScrollArea} type="auto" viewportProps={{ tabIndex: -1 }}>
        <nav aria-label="Main" className={classes.nav}>
          {NAV.map((entry) => (
            <Entry key={entry.label} entry={entry} path={path} depth={0} />
          ))}
        </nav>
      </AppShell.Section>
      <AppShell.Section className={classes.foot}>
        <Anchor href={ownUrl(DOCS.path)} c="dimmed" size="sm">
          <Group gap={8}>
            <DOCS.icon size={17} aria-hidden />
            {DOCS.label}
          </Group>
        </Anchor>
      </AppShell.Section>
    </>
  );
}

function Entry({ entry, path, depth }: { entry: NavEntry; path: string; depth: number }) {
  const { label, icon: Icon, path: target, children } = entry;
  const icon = depth < 2 ? <Icon size={depth === 0 ? 19 : 17} stroke={1.7} aria-hidden /> : undefined;
  const active = target !== undefined && leadsTo(entry, path);
  if (target !== undefined)
    return (
      <NavLink
        component={Link}
        href={target}
        label={label}
        leftSection={icon}
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
