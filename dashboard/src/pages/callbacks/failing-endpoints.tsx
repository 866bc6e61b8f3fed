import { Alert, Anchor, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { IconAlertTriangle } from "@tabler/icons-react";
import { Link } from "wouter";
import { get } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { TimeText } from "../../parts/time-text.tsx";
import type { KnownEndpoint } from "./use-endpoints.ts";

/** Each endpoint is one request. */
const ASKED_MAX = 20;
const LOOK_EVERY_MS = 15_000;

interface Health {
  failingSince: number | null;
}

/**
 * Names the endpoints that fail. Their deliveries wait without an attempt while the circuit breaker is open, which looks
 * harmless in the list.
 */
export function FailingEndpoints({ endpoints }: { endpoints: readonly KnownEndpoint[] }) {
  const asked = endpoints.filter(({ enabled }) => enabled).slice(0, ASKED_MAX);
  const { data: failing = [] } = useQuery({
    queryKey: ["failing endpoints", asked.map(({ id }) => id)],
    queryFn: async ({ signal }) => {
      const found = await Promise.all(
        asked.map(async ({ id, name, path }) => {
          const { failingSince } = await get<Health>(`${path}/${id}/health`, {}, signal);
          return failingSince === null ? [] : [{ id, name, since: failingSince }];
        }),
      );
      return found.flat();
    },
    enabled: asked.length > 0,
    refetchInterval: LOOK_EVERY_MS,
    retry: false,
  });
  if (failing.length === 0) return null;
  return (
    <Alert
      color="red"
      mb="md"
      icon={<IconAlertTriangle aria-hidden />}
      title={t("Endpoints fail, and their deliveries wait")}
      data-failing
    >
      {failing.map(({ id, name, since }) => (
        <Text key={id} size="sm">
          <Anchor component={Link} href={`/operations/callbacks?endpointId=${id}`} size="sm">
            {name}
          </Anchor>{" "}
          {t("Failing since")} <TimeText at={since} fz="inherit" />
        </Text>
      ))}
    </Alert>
  );
}
