import { countOf } from "../lib/text.ts";
import type { Log } from "../lib/log.ts";
import type { Clock } from "../lib/clock.ts";
import type { Encryption } from "../lib/encryption.ts";
import { accept, RefusedByLimit, type AcceptDeps, type SendRequest } from "../pipeline/accept/accept.ts";
import { mayLearn, notedPolicies, refuseSingle } from "../pipeline/accept/prepare.ts";
import type { Account } from "../model/account.ts";
import type { CatalogRecord } from "../model/catalog.ts";
import { FAILURES, type Channel } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import type { SendLimit } from "../model/send-limits.ts";
import { DAY_MS, MINUTE_MS, type SendCaps } from "../model/verification.ts";
import { DEFAULT_VERIFY_CONFIG, type VerifyChannel, type VerifyConfigContent } from "../model/verify-config.ts";
import { verifyRuleFor } from "../model/verify-rule.ts";
import { countryOf } from "../pipeline/policy/country.ts";
import type { Admission } from "../store/verifications.ts";
import type { Metrics } from "../metrics.ts";
import { addressKey, areLimitsBinding, prepareOtp, usableChannels, type OtpDeliveryDeps } from "./deliver.ts";
import { secondsUntil } from "./check.ts";
import { newOtp, type OtpDigest } from "./code.ts";
import type { EncryptedOtpPlan } from "./plan.ts";
import type { GenerateDraft } from "./read.ts";

export interface GenerateOtpDeps extends OtpDeliveryDeps {
  accepting: AcceptDeps;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  digestOf: OtpDigest;
  /** Encrypts the code for later channels. */
  encryption: Pick<Encryption, "encrypt">;
}

export interface GenerateRequest {
  account: Account;
  test: boolean;
  draft: GenerateDraft;
  idempotency: SendRequest["idempotency"];
  arrivedAt: number;
  answer: SendRequest["answer"];
  /** Sends by this channel of the configuration only. */
  channel?: Channel;
  /** The product of an identity hook, which never reports an outcome. */
  unreported?: true;
}

/** The configuration does not have the channel that the request asks for. */
export class ChannelNotConfigured extends Error {
  override name = "ChannelNotConfigured";
}

/** The channels to try in order: one, if the request asks for it. E-mail is left out without an address. */
function channelsOf(
  config: VerifyConfigContent,
  { channel: asked, draft: { email } }: GenerateRequest,
): readonly VerifyChannel[] {
  const usable = usableChannels(config, email);
  if (usable.length === 0) throw EMAIL_REQUIRED;
  return asked === undefined ? usable : usable.filter(({ channel }) => channel === asked).slice(0, 1);
}

const EMAIL_REQUIRED = new Problem("INVALID_REQUEST", {
  faults: [{ parameter: "email", message: "The configuration sends e-mails only: give email, the user's address." }],
});

interface Generated {
  answer: string;
  replayed: boolean;
  /** Limits that would refuse the request on a real carrier, separated by commas. */
  noted: string;
}

/**
 * Generates a code, sends it and stores only its digest. The commit supersedes the number's last code under the same
 * configuration. Next: src/pipeline/accept/accept.ts
 */
export async function generateOtp(deps: GenerateOtpDeps, request: GenerateRequest): Promise<Generated> {
  const { account, draft } = request;
  const { name, content: config } = configOf(deps, request);
  const country = countryOf(draft.number) ?? "unknown";
  refuseCountry(config.allowedCountries, country);
  const rules = deps.preparing.catalog.of(account.id).named("verifyRule");
  const rule = verifyRuleFor(rules, draft.number, country);
  if (rule?.action === "block") throw RECIPIENT_BLOCKED;
  const fixed = config.testNumbers.find(({ number }) => number === draft.number);
  const code = draft.code ?? fixed?.code ?? newOtp(config.length, config.alphabet);
  const [first, ...later] = channelsOf(config, request);
  if (!first) throw new ChannelNotConfigured();
  const { number, written, email, locale } = draft;
  const prepared = await prepareOtp(
    deps,
    { account, test: request.test, fixed: fixed !== undefined, number, written, email, locale, config },
    first,
    code,
  );
  refuseSingle(prepared);
  const asked = { account, test: request.test, number, config };
  const bound = areLimitsBinding(asked, deps.preparing.catalog.of(account.id));
  const lifeMs = config.lifeSeconds * 1000;
  const plan: EncryptedOtpPlan = { code, locale, ...(email !== null && { email }), ways: later, requestIds: [] };
  try {
    const {
      answer,
      replayed,
      noted = [],
    } = await accept(deps.accepting, {
      prepared,
      idempotency: request.idempotency,
      arrivedAt: request.arrivedAt,
      answer: request.answer,
      validForMs: lifeMs,
      verification: (id, now) => ({
        mode: request.test ? "test" : "live",
        config: name,
        country,
        digest: deps.digestOf(account.id, id, code),
        checksMax: config.checks,
        failuresPerHour: config.failuresPerHour,
        failuresPerDay: config.failuresPerDay,
        expiresAt: now + lifeMs,
        bound,
        caps: fixed ? fixedCaps(config) : config,
        fixed: fixed !== undefined,
        address: fixed ? null : addressKey(deps.digestOf, account.id, first, email),
        source: draft.source && { ...draft.source, unreported: request.unreported ?? false },
        guard: fixed || rule?.action === "allow" ? null : account.settings.otpGuard,
        next:
          later.length === 0
            ? null
            : { at: now + first.waitSeconds * 1000, plan: deps.encryption.encrypt(JSON.stringify(plan)) },
      }),
    });
    if (!replayed) deps.metrics.verifications("generated").inc();
    return { answer, replayed, noted: joined([notedPolicies(prepared), ...limitsOf(noted)]) };
  } catch (error) {
    if (!(error instanceof RefusedByLimit)) throw error;
    throw refusalOf(deps, account, country, error.admission);
  }
}

