import { Center, Paper, Stack, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { PasswordForm } from "../parts/password-form.tsx";
import { SESSION, type Session } from "../session.tsx";
import classes from "./login.module.css";

/** Who got a password from somebody else chooses one of their own before anything else. */
export default function NewPassword({ session }: { session: Session }) {
  useDocumentTitle("Choose a password · Heliograph");
  const client = useQueryClient();
  return (
    <Center mih="100dvh" p="md" className={classes.screen} component="main">
      <Paper p="xl" shadow="sm" w="100%" maw={420}>
        <Stack>
          <Title order={1} size="h3">
            Choose a password
          </Title>
          <Text size="sm" c="dimmed">
            Somebody else knows the one you signed in with, {session.user.email}. Choose one that only you know.
          </Text>
          <PasswordForm onChanged={() => void client.invalidateQueries({ queryKey: SESSION })} />
        </Stack>
      </Paper>
    </Center>
  );
}
