import { Drawer, Stack, Tabs } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { get, patch, post, remove } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { CodeBlock } from "../code-block.tsx";
import { curlOf } from "../curl.ts";
import { DrawerTitle } from "../drawer-title.tsx";
import { ErrorState } from "../error-state.tsx";
import { GuardedConfirm } from "../guarded.tsx";
import { PageLoading } from "../page-loading.tsx";
import { bodyToShow, type Values } from "./field.ts";
import { nameIn, type RecordKind, type RecordRow } from "./record-kind.ts";
import { RecordForm } from "./record-form.tsx";
import { useRecordForm } from "./use-record-form.ts";
import { showToast } from "../toasts.tsx";

interface Props<T extends RecordRow> {
  kind: RecordKind<T>;
  /** Id of the open record, "new", or empty. */
  open: string;
  /** The record, if the list has loaded it. */
  row: T | undefined;
  change: (open: string | null) => void;
}

/** The drawer that creates, shows, changes and removes records. */
export function RecordDrawer<T extends RecordRow>({ kind, open, row, change }: Props<T>) {
  const isNew = open === "new";
  const { data, error } = useQuery({
    queryKey: [kind.path, "one", open],
    queryFn: ({ signal }) => get<T>(`${kind.path}/${open}`, {}, signal),
    enabled: open !== "" && !isNew && row === undefined,
  });
  // The list's row is fresher: only the list is read again after a change.
  const record = row ?? data;
  const close = (): void => change(null);
  return (
    <Drawer
      opened={open !== ""}
      onClose={close}
      position="right"
      size="lg"
      title={<DrawerTitle>{isNew ? kind.add : record ? nameIn(kind, record) : "…"}</DrawerTitle>}
      data-record={open}
    >
      {isNew && <NewRecord kind={kind} change={change} />}
      {!isNew && error && <ErrorState error={error} />}
      {!isNew && !error && open !== "" && !record && <PageLoading />}
      {!isNew && open !== "" && record && <OpenRecord key={open} kind={kind} record={record} close={close} />}
    </Drawer>
  );
}

function NewRecord<T extends RecordRow>({ kind, change }: Pick<Props<T>, "kind" | "change">) {
  const client = useQueryClient();
  // The presets are part of the draft's key, because several pages create the same kind of record.
  const draft = `${kind.path} new ${JSON.stringify(kind.starts)}`;
  const form = useRecordForm({ fields: kind.fields, starts: kind.starts, draft });
  return (
    <Stack gap="xl">
      <RecordForm
        form={form}
        fields={kind.fields}
        exists={false}
        may={kind.may ?? "write"}
        cancel={() => change(null)}
        save={async (body) => {
          const made = await post<T>(kind.path, { ...kind.always, ...body });
          await client.invalidateQueries({ queryKey: [kind.path] });
          showToast({
            color: "green",
            title: t("Saved"),
            message: t("{name} created.", { name: nameIn(kind, made) }),
          });
          change((kind.panels?.(made) ?? []).length > 0 ? made.id : null);
          kind.onMade?.(made);
        }}
      />
      <CodeBlock
        heading={t("curl command")}
        code={curlOf({ path: kind.path, body: { ...kind.always, ...bodyToShow(kind.fields, form.values) } })}
      />
    </Stack>
  );
}

function OpenRecord<T extends RecordRow>({
  kind,
  record,
  close,
}: {
  kind: RecordKind<T>;
  record: T;
  close: () => void;
}) {
  const panels = kind.panels?.(record) ?? [];
  if (panels.length === 0) return <EditRecord kind={kind} record={record} close={close} />;
  return (
    <>
      {kind.notice?.(record)}
      <Tabs defaultValue="settings" keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="settings">{t("Settings")}</Tabs.Tab>
          {panels.map(({ value, label }) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="settings">
          <EditRecord kind={kind} record={record} close={close} />
        </Tabs.Panel>
        {panels.map(({ value, panel }) => (
          <Tabs.Panel key={value} value={value}>
            {panel}
          </Tabs.Panel>
        ))}
      </Tabs>
    </>
  );
}

function EditRecord<T extends RecordRow>({
  kind,
  record,
  close,
}: {
  kind: RecordKind<T>;
  record: T;
  close: () => void;
}) {
  const client = useQueryClient();
  const { path, fields, may = "write" } = kind;
  const before = { ...record } as Values;
  const form = useRecordForm({ fields, starts: kind.starts, before, draft: `${path}/${record.id ?? ""}` });
  const refresh = (): Promise<void> => client.invalidateQueries({ queryKey: [path] });
  return (
    <RecordForm
      form={form}
      fields={fields}
      exists
      may={may}
      cancel={close}
      save={async (body) => {
        await patch(`${path}/${record.id ?? ""}`, body);
        await refresh();
        showToast({ color: "green", title: t("Saved"), message: t("Applies from the next message on.") });
        close();
      }}
      aside={
        <>
          {kind.removal !== null && (
            <GuardedConfirm
              may={may}
              color="red"
              variant="subtle"
              question={t("Remove {name}?", { name: nameIn(kind, record) })}
              consequence={kind.removal}
              yes={t("Remove")}
              run={async () => {
                await remove(`${path}/${record.id ?? ""}`);
                close();
                await refresh();
              }}
            >
              {t("Remove")}
            </GuardedConfirm>
          )}
          {kind.actions?.(record, close)}
        </>
      }
    />
  );
}
