import { Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { post } from "../../api.ts";
import { wholeUrl } from "../../base.ts";
import { t } from "../../i18n/t.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { GuardedButton, GuardedConfirm } from "../../parts/guarded.tsx";
import { OwnersOnly } from "../../parts/owners-only.tsx";
import type { RecordKind, RecordRow } from "../../parts/record/record-kind.ts";
import { RecordTable } from "../../parts/record/record-table.tsx";
import { SecretDialog } from "../../parts/secret-dialog.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { dayTime, ownZone, TimeText } from "../../parts/time-text.tsx";
import { useSession, roleName } from "../../session.tsx";

interface User extends RecordRow {
  id: string;
  email: string;
  role: string;
  disabled: boolean;
  totp: boolean;
  passwordDue: boolean;
  lastLoginAt: number | null;
}

const PATH = "/api/users";

interface Invitation {
  url: string;
  expiresAt: number;
}

const KIND: Omit<RecordKind<User>, "actions" | "onMade"> = {
  path: PATH,
  one: "person",
  add: t("Add user"),
  may: "own",
  nameTitle: t("E-mail"),
  nameOf: ({ email }) => email,
  starts: { email: "", name: "", role: "member", disabled: false, inviteHours: "72" },
  fields: [
    {
      name: "email",
      label: t("E-mail"),
      hint: t("Used to sign in."),
      input: { kind: "text", type: "email", placeholder: "ann@example.com" },
      required: true,
      fixed: true,
    },
    { name: "name", label: t("Name"), input: { kind: "text", placeholder: "Ann", empty: "omit" } },
    {
      name: "role",
      label: t("Role"),
      hint: t("Viewer: read-only, masked numbers. Member: send and edit. Owner: also keys, carriers, users."),
      input: {
        kind: "choice",
        options: [
          { value: "viewer", label: t("Viewer") },
          { value: "member", label: t("Member") },
          { value: "owner", label: t("Owner") },
        ],
      },
      required: true,
    },
    {
      name: "inviteHours",
      label: t("Invitation link valid for"),
      hint: t("They choose their own password with it."),
      input: {
        kind: "choice",
        options: [
          { value: "24", label: t("1 day") },
          { value: "72", label: t("3 days") },
          { value: "168", label: t("7 days") },
        ],
        number: true,
      },
      when: ({ id }) => id === undefined,
    },
    {
      name: "disabled",
      label: t("Disabled"),
      hint: t("Ends their sessions at once."),
      input: { kind: "switch" },
      // New users cannot be disabled yet.
      when: ({ id }) => id !== undefined,
    },
  ],
  columns: [
    { title: t("Name"), wide: true, render: ({ name }) => name || "–" },
    { title: t("Role"), render: ({ role }) => roleName(role) },
    {
      title: t("State"),
      render: ({ disabled, passwordDue }) =>
        disabled ? (
          <StatusBadge status="blocked" word={t("Disabled")} />
        ) : passwordDue ? (
          <StatusBadge status="waiting" word={t("Invited")} />
        ) : (
          <StatusBadge status="enabled" word={t("Active")} />
        ),
    },
    {
      title: t("Two-factor authentication"),
      wide: true,
      render: ({ totp }) => <StatusBadge status={totp ? "enabled" : "disabled"} />,
    },
    { title: t("Last login"), wide: true, render: ({ lastLoginAt }) => <TimeText at={lastLoginAt} size="sm" /> },
  ],
  empty: { sentence: t("No users"), example: { email: "ann@example.com", role: "member" } },
  removal: t("Their sessions end at once. Their actions stay in the audit log."),
};

/** Users and their roles. */
export default function Users() {
  return (
    <OwnersOnly title={t("Users")}>
      <UserTable />
    </OwnersOnly>
  );
}

interface ResetNeeds {
  /** Id of the signed-in user, who changes their own password under "My account". */
  self: string;
  onSecret: (password: string) => void;
  onInvited: (invitation: Invitation) => void;
}

const resetWith = ({ self, onSecret, onInvited }: ResetNeeds) =>
  function actions(user: User, close: () => void) {
    return (
      user.id !== self && (
        <>
          <ResetButton user={user} onSecret={onSecret} close={close} />
          <InviteButton user={user} onInvited={onInvited} close={close} />
        </>
      )
    );
  };

/** Creates a new invitation, for a user whose link has expired or who forgot the password. */
function InviteButton({ user, onInvited, close }: { user: User; close: () => void } & Pick<ResetNeeds, "onInvited">) {
  const [error, setError] = useState<Error | null>(null);
  const [busy, setBusy] = useState(false);
  async function invite(): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      onInvited(await post<Invitation>(`${PATH}/${user.id}/invite`, { hours: 72 }));
      close();
    } catch (problem) {
      setError(problem as Error);
    } finally {
      setBusy(false);
    }
  }
  return (
    <>
      <GuardedButton may="own" size="xs" variant="default" loading={busy} onClick={() => void invite()}>
        {t("Create invitation link")}
      </GuardedButton>
      {error && <ErrorState error={error} />}
    </>
  );
}

function ResetButton({ user, onSecret, close }: { user: User; close: () => void } & Pick<ResetNeeds, "onSecret">) {
  const client = useQueryClient();
  return (
    <GuardedConfirm
      may="own"
      size="xs"
      question={t("Reset the password of {email}?", { email: user.email })}
      consequence={t(
        "A temporary password is created and shown once. Two-factor authentication is turned off, and all sessions end.",
      )}
      yes={t("Reset password")}
      run={async () => {
        const made = await post<{ password: string }>(`${PATH}/${user.id}/reset-password`);
        onSecret(made.password);
        close();
        await client.invalidateQueries({ queryKey: [PATH] });
      }}
    >
      {t("Reset password")}
    </GuardedConfirm>
  );
}

function UserTable() {
  const { user: self } = useSession();
  const [password, setPassword] = useState<string | null>(null);
  const [invitation, setInvitation] = useState<Invitation | null>(null);
  const kind: RecordKind<User> = {
    ...KIND,
    onMade: (made) => setInvitation((made as User & { invitation: Invitation | null }).invitation),
    actions: resetWith({ self: self.id, onSecret: setPassword, onInvited: setInvitation }),
  };
  return (
    <>
      <RecordTable kind={kind} title={t("Users")} lead={t("Users who can sign in, and their roles.")} />
      <SecretDialog
        // The link uses this page's origin, which the invited user can reach.
        secret={invitation && wholeUrl(`/invitation${new URL(invitation.url).hash}`)}
        title={t("Invitation link")}
        words={{
          heading: t("Copy the link now"),
          hint: t("It is shown once. You can create a new one at any time."),
          done: t("Close"),
        }}
        onClose={() => setInvitation(null)}
      >
        {invitation && (
          <Text size="sm">
            {t("Send it to the user. It works once, until {time} ({zone}). A new link replaces it.", {
              time: dayTime(invitation.expiresAt),
              zone: ownZone(),
            })}
          </Text>
        )}
      </SecretDialog>
      <SecretDialog secret={password} title={t("Temporary password")} onClose={() => setPassword(null)}>
        {t("Give it to the user. It is valid for one sign-in, at which they choose their own.")}
      </SecretDialog>
    </>
  );
}
