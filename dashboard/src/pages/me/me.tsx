import { Grid, Paper, Title } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { PageHeader } from "../../parts/page-header.tsx";
import { PasswordForm } from "../../parts/password-form.tsx";
import { useSession } from "../../session.tsx";
import { SecondFactor } from "./second-factor.tsx";

/** What belongs to whoever is signed in: the password and the second factor. */
export default function Me() {
  const { user, account } = useSession();
  return (
    <>
      <PageHeader title="My account" lead={`${user.email}, ${user.role} of ${account.name}.`} />
      <Grid gap="xl">
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Paper component="section" aria-label="Password">
            <Title order={2} size="h4" mb="md">
              Password
            </Title>
            <PasswordForm
              onChanged={() =>
                notifications.show({ color: "green", title: "Changed", message: "Your other sessions have ended." })
              }
            />
          </Paper>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <SecondFactor />
        </Grid.Col>
      </Grid>
    </>
  );
}
