import { ActionIcon, Grid, Loader, Text, UnstyledButton } from "@mantine/core";
import { IconChevronLeft } from "@tabler/icons-react";
import { useState } from "react";
import { t } from "../../i18n/t.ts";
import { ChannelBadge, channelName } from "../../parts/channel.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { PhoneFrame } from "../../parts/phone/phone-frame.tsx";
import { localTime } from "../../parts/time-text.tsx";
import { useMay } from "../../session.tsx";
import { useUrlState } from "../../url-state.ts";
import { AnswerBar } from "./answer-bar.tsx";
import { Conversation } from "./conversation.tsx";
import classes from "./phones.module.css";
import { excerptOf, type Thread } from "./threads.ts";
import { Told } from "./told.tsx";
import { usePhone } from "./use-phone.ts";
import { showToast } from "../../parts/toasts.tsx";

/** One simulated phone, with the webhook deliveries that its events caused. */
export function OpenPhone({ number }: { number: string }) {
  const { threads, loading, error, lit, act } = usePhone(number);
  const [{ thread: chosen }, change] = useUrlState(["thread"]);
  const [busy, setBusy] = useState(false);
  const mayWrite = useMay("write");
  const thread = threads.find(({ key }) => key === chosen) ?? (threads.length === 1 ? threads[0] : undefined);
  if (error) return <ErrorState error={error} title={t("Phone cannot be loaded")} />;

  async function run(verb: string, body: object): Promise<boolean> {
    setBusy(true);
    try {
      await act(verb, body);
      return true;
    } catch (problem) {
      showToast({ color: "red", title: t("Action failed"), message: (problem as Error).message });
      return false;
    } finally {
      setBusy(false);
    }
  }

  const label = t("Phone +{number}", { number });
  return (
    <>
      <Grid.Col span={{ base: 12, sm: 6, lg: 5 }}>
        {thread ? (
          <PhoneFrame
            label={label}
            title={thread.sender}
            subtitle={channelName(thread.channel)}
            lit={lit}
            lead={
              threads.length > 1 && (
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  onClick={() => change({ thread: null })}
                  aria-label={t("All conversations")}
                >
                  <IconChevronLeft size={20} aria-hidden />
                </ActionIcon>
              )
            }
            foot={mayWrite && thread.channel !== "email" && <AnswerBar thread={thread} busy={busy} run={run} />}
          >
            <Conversation
              thread={thread}
              onTap={mayWrite ? ({ messageId, ...tap }) => void run("tap", { messageId, ...tap }) : undefined}
            />
          </PhoneFrame>
        ) : (
          <PhoneFrame label={label} title={t("Messages")} subtitle={`+${number}`} lit={lit}>
            {loading && <Loader mx="auto" />}
            {threads.length === 0 && !loading && (
              <Text c="dimmed" size="sm" ta="center" my="auto">
                {t("No messages yet")}
              </Text>
            )}
            {threads.map((each) => (
              <ThreadRow key={each.key} thread={each} open={() => change({ thread: each.key })} />
            ))}
          </PhoneFrame>
        )}
      </Grid.Col>
      <Grid.Col span={{ base: 12, sm: 6, lg: 4 }}>
        <Told number={number} />
      </Grid.Col>
    </>
  );
}

const ThreadRow = ({ thread, open }: { thread: Thread; open: () => void }) => (
  <UnstyledButton className={classes.row} onClick={open} data-thread={thread.key}>
    <span className={classes.rowHead}>
      <Text fw={600} size="sm" truncate component="span">
        {thread.sender}
      </Text>
      <Text size="xs" c="dimmed" component="span">
        {localTime(thread.last.at)}
      </Text>
    </span>
    <Text size="sm" c="dimmed" lineClamp={1} component="span">
      {excerptOf(thread)}
    </Text>
    <ChannelBadge channel={thread.channel} />
  </UnstyledButton>
);
