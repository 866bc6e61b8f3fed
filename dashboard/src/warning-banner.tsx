import { Alert } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { get } from "./api.ts";
import { t } from "./i18n/t.ts";

interface Warning {
  code: string;
  message: string;
}

const TITLES: Readonly<Record<string, string>> = {
  LIVE_SIMULATED: t("Live messages go to the simulator"),
  SERVICE_HELD: t("Held after a restore: nothing is sent"),
  STORAGE_FULL: t("The disk is nearly full: sends are refused"),
};

/**
 * Account warnings above every page. They are read on navigation and after changes of routes, never by a timer: polling
 * would keep the session of an unattended page alive.
 */
export function WarningBanner() {
  const [path] = useLocation();
  const { data } = useQuery({
    queryKey: ["/api/routes", "warnings", path],
    queryFn: ({ signal }) => get<{ warnings: readonly Warning[] }>("/api/account", {}, signal),
    placeholderData: keepPreviousData,
  });
  return data?.warnings.map(({ code, message }) => (
    <Alert
      key={`${code} ${message}`}
      color="yellow"
      title={TITLES[code] ?? code}
      icon={<IconAlertTriangle aria-hidden />}
      mb="lg"
      data-warning={code}
    >
      {message}
    </Alert>
  ));
}
