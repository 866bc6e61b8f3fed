import { ActionIcon, Menu, useMantineColorScheme, type MantineColorScheme } from "@mantine/core";
import { IconCheck, IconDeviceDesktop, IconMoon, IconSun, type Icon } from "@tabler/icons-react";
import { t } from "./i18n/t.ts";

export const THEMES: readonly { value: MantineColorScheme; label: string; icon: Icon }[] = [
  { value: "light", label: t("Light theme"), icon: IconSun },
  { value: "dark", label: t("Dark theme"), icon: IconMoon },
  { value: "auto", label: t("System theme"), icon: IconDeviceDesktop },
];

/** Colour scheme: light, dark or that of the system. */
export function ThemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const Current = THEMES.find(({ value }) => value === colorScheme)?.icon ?? IconDeviceDesktop;
  return (
    <Menu position="bottom-end" withinPortal={false}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t("Theme")}>
          <Current size={19} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {THEMES.map(({ value, label, icon: ChoiceIcon }) => (
          <Menu.Item
            key={value}
            leftSection={<ChoiceIcon size={16} aria-hidden />}
            rightSection={value === colorScheme && <IconCheck size={16} aria-label={t("chosen")} />}
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
