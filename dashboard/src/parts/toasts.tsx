import { Box, Notification, Stack } from "@mantine/core";
import { useSyncExternalStore } from "react";
import { t } from "../i18n/t.ts";
import classes from "./toasts.module.css";

interface Toast {
  color: "green" | "red" | "yellow";
  title: string;
  message: string;
}

const SHOWN_MS = 6000;

let toasts: readonly (Toast & { id: number })[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function change(next: typeof toasts): void {
  toasts = next;
  for (const listener of listeners) listener();
}

const hide = (id: number): void => change(toasts.filter((toast) => toast.id !== id));

/** Shows the result of an action in a corner for some seconds. */
export function showToast(toast: Toast): void {
  const id = (lastId += 1);
  change([...toasts, { ...toast, id }]);
  window.setTimeout(() => hide(id), SHOWN_MS);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <Box component="section" aria-label={t("Notifications")} className={classes.corner}>
      <Stack gap="sm">
        {shown.map(({ id, message, ...toast }) => (
          <Notification
            key={id}
            {...toast}
            withBorder
            onClose={() => hide(id)}
            closeButtonProps={{ "aria-label": t("Close") }}
          >
            {message}
          </Notification>
        ))}
      </Stack>
    </Box>
  );
}
