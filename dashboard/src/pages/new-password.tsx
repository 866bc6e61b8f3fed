import { Center, Paper, Stack, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { t } from "../i18n/t.ts";
import { PasswordForm } from "../parts/password-form.tsx";
import { SESSION, type Session } from "../session.tsx";
import classes from "./login.module.css";

/** Users with a temporary password must choose their own first. */
export default function NewPassword({ session }: { session: Session }) {
  useDocumentTitle(t("Choose a password · Heliograph"));
  const client = useQueryClient();
  return (
    <Center mih="100dvh" p="md" className={classes.screen} component="main">
      <Paper p="xl" shadow="sm" w="100%" maw={420}>
        <Stack>
          <Title order={1} size="h3">
            {t("Choose a password")}
          </Title>
          <Text size="sm" c="dimmed">
            {t("You signed in with a temporary password, {email}. Choose your own.", { email: session.user.email })}
          </Text>
          <PasswordForm onChanged={() => void client.invalidateQueries({ queryKey: SESSION })} />
        </Stack>
      </Paper>
    </Center>
  );
}
