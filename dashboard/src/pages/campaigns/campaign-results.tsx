import { Anchor, Paper, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { t } from "../../i18n/t.ts";
import { BarList } from "../../parts/bar-list.tsx";
import { useClicks, useFailures, type NamedCampaign } from "./campaign-details.ts";

interface Props {
  campaign: NamedCampaign;
}

export const Section = ({ title, children }: { title: string; children: ReactNode }) => (
  <Paper component="section" aria-label={title} mb="lg">
    <Title order={2} size="h4" mb="md">
      {title}
    </Title>
    {children}
  </Paper>
);

/** The most frequent failure reasons. */
export function Failures({ campaign }: Props) {
  const { data } = useFailures(campaign);
  if (!data) return null;
  return (
    <Section title={t("Failure reasons")}>
      {data.reasons.length === 0 && (
        <Text size="sm" c="dimmed">
          {t("No failures")}
        </Text>
      )}
      <BarList
        of={data.lookedAt}
        bars={data.reasons.map(({ code, words, count }) => ({
          name: words,
          count,
          color: "red",
          label: (
            <>
              {words} {code !== null && <Text span c="dimmed" size="xs">{`(${code})`}</Text>}
            </>
          ),
        }))}
      />
      {data.more && (
        <Text size="xs" c="dimmed" mt="sm">
          {t("Of the newest {lookedAt} that failed.", { lookedAt: data.lookedAt })}
        </Text>
      )}
    </Section>
  );
}

/** The short links of a campaign with their clicks. */
export function Clicks({ campaign }: Props) {
  const { data } = useClicks(campaign);
  if (!data || data.links.length === 0) return null;
  return (
    <Section title={t("Clicks")}>
      {data.links.map(({ id, url, recipients, recipientsClicked, clicks }) => (
        <div key={id}>
          <BarList
            of={recipients}
            bars={[
              {
                name: t("Recipients who clicked on {url}", { url }),
                count: recipientsClicked,
                color: "green",
                label: (
                  <Anchor component={Link} href={`/message-app/links?open=${encodeURIComponent(id)}`} size="sm">
                    {url}
                  </Anchor>
                ),
              },
            ]}
          />
          <Text size="xs" c="dimmed" mt={4} mb="sm">
            {t("{person} clicks by people, {value} by bots", {
              person: clicks.person,
              value: clicks.preview + clicks.bot,
            })}
          </Text>
        </div>
      ))}
      {data.more && (
        <Text size="xs" c="dimmed">
          {t("Of the newest {lookedAt} messages.", { lookedAt: data.lookedAt })}
        </Text>
      )}
    </Section>
  );
}
