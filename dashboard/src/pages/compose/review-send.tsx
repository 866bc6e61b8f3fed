import { Alert, Button, Group, Loader, Modal, Stack, Table } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { post } from "../../api.ts";
import type { SendPreview, SmsPreview } from "../../api-types.ts";
import { formatNumber } from "../../i18n/format.ts";
import { t } from "../../i18n/t.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { dayTime, ownZone } from "../../parts/time-text.tsx";
import { FactRow } from "./fact-row.tsx";

interface Props {
  /** Path of the send; `<path>/preview` is its preview. */
  path: string;
  body: Record<string, unknown>;
  /** Numbers as entered, including duplicates. */
  typed: number;
  /** In the format of `datetime-local`; empty sends at once. */
  sendAt: string;
  send: () => void;
  close: () => void;
}

type Review = SendPreview & Partial<Pick<SmsPreview, "segmentCount">>;

/** Confirmation of a send to several recipients: their number, the price, the sender and the time. */
export function ReviewSend({ path, body, typed, sendAt, send, close }: Props) {
  const { data, error, isFetching } = useQuery({
    queryKey: [`${path} review`, body],
    queryFn: () => post<Review>(`${path}/preview`, body),
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });
  const review = data && !isFetching ? data : null;
  const going = review?.recipients.filter(({ failure }) => failure === null).length ?? 0;
  return (
    <Modal opened onClose={close} title={t("Review before sending")} size="lg">
      <Stack>
        {error && <ErrorState error={error} title={t("This message cannot be sent")} />}
        {!review && !error && <Loader aria-label={t("Checking the recipients")} />}
        {review && <Summary review={review} typed={typed} sendAt={sendAt} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {t("Back to the draft")}
          </Button>
          {review && (
            <Button onClick={send} disabled={going === 0 || !review.affordable} data-autofocus>
              {sendAt === ""
                ? t("Send to {recipients} now", { recipients: counted(going) })
                : t("Schedule for {recipients}", { recipients: counted(going) })}
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  );
}

const counted = (people: number): string =>
  people === 1 ? t("1 recipient") : t("{count} recipients", { count: people });

const OPTED_OUT = "RECIPIENT_OPTED_OUT";
const INVALID = "INVALID_RECIPIENT";
const EXAMPLES = 3;

function Summary({ review, typed, sendAt }: { review: Review; typed: number; sendAt: string }) {
  const { recipients, segmentCount, credits, balance, affordable } = review;
  const repeated = typed - recipients.length;
  const failing = (wanted: (failure: string) => boolean) =>
    recipients.filter(({ failure }) => failure !== null && wanted(failure));
  const good = recipients.filter(({ failure }) => failure === null);
  const invalid = failing((failure) => failure === INVALID);
  const optedOut = failing((failure) => failure === OPTED_OUT);
  const others = failing((failure) => failure !== INVALID && failure !== OPTED_OUT);
  const carriers = [...Map.groupBy(good, ({ routes }) => routes[0]?.carrier ?? "none")];
  const at = sendAt === "" ? null : new Date(sendAt).getTime();
  const held = good.flatMap(({ heldUntil }) => (heldUntil !== null && heldUntil > (at ?? 0) ? [heldUntil] : []));
  return (
    <>
      <Table variant="vertical" layout="fixed" data-review>
        <Table.Tbody>
          <FactRow name={t("Recipients")}>
            {formatNumber(recipients.length)}
            {repeated > 0 &&
              (repeated === 1 ? t(" (1 duplicate removed)") : t(" ({count} duplicates removed)", { count: repeated }))}
          </FactRow>
          <FactRow name={t("Valid")}>{formatNumber(good.length)}</FactRow>
          <FactRow name={t("Invalid")}>{withExamples(invalid)}</FactRow>
          <FactRow name={t("Opted out")}>{withExamples(optedOut)}</FactRow>
          {others.length > 0 && <FactRow name={t("Refused otherwise")}>{withExamples(others, true)}</FactRow>}
          {segmentCount !== undefined && <FactRow name={t("Segments each")}>{segmentCount}</FactRow>}
          <FactRow name={t("Credits")}>
            {balance === null
              ? t("{credits} (not deducted)", { credits })
              : t("{credits} of {balance}", { credits, balance })}
          </FactRow>
          <FactRow name={t("Carrier")}>
            {carriers.map(([name, some]) => (
              <div key={name}>
                {name}
                {carriers.length > 1 && `: ${formatNumber(some.length)}`}
              </div>
            ))}
          </FactRow>
          <FactRow name={t("When")}>
            {at === null ? t("Now") : dayTime(at)}
            {held.length > 0 && (
              <div>
                {t("{count} wait for quiet hours in the recipient’s time zone, until {time} at the earliest", {
                  count: held.length,
                  time: dayTime(Math.min(...held)),
                })}
              </div>
            )}
          </FactRow>
          <FactRow name={t("Time zone")}>{t("{zone} (yours)", { zone: ownZone() })}</FactRow>
        </Table.Tbody>
      </Table>
      {carriers.some(([name]) => name === "simulator") && (
        <Alert color="yellow">{t("Recipients on the simulator get nothing on a real phone.")}</Alert>
      )}
      {invalid.length + optedOut.length + others.length > 0 && (
        <Alert color="yellow">
          {t(
            "Recipients that are invalid or refused are stored as failed messages and cost nothing. Go back to remove them.",
          )}
        </Alert>
      )}
      {!affordable && <Alert color="red">{t("There are not enough credits for this message.")}</Alert>}
    </>
  );
}

function withExamples(some: Review["recipients"], reasons = false): string {
  if (some.length === 0) return "0";
  const shown = some
    .slice(0, EXAMPLES)
    .map(({ recipient, failure }) => (reasons ? `${recipient}: ${failure ?? ""}` : recipient));
  return `${formatNumber(some.length)} (${shown.join(", ")}${some.length > EXAMPLES ? ", …" : ""})`;
}
