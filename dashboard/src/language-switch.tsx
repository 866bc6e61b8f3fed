import { ActionIcon, Menu } from "@mantine/core";
import { IconCheck, IconLanguage } from "@tabler/icons-react";
import { language, LANGUAGES, STORED, type Language } from "./i18n/language.ts";
import { t } from "./i18n/t.ts";

export function changeLanguage(code: Language): void {
  localStorage.setItem(STORED, code);
  location.reload();
}

export const LanguageSwitch = () => (
  <Menu position="bottom-end" withinPortal={false}>
    <Menu.Target>
      <ActionIcon variant="subtle" color="gray" size="lg" aria-label={t("Language")}>
        <IconLanguage size={20} aria-hidden />
      </ActionIcon>
    </Menu.Target>
    <Menu.Dropdown>
      {(Object.keys(LANGUAGES) as Language[]).map((code) => (
        <Menu.Item
          key={code}
          lang={code}
          rightSection={code === language && <IconCheck size={16} aria-label={t("chosen")} />}
          onClick={() => changeLanguage(code)}
        >
          {LANGUAGES[code]}
        </Menu.Item>
      ))}
    </Menu.Dropdown>
  </Menu>
);
