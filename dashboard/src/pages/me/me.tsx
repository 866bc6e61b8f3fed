import { Grid, Paper, Title } from "@mantine/core";
import { t } from "../../i18n/t.ts";
import { PageHeader } from "../../parts/page-header.tsx";
import { PasswordForm } from "../../parts/password-form.tsx";
import { useSession, roleName } from "../../session.tsx";
import { SecondFactor } from "./second-factor.tsx";
import { Sessions } from "./sessions.tsx";
import { showToast } from "../../parts/toasts.tsx";

/** The signed-in user's password, second factor and sessions. */
export default function Me() {
  const { user, account } = useSession();
  return (
    <>
      <PageHeader
        title={t("My account")}
        lead={t("{email}, {role} of {name}.", { email: user.email, role: roleName(user.role), name: account.name })}
      />
      <Grid gap="xl">
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Paper component="section" aria-label={t("Password")}>
            <Title order={2} size="h4" mb="md">
              {t("Password")}
            </Title>
            <PasswordForm
              onChanged={() =>
                showToast({
                  color: "green",
                  title: t("Changed"),
                  message: t("Your other sessions have ended."),
                })
              }
            />
          </Paper>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          <SecondFactor />
        </Grid.Col>
        <Grid.Col span={12}>
          <Sessions />
        </Grid.Col>
      </Grid>
    </>
  );
}
