import { useMutation, useQueryClient } from "@tanstack/react-query";
import { IconCopy, IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import { useLocation } from "wouter";
import { post } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { GuardedButton, GuardedConfirm } from "../../parts/guarded.tsx";
import { AUDIENCE_CAMPAIGNS, pathOf, type AudienceCampaign } from "./audience-campaign.ts";

type Action = "start" | "pause" | "resume" | "cancel";

/** The buttons that a campaign's state allows. */
export function CampaignActions({ campaign }: { campaign: AudienceCampaign }) {
  const { id, name, state, ways } = campaign;
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const readAgain = (): Promise<void> => client.invalidateQueries({ queryKey: [AUDIENCE_CAMPAIGNS] });
  const act = useMutation({
    mutationFn: (action: Action) => post<AudienceCampaign>(`${AUDIENCE_CAMPAIGNS}/${id}/${action}`),
    // After a refusal too: the state has changed meanwhile.
    onSettled: readAgain,
  });
  const copy = useMutation({
    mutationFn: () => post<AudienceCampaign>(`${AUDIENCE_CAMPAIGNS}/${id}/duplicate`),
    onSuccess: (made) => {
      client.setQueryData([AUDIENCE_CAMPAIGNS, made.id], made);
      navigate(pathOf(made));
    },
  });
  const error = act.error ?? copy.error;
  return (
    <>
      {state === "scheduled" && (
        <GuardedButton loading={act.isPending} onClick={() => act.mutate("start")}>
          {t("Start now")}
        </GuardedButton>
      )}
      {state === "running" && (
        <GuardedButton
          variant="default"
          leftSection={<IconPlayerPause size={16} aria-hidden />}
          loading={act.isPending}
          onClick={() => act.mutate("pause")}
        >
          {t("Pause")}
        </GuardedButton>
      )}
      {state === "paused" && (
        <GuardedButton
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
          loading={act.isPending}
          onClick={() => act.mutate("resume")}
        >
          {t("Resume")}
        </GuardedButton>
      )}
      <GuardedButton
        variant="default"
        leftSection={<IconCopy size={16} aria-hidden />}
        loading={copy.isPending}
        onClick={() => copy.mutate()}
      >
        {t("Duplicate")}
      </GuardedButton>
      {state !== "cancelled" && (state !== "finished" || ways !== null) && (
        <GuardedConfirm
          color="red"
          variant="light"
          question={t("Cancel {name}?", { name })}
          consequence={t(
            "No more recipients get a message, and all messages not yet sent to a carrier are cancelled. The campaign can only be duplicated.",
          )}
          yes={t("Cancel campaign")}
          no={t("Go back")}
          run={() => act.mutateAsync("cancel")}
        >
          {state === "draft" ? t("Cancel campaign") : t("Cancel")}
        </GuardedConfirm>
      )}
      {error && <ErrorState error={error} />}
    </>
  );
}
