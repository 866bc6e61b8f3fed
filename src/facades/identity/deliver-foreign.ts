import { setTimeout as pause } from "node:timers/promises";
import type { Credential } from "../../accounts/secret-index.ts";
import type { FacadeCall } from "../../http/facade.ts";
import { onceByKey } from "../../http/public/send.ts";
import type { Services } from "../../http/route.ts";
import type { StoredCredential } from "../../model/credential.ts";
import { hookPath, hookSettingsOf, type IdentityProduct } from "../../model/identity-hook.ts";
import { Problem } from "../../model/problem.ts";
import { MINUTE_MS } from "../../model/verification.ts";
import { TOLERANCE_SECONDS } from "../../webhooks/sign.ts";
import { generateOtp } from "../../otp/generate.ts";
import { readLocale } from "../../model/locale.ts";
import { readGenerate, type GenerateDraft } from "../../otp/read.ts";
import type { ForeignCode } from "./read-payload.ts";

/**
 * A repeat of the same code for the same number within this time, or within the cooldown if that is longer, is a retry. For
 * products that sign it covers the time in which a signature is valid, so that a recorded call sends nothing (replay attack).
 */
const retryMsOf = (product: IdentityProduct): number =>
  product === "supabase" || product === "zitadel" ? 2 * TOLERANCE_SECONDS * 1000 : MINUTE_MS;

/** A retry beside its first attempt waits for it, at most so long. */
const IN_PROGRESS_WAIT_MS = 100;
const IN_PROGRESS_WAITS_MAX = 50;

/** The parts of a number that products write between its digits. */
const SEPARATORS = /[\s().\u00a0-]/g;

/**
 * Delivers a code that an identity product made; a retry of the product is recognised and sends nothing. Resolves to the id of
 * the verification. Next: src/otp/generate.ts
 */
export async function deliverForeign(
  services: Services,
  call: FacadeCall,
  hook: Credential<StoredCredential>,
  { to, code, locale }: ForeignCode,
): Promise<string> {
  const { account, key } = hook;
  const { product, configId } = hookSettingsOf(key);
  const body = { configId, to: to.replaceAll(SEPARATORS, ""), code, mode: "deliver", source: product };
  // A language that is no tag is ignored: the user needs the code.
  const draft = { ...readGenerate(body, account.settings), locale: locale === null ? null : readLocale(locale) };
  for (let waits = 0; ; waits += 1) {
    const latest = await findLatest(services, hook, draft);
    if (latest !== null && isRetry(services, hook, draft, latest)) return latest.id;
    try {
      return await send(services, call, hook, draft, latest?.id ?? "");
    } catch (error) {
      const isBeside = error instanceof Problem && error.code === "IDEMPOTENCY_IN_PROGRESS";
      if (!isBeside || waits === IN_PROGRESS_WAITS_MAX) throw error;
      await pause(IN_PROGRESS_WAIT_MS);
    }
  }
}

type Latest = NonNullable<Awaited<ReturnType<Services["store"]["findLatestVerification"]>>>;

const configOf = ({ catalog }: Services, accountId: number, configId: string) =>
  catalog.find(accountId, "verifyConfig", configId);

async function findLatest(
  services: Services,
  { account, key }: Credential<StoredCredential>,
  { configId, number }: GenerateDraft,
): Promise<Latest | null> {
  const config = configOf(services, account.id, configId);
  if (!config) return null;
  return services.store.findLatestVerification(account.id, { mode: key.mode, number, config: config.name });
}

/** Products repeat a call that timed out, with a new message id: the code itself tells that it is the same. */
function isRetry(
  services: Services,
  { account, key }: Credential<StoredCredential>,
  { configId, code }: GenerateDraft,
  latest: Latest,
): boolean {
  const cooldownMs = (configOf(services, account.id, configId)?.content.cooldownSeconds ?? 0) * 1000;
  const isRecent =
    services.clock.now() < latest.createdAt + Math.max(retryMsOf(hookSettingsOf(key).product), cooldownMs);
  return isRecent && latest.digest === services.otpDeps.digestOf(account.id, latest.id, code ?? "");
}

/** The idempotency key is the same for two calls at once, on any nodes: both know the same last code of the number. */
async function send(
  services: Services,
  { lease, setHeader }: FacadeCall,
  hook: Credential<StoredCredential>,
  draft: GenerateDraft,
  latestId: string,
): Promise<string> {
  const { account, key } = hook;
  const path = hookPath(hookSettingsOf(key).product, key.id);
  const idempotencyKey = services.otpDeps.digestOf(account.id, `${path} ${draft.number} ${latestId}`, draft.code ?? "");
  const once = onceByKey(path, async (_, call, idempotency, arrivedAt) => {
    const { answer, noted } = await generateOtp(services.otpDeps, {
      account,
      test: key.mode === "test",
      draft,
      idempotency,
      arrivedAt,
      unreported: true,
      answer: (verifyId) => verifyId,
    });
    if (noted !== "") call.setHeader("heliograph-would-refuse", noted);
    return { text: answer };
  });
  const headers = { "idempotency-key": idempotencyKey };
  const { text } = await once(services, { headers, body: null, caller: hook, lease, setHeader });
  return text;
}