/** A fixed code has no cooldown, but a limit: each request allows new checks of it. */
const fixedCaps = ({ sendsPer10Minutes }: SendCaps): SendCaps => ({
  cooldownSeconds: 0,
  sendsPer10Minutes,
  sendsPerDay: sendsPer10Minutes * (DAY_MS / (10 * MINUTE_MS)),
});

const joined = (names: readonly string[]): string => names.filter((name) => name !== "").join(", ");
const limitsOf = (refusals: Admission["noted"]): SendLimit[] => refusals.map(({ limit }) => limit);

type ConfigRecord = Pick<CatalogRecord<"verifyConfig">, "name" | "content">;

/** The configuration of the request. On the simulator an unknown name is learned with the defaults. */
function configOf(
  { preparing: { catalog } }: GenerateOtpDeps,
  { account, test, draft: { configId, number } }: GenerateRequest,
): ConfigRecord {
  const records = catalog.of(account.id);
  const known = records.named("verifyConfig").get(configId) ?? catalog.find(account.id, "verifyConfig", configId);
  if (known?.origin === "authored") return known;
  const content = known?.content ?? DEFAULT_VERIFY_CONFIG;
  const recipients = [{ number, written: null, failure: null }];
  const learning = content.channels.every(({ channel, from }) =>
    mayLearn({
      account,
      test,
      catalog: records,
      dryRun: false,
      draft: { channel, sender: from, routeClass: "OTP", campaignName: null, sendAt: null, recipients },
    }),
  );
  if (!learning) throw unknownConfig(configId);
  if (known) return known;
  catalog.learn(account.id, "verifyConfig", configId, content);
  return { name: configId, content };
}

function unknownConfig(configId: string): Problem {
  const message = `There is no verification configuration ${JSON.stringify(configId)}: add it at /api/verify-configs, or use one that is there.`;
  return new Problem("CONFIG_NOT_FOUND", { faults: [{ parameter: "configId", message }] });
}

const RECIPIENT_BLOCKED = new Problem("RECIPIENT_BLOCKED", {
  faults: [{ parameter: "to", message: "Codes to this number are blocked." }],
});

function refuseCountry(allowed: readonly string[] | null, country: string): void {
  if (allowed === null || allowed.includes(country)) return;
  throw new Problem("COUNTRY_NOT_ALLOWED", {
    faults: [{ parameter: "to", message: FAILURES.COUNTRY_NOT_ALLOWED }],
    message: "The verification configuration does not send to this country.",
  });
}

const REASONS: Record<SendLimit, string> = {
  "otp cooldown": "A code was sent to this number a moment ago.",
  "otp sends": "This number has been sent as many codes as it may be for now.",
  "otp address sends": "This e-mail address has been sent as many codes as it may be for now.",
  "otp prefix block": "Codes to numbers like this one are not sent for now: too few of them were ever used.",
  "otp prefix speed": "Too many codes to numbers like this one are not used yet.",
  "otp country speed": "Too many codes to this country are not used yet.",
  "otp daily cap": "The account has sent as many codes today as it may.",
};

function refusalOf(
  { clock, log, metrics }: GenerateOtpDeps,
  account: Account,
  country: string,
  { refused, blocked }: Admission,
): Problem {
  if (blocked) {
    const { sends, verified, until, strikes } = blocked;
    log.warn({ accountId: account.id, country, sends, verified, until, strikes }, "prefix blocked for pumping");
    metrics.verifications("prefix blocked").inc();
  }
  for (const { limit } of refused) metrics.verifications(limit).inc();
  const longest = refused.toSorted((a, b) => b.until - a.until)[0];
  if (!longest) throw new Error("a code was held back for no reason");
  const seconds = secondsUntil(longest.until, clock.now());
  // Rounded up to whole hours: the exact end of a block would help an attacker.
  const retryAfterSeconds = longest.limit === "otp prefix block" ? Math.ceil(seconds / 3600) * 3600 : seconds;
  const message = `${REASONS[longest.limit]} Try again in ${countOf(retryAfterSeconds, "second")}.`;
  return new Problem("OTP_SEND_LIMIT", { faults: [{ parameter: "to", message }], retryAfterSeconds });
}
