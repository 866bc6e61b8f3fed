import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { post } from "../../api.ts";
import { GuardedConfirm } from "../../parts/guarded.tsx";
import { OwnersOnly } from "../../parts/owners-only.tsx";
import type { RecordKind, RecordRow } from "../../parts/record/record-kind.ts";
import { RecordTable } from "../../parts/record/record-table.tsx";
import { SecretDialog } from "../../parts/secret-dialog.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { useSession } from "../../session.tsx";

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

const KIND: Omit<RecordKind<User>, "actions" | "onMade"> = {
  path: PATH,
  one: "person",
  add: "Add a person",
  may: "own",
  nameTitle: "E-mail",
  nameOf: ({ email }) => email,
  starts: { email: "", name: "", role: "member", disabled: false },
  fields: [
    {
      name: "email",
      label: "E-mail",
      hint: "What they log in with.",
      input: { kind: "text", type: "email", placeholder: "ann@example.com" },
      required: true,
      fixed: true,
    },
    { name: "name", label: "Name", input: { kind: "text", placeholder: "Ann", empty: "omit" } },
    {
      name: "role",
      label: "Role",
      hint: "Viewers look on and see numbers in part, members work, owners also decide about keys, carriers and people.",
      input: {
        kind: "choice",
        options: [
          { value: "viewer", label: "Viewer" },
          { value: "member", label: "Member" },
          { value: "owner", label: "Owner" },
        ],
      },
      required: true,
    },
    {
      name: "disabled",
      label: "Kept out",
      hint: "Their sessions end at once.",
      input: { kind: "switch" },
      // There is nobody to keep out before they are there.
      when: ({ id }) => id !== undefined,
    },
  ],
  columns: [
    { title: "Name", wide: true, render: ({ name }) => name || "–" },
    { title: "Role", render: ({ role }) => role },
    {
      title: "State",
      render: ({ disabled, passwordDue }) =>
        disabled ? (
          <StatusBadge status="blocked" word="Kept out" />
        ) : passwordDue ? (
          <StatusBadge status="waiting" word="Has to choose a password" />
        ) : (
          <StatusBadge status="enabled" word="May log in" />
        ),
    },
    {
      title: "Second factor",
      wide: true,
      render: ({ totp }) => <StatusBadge status={totp ? "enabled" : "disabled"} />,
    },
    { title: "Last login", wide: true, render: ({ lastLoginAt }) => <TimeText at={lastLoginAt} size="sm" /> },
  ],
  empty: { sentence: "Nobody may log in.", example: { email: "ann@example.com", role: "member" } },
  removal: "Their sessions end at once. What they did stays in the audit log.",
};

/** Who may log in, and what they may do. */
export default function Users() {
  return (
    <OwnersOnly title="Users">
      <UserTable />
    </OwnersOnly>
  );
}

interface ResetNeeds {
  /** Whoever looks at the page changes their own password elsewhere. */
  self: string;
  onSecret: (password: string) => void;
}

const resetWith = ({ self, onSecret }: ResetNeeds) =>
  function actions(user: User, close: () => void) {
    return user.id !== self && <ResetButton user={user} onSecret={onSecret} close={close} />;
  };

function ResetButton({ user, onSecret, close }: { user: User; close: () => void } & Pick<ResetNeeds, "onSecret">) {
  const client = useQueryClient();
  return (
    <GuardedConfirm
      may="own"
      size="xs"
      question={`Reset the password of ${user.email}?`}
      consequence="A new password is made up and shown once, the second factor is switched off, and every session ends."
      yes="Reset it"
      run={async () => {
        const made = await post<{ password: string }>(`${PATH}/${user.id}/reset-password`);
        onSecret(made.password);
        close();
        await client.invalidateQueries({ queryKey: [PATH] });
      }}
    >
      Reset the password
    </GuardedConfirm>
  );
}

function UserTable() {
  const { user: self } = useSession();
  const [password, setPassword] = useState<string | null>(null);
  const kind: RecordKind<User> = {
    ...KIND,
    onMade: (made) => setPassword((made as User & { password: string | null }).password),
    actions: resetWith({ self: self.id, onSecret: setPassword }),
  };
  return (
    <>
      <RecordTable kind={kind} title="Users" lead="Who may log in, and what they may do." />
      <SecretDialog secret={password} title="Their first password" onClose={() => setPassword(null)}>
        Give it to them yourself: it is good for one login, at which they choose their own.
      </SecretDialog>
    </>
  );
}
