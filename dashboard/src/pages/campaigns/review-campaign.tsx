import { Alert, Button, Group, Loader, Modal, Stack, Table, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { get, post } from "../../api.ts";
import { formatNumber } from "../../i18n/format.ts";
import { t } from "../../i18n/t.ts";
import { channelName } from "../../parts/channel.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { GuardedButton } from "../../parts/guarded.tsx";
import { dayTime, duration, ownZone } from "../../parts/time-text.tsx";
import { AUDIENCES, type Audience } from "../audiences/audience.ts";
import { FactRow } from "../compose/fact-row.tsx";
import {
  AUDIENCE_CAMPAIGNS,
  channelsText,
  pathOf,
  windowText,
  type AudienceCampaign,
  type CampaignPreview,
} from "./audience-campaign.ts";

const SAMPLE = 100;
const HOUR_MS = 3_600_000;

interface Review {
  audience: Audience;
  /** The preview of the first recipients. */
  preview: CampaignPreview;
}

async function reviewOf({ id, audienceId }: AudienceCampaign): Promise<Review> {
  const [audience, preview] = await Promise.all([
    get<Audience>(`${AUDIENCES}/${audienceId}`),
    post<CampaignPreview>(`${AUDIENCE_CAMPAIGNS}/${id}/preview`, { limit: SAMPLE }),
  ]);
  return { audience, preview };
}

/** Confirmation of a campaign: its recipients, price, carrier and time. Then it starts or is scheduled. */
export function ReviewCampaign({ campaign, close }: { campaign: AudienceCampaign; close: () => void }) {
  const { id, name, scheduledAt } = campaign;
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const { data, error, isFetching } = useQuery({
    queryKey: ["campaign review", id, campaign],
    queryFn: () => reviewOf(campaign),
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });
  const start = useMutation({
    mutationFn: () =>
      post<AudienceCampaign>(`${AUDIENCE_CAMPAIGNS}/${id}/${scheduledAt === null ? "start" : "schedule"}`),
    onSuccess: (started) => {
      client.setQueryData([AUDIENCE_CAMPAIGNS, id], started);
      void client.invalidateQueries({ queryKey: [AUDIENCE_CAMPAIGNS, {}] });
      navigate(pathOf(started));
    },
  });
  const review = data && !isFetching ? data : null;
  const count = review?.audience.recipients ?? 0;
  return (
    <Modal opened onClose={close} title={t("Review: {name}", { name })} size="lg">
      <Stack>
        {error && <ErrorState error={error} title={t("This message cannot be sent")} />}
        {!review && !error && <Loader aria-label={t("Checking the recipients")} />}
        {review && <Summary campaign={campaign} {...review} />}
        {start.error && <ErrorState error={start.error} title={t("Campaign not started")} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {t("Back to the draft")}
          </Button>
          {review && (
            <GuardedButton
              loading={start.isPending}
              onClick={() => start.mutate()}
              whyNot={count === 0 ? t("The audience has no recipients.") : null}
              data-autofocus
            >
              {scheduledAt === null
                ? t("Start now: {count} recipients", { count })
                : t("Schedule for {time}", { time: dayTime(scheduledAt) })}
            </GuardedButton>
          )}
        </Group>
      </Stack>
    </Modal>
  );
}

function Summary({ campaign, audience, preview }: Review & { campaign: AudienceCampaign }) {
  const { type, sender, ways, throttle, window, scheduledAt } = campaign;
  const { recipients, optedOut, faults, duplicates } = audience;
  const going = preview.recipients.filter(({ failure }) => failure === null);
  const segments = preview.recipients.flatMap((each) => each.ways.flatMap((way) => way.segments ?? []));
  const [least, most] = [Math.min(...segments), Math.max(...segments)];
  const [first] = going;
  const paying = type === "PROMO" ? recipients - optedOut : recipients;
  const credits = going.length === 0 ? 0 : Math.round((preview.credits / going.length) * paying);
  const chosen = going.map((each) => each.ways.map(({ routes }) => routes[0]?.carrier ?? t("none")));
  const carriers = [...Map.groupBy(chosen, (names) => names.join(" → "))];
  const refused = Map.groupBy(
    preview.recipients.filter(({ failure }) => failure !== null && failure !== "RECIPIENT_OPTED_OUT"),
    ({ failure }) => failure ?? "",
  );
  const held = going.flatMap(({ heldUntil }) => heldUntil ?? []);
  return (
    <>
      <Table variant="vertical" layout="fixed" data-review>
        <Table.Tbody>
          <FactRow name={t("Audience")}>{audience.name}</FactRow>
          <FactRow name={t("Recipients")}>{formatNumber(recipients)}</FactRow>
          <FactRow name={t("Opted out")}>
            {optedOut === 0
              ? "0"
              : type === "PROMO"
                ? t("{count} of them, who get no promotion", { count: optedOut })
                : t("{count} of them, who get it too: it is no promotion", { count: optedOut })}
          </FactRow>
          <FactRow name={t("Left out")}>
            {t("Rows with faults: {faults}, duplicates: {duplicates}", { faults, duplicates })}
          </FactRow>
          {ways && <FactRow name={t("Channels")}>{channelsText(ways)}</FactRow>}
          <FactRow name={t("Sender")}>{t("{sender}, {type}", { sender, type })}</FactRow>
          {first?.ways.map((way) => (
            <FactRow
              key={way.channel}
              name={
                ways
                  ? t("{channel} of row {row}", { channel: channelName(way.channel), row: first.row })
                  : t("Text of row {row}", { row: first.row })
              }
            >
              {way.text}
            </FactRow>
          ))}
          {segments.length > 0 && (
            <FactRow name={t("Segments each")}>
              {least === most ? formatNumber(least) : t("{least} to {most}", { least, most })}
            </FactRow>
          )}
          <FactRow name={t("Credits")}>
            {preview.balance === null
              ? t("about {credits} (not deducted)", { credits })
              : t("about {credits} of {balance}", { credits, balance: preview.balance })}
          </FactRow>
          <FactRow name={t("Carrier")}>
            {carriers.map(([name, some]) => (
              <div key={name}>{carriers.length > 1 ? `${name}: ${formatNumber(some.length)}` : name}</div>
            ))}
          </FactRow>
          <FactRow name={t("When")}>
            {scheduledAt === null ? t("Now") : dayTime(scheduledAt)}
            {throttle !== null && (
              <div>
                {t("{throttle} per hour: at least {time}", {
                  throttle,
                  time: duration((recipients / throttle) * HOUR_MS),
                })}
              </div>
            )}
            {held.length > 0 && (
              <div>
                {t("Some wait for quiet hours, until {time} at the earliest", { time: dayTime(Math.min(...held)) })}
              </div>
            )}
          </FactRow>
          <FactRow name={t("Time zone")}>{t("{zone} (yours)", { zone: ownZone() })}</FactRow>
          {window && <FactRow name={t("Only within")}>{windowText(window)}</FactRow>}
        </Table.Tbody>
      </Table>
      <Text size="xs" c="dimmed">
        {t("Segments, credits and carriers are estimated from the first {count} recipients.", {
          count: preview.recipients.length,
        })}
      </Text>
      {preview.skipped.length > 0 && (
        <Alert color="yellow">
          {t("{count} of the first {all} are skipped: their values do not fit the message.", {
            count: preview.skipped.length,
            all: preview.recipients.length + preview.skipped.length,
          })}
        </Alert>
      )}
      {chosen.flat().includes("simulator") && (
        <Alert color="yellow">{t("Recipients on the simulator get nothing on a real phone.")}</Alert>
      )}
      {[...refused].map(([failure, some]) => (
        <Alert key={failure} color="yellow">
          {t("{count} of the first {all} would fail: {failure}", {
            count: some.length,
            all: preview.recipients.length,
            failure,
          })}
        </Alert>
      ))}
      {preview.balance !== null && credits > preview.balance && (
        <Alert color="red">
          {t("There are not enough credits for all recipients. The campaign pauses when they run out.")}
        </Alert>
      )}
    </>
  );
}
