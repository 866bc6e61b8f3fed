import { ActionIcon, AppShell, Burger, Button, Container, Group, Image, Kbd, Text, Tooltip } from "@mantine/core";
import { useDisclosure, useHotkeys } from "@mantine/hooks";
import { IconHelp, IconSearch } from "@tabler/icons-react";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { Link, Route, Switch, useLocation } from "wouter";
import { AlertBadge } from "./alert-badge.tsx";
import { ownUrl } from "./base.ts";
import { t } from "./i18n/t.ts";
import { ConnectionBadge } from "./connection-badge.tsx";
import { LanguageSwitch } from "./language-switch.tsx";
import { Navigation } from "./navigation.tsx";
import { PAGES } from "./pages.ts";
import NotFound from "./pages/not-found.tsx";
import { PageFault } from "./parts/page-fault.tsx";
import { PageLoading } from "./parts/page-loading.tsx";
import { Toasts } from "./parts/toasts.tsx";
import { ThemeSwitch } from "./theme-switch.tsx";
import { hearTypingAhead, startTypingAhead, stopTypingAhead } from "./typed-ahead.ts";
import { UserMenu } from "./user-menu.tsx";
import { WarningBanner } from "./warning-banner.tsx";

const Help = lazy(() => import("./help.tsx"));
const Palette = lazy(() => import("./palette.tsx"));

/** Focuses the filter of the page, if it has one. */
function focusFilter(): void {
  document.querySelector<HTMLInputElement>("[data-filter]")?.focus();
}

/** Layout of every page: navigation, header and global keyboard shortcuts. */
export default function Shell() {
  const [menuOpen, menu] = useDisclosure(false);
  const [helpOpen, help] = useDisclosure(false);
  // The palette loads with its first call.
  const [paletteCalls, setPaletteCalls] = useState(0);
  const openPalette = (): void => {
    startTypingAhead();
    setPaletteCalls((calls) => calls + 1);
  };
  const [path] = useLocation();
  const main = useRef<HTMLElement>(null);
  useHotkeys([
    ["mod+K", openPalette],
    ["/", focusFilter],
    ["shift+?", help.open],
    ["?", help.open],
  ]);
  useEffect(() => {
    menu.close();
    window.scrollTo(0, 0);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- only a change of the page closes the menu
  }, [path]);

  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 264, breakpoint: "md", collapsed: { mobile: !menuOpen } }}
      padding={{ base: "md", md: "xl" }}
    >
      <a href={`${location.pathname}#content`} className="skip" onClick={() => main.current?.focus()}>
        {t("Skip to content")}
      </a>
      <AppShell.Header px="md">
        <Group h="100%" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={menuOpen}
              onClick={menu.toggle}
              hiddenFrom="md"
              size="sm"
              aria-label={menuOpen ? t("Close navigation") : t("Open navigation")}
            />
            <Link href="/" className="brand" aria-label={t("Heliograph, start page")}>
              <Image src={ownUrl("/favicon.svg")} alt="" w={28} h={28} />
              <Text fw={700} size="lg" component="span" visibleFrom="xs">
                Heliograph
              </Text>
            </Link>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <ConnectionBadge />
            <Button
              variant="default"
              size="xs"
              leftSection={<IconSearch size={15} aria-hidden />}
              rightSection={<Kbd size="xs">Ctrl K</Kbd>}
              onClick={openPalette}
              visibleFrom="sm"
              w={{ sm: 260, lg: 380 }}
              justify="space-between"
              fw={400}
            >
              {t("Search messages, campaigns, pages…")}
            </Button>
            <ActionIcon
              variant="subtle"
              color="gray"
              size="lg"
              hiddenFrom="sm"
              onClick={openPalette}
              aria-label={t("Search")}
            >
              <IconSearch size={19} aria-hidden />
            </ActionIcon>
            <AlertBadge />
            <Tooltip label={t("Keyboard shortcuts and help (?)")}>
              <ActionIcon
                variant="subtle"
                color="gray"
                size="lg"
                onClick={help.open}
                aria-label={t("Keyboard shortcuts and help")}
              >
                <IconHelp size={20} aria-hidden />
              </ActionIcon>
            </Tooltip>
            <LanguageSwitch />
            <ThemeSwitch />
            <UserMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar>
        <Navigation />
      </AppShell.Navbar>
      <AppShell.Main ref={main} id="content" tabIndex={-1}>
        <Container size={1280} p={0}>
          <WarningBanner />
          <PageFault key={path}>
            <Suspense fallback={<PageLoading />}>
              <Switch>
                {PAGES.map(({ path: pattern, page }) => (
                  <Route key={pattern} path={pattern} component={page} />
                ))}
                <Route component={NotFound} />
              </Switch>
            </Suspense>
          </PageFault>
        </Container>
      </AppShell.Main>
      <Suspense>
        {paletteCalls > 0 && (
          <Palette
            calls={paletteCalls}
            openHelp={help.open}
            hearTyping={hearTypingAhead}
            stopTyping={stopTypingAhead}
          />
        )}
        {helpOpen && <Help onClose={help.close} />}
      </Suspense>
      <Toasts />
    </AppShell>
  );
}
