import { Paper, Select, SimpleGrid, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { get, type Page } from "../../api.ts";
import type { Callback } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { Bars } from "../../parts/charts/bars.tsx";
import { FigureCard } from "../../parts/figure-card.tsx";
import { duration } from "../../parts/time-text.tsx";
import { figuresOf, latencyGroups, outcomesOverTime } from "./delivery-figures.ts";

const LATEST = 200;

/** Success rate and response time of the latest deliveries to one endpoint. */
export function DeliveryCharts({ endpoints }: { endpoints: readonly { id: string; name: string }[] }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const endpointId = chosen ?? endpoints[0]?.id ?? "";
  const { data } = useQuery({
    queryKey: ["/api/callbacks", { endpointId, latest: LATEST }],
    queryFn: ({ signal }) => get<Page<Callback>>("/api/callbacks", { endpointId, limit: LATEST }, signal),
  });
  const callbacks = data?.data ?? [];
  const { successPercent, failed, medianMs } = figuresOf(callbacks);
  return (
    <Paper mt="lg" component="section" aria-label={t("Delivery charts")}>
      <Title order={2} size="h4" mb="md">
        {t("Success and response time")}
      </Title>
      <Select
        label={t("Endpoint")}
        data={endpoints.map(({ id, name }) => ({ value: id, label: name }))}
        value={endpointId}
        onChange={setChosen}
        allowDeselect={false}
        maw={320}
        mb="md"
      />
      {data && callbacks.length === 0 && (
        <Text size="sm" c="dimmed">
          {t("No deliveries to this endpoint yet.")}
        </Text>
      )}
      {callbacks.length > 0 && (
        <>
          <Text size="sm" c="dimmed" mb="sm">
            {t("The latest {count} deliveries.", { count: callbacks.length })}
          </Text>
          <SimpleGrid cols={{ base: 1, xs: 3 }} mb="lg">
            <FigureCard label={t("Delivered")} value={successPercent === null ? "–" : `${successPercent} %`} />
            <FigureCard label={t("Not delivered")} value={String(failed)} />
            <FigureCard label={t("Median response time")} value={medianMs === null ? "–" : duration(medianMs)} />
          </SimpleGrid>
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            <div>
              <Title order={3} size="h5" mb="xs">
                {t("Deliveries over time")}
              </Title>
              <Bars
                label={t("Deliveries over time")}
                data={outcomesOverTime(callbacks)}
                series={[
                  { key: "delivered", name: t("Delivered"), color: "green" },
                  { key: "failed", name: t("Not delivered"), color: "red" },
                ]}
              />
            </div>
            <div>
              <Title order={3} size="h5" mb="xs">
                {t("Response time")}
              </Title>
              <Bars
                label={t("Deliveries by response time")}
                data={latencyGroups(callbacks)}
                series={[{ key: "count", name: t("Deliveries"), color: "sun" }]}
              />
            </div>
          </SimpleGrid>
        </>
      )}
    </Paper>
  );
}
