import { Anchor, Box, Grid, Group, Paper, Stack, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { ApiError, get, patch, post, type Page } from "../../api.ts";
import type { PhoneMessage } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { channelName } from "../../parts/channel.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { GuardedButton, useWhyNot } from "../../parts/guarded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { Bubble } from "../../parts/phone/bubble.tsx";
import { PhoneFrame, STICKY } from "../../parts/phone/phone-frame.tsx";
import { RestoredNote } from "../../parts/restored-note.tsx";
import { useDraft, useLeaveGuard } from "../../parts/use-draft.ts";
import { useUrlState } from "../../url-state.ts";
import { AUDIENCES, isMoving, type Audience, type Recipient } from "../audiences/audience.ts";
import { SegmentCounter } from "../compose/segment-counter.tsx";
import { AUDIENCE_CAMPAIGNS, draftPath, pathOf, type AudienceCampaign } from "./audience-campaign.ts";
import { CampaignActions } from "./campaign-actions.tsx";
import {
  bodyOf,
  draftOf,
  emptyDraft,
  linksOf,
  previewBody,
  shownText,
  textFor,
  type CampaignDraft,
} from "./campaign-draft.ts";
import { CampaignFields } from "./campaign-fields.tsx";
import { ReviewCampaign } from "./review-campaign.tsx";
import { CampaignUnavailable } from "./campaign-unavailable.tsx";
import { useTemplates } from "./use-templates.ts";
import { messageOfWay } from "./way-draft.ts";

const FIRST_RECIPIENTS = 20;

/** The form of a new campaign to an audience, or of a saved draft. */
export default function CampaignFormPage() {
  const { id } = useParams<{ id?: string }>();
  const [{ audience }] = useUrlState(["audience"]);
  const { data, error, refetch } = useQuery({
    queryKey: [AUDIENCE_CAMPAIGNS, id],
    queryFn: ({ signal }) => get<AudienceCampaign>(`${AUDIENCE_CAMPAIGNS}/${id}`, {}, signal),
    enabled: id !== undefined,
    // Another reader's version must not replace what is typed.
    refetchOnWindowFocus: false,
  });
  if (id === undefined) return <CampaignForm key="new" campaign={null} audienceId={encodeURIComponent(audience)} />;
  if (error) return <CampaignUnavailable error={error} retry={() => void refetch()} />;
  if (!data) return <PageLoading />;
  if (data.state !== "draft")
    return (
      <PageHeader
        title={data.name}
        lead={
          <>
            {t("This campaign is no longer a draft.")}{" "}
            <Anchor component={Link} href={pathOf(data)}>
              {t("View campaign")}
            </Anchor>
          </>
        }
      />
    );
  return <CampaignForm key={id} campaign={data} audienceId={data.audienceId} />;
}

interface FormProps {
  /** Null for a new one. */
  campaign: AudienceCampaign | null;
  audienceId: string;
}

function CampaignForm({ campaign, audienceId }: FormProps) {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const [{ review }, changeUrl] = useUrlState(["review"]);
  const saved = campaign ? draftOf(campaign) : emptyDraft(audienceId);
  const kept = useDraft<CampaignDraft>(`campaign ${campaign?.id ?? `new ${audienceId}`}`, saved);
  const draft = kept.value;
  const isChanged = JSON.stringify(draft) !== JSON.stringify(saved);
  const isSaved = campaign !== null && !isChanged;
  useLeaveGuard(isChanged);
  const save = useMutation({
    mutationFn: (_next: "stay" | "review") =>
      campaign
        ? patch<AudienceCampaign>(`${AUDIENCE_CAMPAIGNS}/${campaign.id}`, bodyOf(draft))
        : post<AudienceCampaign>(AUDIENCE_CAMPAIGNS, bodyOf(draft)),
    onSuccess: (stored, next) => {
      kept.set(draftOf(stored));
      kept.clear();
      client.setQueryData([AUDIENCE_CAMPAIGNS, stored.id], stored);
      void client.invalidateQueries({ queryKey: [AUDIENCE_CAMPAIGNS, {}] });
      const open = next === "review" ? "1" : null;
      if (campaign) changeUrl({ review: open });
      else navigate(draftPath(stored.id) + (open ? "?review=1" : ""), { replace: true });
    },
  });
  const change = (changes: Partial<CampaignDraft>): void => {
    kept.set({ ...draft, ...changes });
    save.reset();
  };
  const audience = useAudience(draft.audienceId);
  const missing = missingIn(draft) ?? unusable(audience);
  return (
    <>
      <PageHeader
        title={campaign ? campaign.name : t("New campaign")}
        lead={
          <Anchor component={Link} href="/campaigns" size="sm">
            {t("All campaigns")}
          </Anchor>
        }
      >
        {campaign && <CampaignActions campaign={campaign} />}
      </PageHeader>
      <Grid gap={{ base: "xl", lg: 48 }}>
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Paper>
            <Stack gap="lg">
              {kept.isRestored && isChanged && (
                <RestoredNote
                  discard={() => {
                    kept.set(saved);
                    kept.clear();
                  }}
                />
              )}
              <CampaignFields
                draft={draft}
                change={change}
                audience={audience}
                test={campaign?.test ?? false}
                error={save.error}
              />
              {save.error && hasOtherFaults(save.error) && (
                <ErrorState error={save.error} title={t("Draft not saved")} />
              )}
              <Group>
                <GuardedButton
                  loading={save.isPending}
                  whyNot={missing}
                  onClick={() => (isSaved ? changeUrl({ review: "1" }) : save.mutate("review"))}
                >
                  {t("Review")}
                </GuardedButton>
                <GuardedButton
                  variant="default"
                  loading={save.isPending}
                  whyNot={missing ?? (isSaved ? t("Nothing has changed.") : null)}
                  onClick={() => save.mutate("stay")}
                >
                  {t("Save draft")}
                </GuardedButton>
                <Text size="sm" c="dimmed" aria-live="polite">
                  {isSaved ? t("Draft saved") : ""}
                </Text>
              </Group>
            </Stack>
          </Paper>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Box {...STICKY}>
            <Preview draft={draft} isReady={audience?.state === "ready"} />
          </Box>
        </Grid.Col>
      </Grid>
      {review === "1" && campaign && isSaved && (
        <ReviewCampaign campaign={campaign} close={() => changeUrl({ review: null })} />
      )}
    </>
  );
}

const FIELDS =
  /^(?:name|audienceId|type|sender|text|templateId|custom|shortenUrlData|moveOnAfterSeconds|throttle|window|scheduledAt)\b/;

/** True unless every fault of an error is shown beside its field. */
const hasOtherFaults = (error: Error): boolean =>
  !(error instanceof ApiError) ||
  error.details.length === 0 ||
  error.details.some(({ parameter }) => !FIELDS.test(parameter));

/** The first input without which a draft cannot be saved. */
function missingIn({ name, audienceId, sender, by, text, templateId, ways, isLater, scheduledAt }: CampaignDraft) {
  if (name.trim() === "") return t("Give the campaign a name.");
  if (audienceId === "") return t("Choose an audience.");
  if (by === "ways") {
    if (ways.length === 0) return t("Add a channel.");
    const open = ways.find(
      (way) => way.sender.trim() === "" || (way.by === "text" ? way.text.trim() === "" : way.templateName === ""),
    );
    if (open) return t("Fill in the channel {channel}.", { channel: channelName(open.channel) });
  } else if (sender.trim() === "") return t("Enter the sender.");
  if (by === "text" && text.trim() === "") return t("Write the text.");
  if (by === "template" && templateId === "") return t("Choose a template.");
  return isLater && scheduledAt === "" ? t("Choose the time of the start.") : null;
}

/** Why an audience cannot be sent to yet. */
function unusable(audience: Audience | undefined): string | null {
  if (!audience || audience.state === "ready") return null;
  return isMoving(audience) ? t("Wait until the file is checked.") : t("The file cannot be used. Choose another one.");
}

const CHECK_MS = 1000;

function useAudience(id: string): Audience | undefined {
  const { data } = useQuery({
    queryKey: [AUDIENCES, id],
    queryFn: ({ signal }) => get<Audience>(`${AUDIENCES}/${id}`, {}, signal),
    enabled: id !== "",
    refetchInterval: ({ state }) => (state.data && isMoving(state.data) ? CHECK_MS : false),
  });
  return data;
}

const subtitleOf = (first: Recipient | undefined): string =>
  first ? t("Preview for row {row}: {number}", { row: first.row, number: first.number }) : t("Preview");

/** The phone of the first recipient, with the segments and price of its text. */
function Preview({ draft, isReady }: { draft: CampaignDraft; isReady: boolean }) {
  const refused = useWhyNot("write");
  const [openedAt] = useState(() => Date.now());
  const { data: recipients } = useQuery({
    queryKey: [`${AUDIENCES}/${draft.audienceId}/recipients`, "first", isReady],
    queryFn: ({ signal }) =>
      get<Page<Recipient>>(`${AUDIENCES}/${draft.audienceId}/recipients`, { limit: FIRST_RECIPIENTS }, signal),
    enabled: isReady,
  });
  const smsTemplates = useTemplates("sms");
  const rcsTemplates = useTemplates("rcs");
  const chatTemplates = useTemplates("chatapp");
  const pattern = smsTemplates.find(({ name }) => name === draft.templateId)?.text ?? null;
  const first = recipients?.data.find(({ optedOut }) => !optedOut) ?? recipients?.data[0];
  const content = {
    type: draft.type,
    sender: draft.sender,
    text: draft.by === "text" ? draft.text : null,
    templateId: draft.templateId,
    custom: draft.by === "template" ? draft.custom : null,
    shortenUrlData: linksOf(draft),
  };
  if (draft.by === "ways") {
    const templates = [...smsTemplates, ...rcsTemplates, ...chatTemplates];
    const fill = (written: string): string => (first ? textFor(written, first) : written);
    return (
      <PhoneFrame label={t("Preview")} title={draft.ways[0]?.sender || t("Sender")} subtitle={subtitleOf(first)}>
        {draft.ways.map((way) => {
          const template = templates.find(({ channel, name }) => channel === way.channel && name === way.templateName);
          const message = messageOfWay(way, template, fill, openedAt);
          return <Bubble key={way.channel} message={message} note={channelName(way.channel)} />;
        })}
      </PhoneFrame>
    );
  }
  const text = shownText(content, pattern, first);
  const message: PhoneMessage = {
    id: "preview",
    messageId: "preview",
    to: first?.number ?? "",
    sender: draft.sender,
    channel: "sms",
    text: text || "…",
    receivedAt: openedAt,
  };
  return (
    <Stack>
      <PhoneFrame label={t("Preview")} title={draft.sender || t("Sender")} subtitle={subtitleOf(first)}>
        <Bubble message={message} />
      </PhoneFrame>
      {refused === null && first && text.trim() !== "" && draft.sender.trim() !== "" && (
        <SegmentCounter body={previewBody(content, [first])} />
      )}
    </Stack>
  );
}
