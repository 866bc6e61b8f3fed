import { Avatar, Menu, Text, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { IconLogout } from "@tabler/icons-react";
import { useLocation } from "wouter";
import { t } from "./i18n/t.ts";
import { ACCOUNT_NAV } from "./nav.ts";
import { roleName, useSession, useSignIn } from "./session.tsx";

/** Menu of the signed-in user: account pages and sign-out. */
export function UserMenu() {
  const { user, account } = useSession();
  const { signOut } = useSignIn();
  const [, navigate] = useLocation();
  return (
    <Menu position="bottom-end" width={230} withinPortal={false}>
      <Menu.Target>
        <UnstyledButton>
          <VisuallyHidden>{t("Account of {email}", { email: user.email })}</VisuallyHidden>
          <Avatar size={34} radius="xl" color="sun" name={user.name || user.email} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} truncate>
            {user.name || user.email}
          </Text>
          <Text size="xs" truncate>
            {t("{role} of {name}", { role: roleName(user.role), name: account.name })}
          </Text>
        </Menu.Label>
        <Menu.Divider />
        {ACCOUNT_NAV.map(({ label, icon: Icon, path = "/" }) => (
          <Menu.Item key={path} leftSection={<Icon size={16} aria-hidden />} onClick={() => navigate(path)}>
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => void signOut()}>
          {t("Sign out")}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
