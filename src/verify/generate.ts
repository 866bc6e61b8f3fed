import type { Log } from "../lib/log.ts";
import type { Clock } from "../lib/clock.ts";
import type { Seal } from "../lib/seal.ts";
import { accept, HeldBack, type AcceptNeeds, type SendRequest } from "../messages/accept.ts";
import { mayLearn, notedPolicies, refuseSingle } from "../messages/prepare.ts";
import type { Account } from "../model/account.ts";
import type { CatalogRecord } from "../model/catalog.ts";
import { FAILURES } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import type { SendLimit } from "../model/send-limits.ts";
import { DAY_MS, MINUTE_MS, type SendCaps } from "../model/verification.ts";
import { DEFAULT_VERIFY_CONFIG } from "../model/verify-config.ts";
import { countryOf } from "../policies/country.ts";
import type { Admission } from "../store/verify-store.ts";
import type { Meters } from "../work/meters.ts";
import { isBinding, prepareOtp, type BringNeeds } from "./bring.ts";
import { secondsUntil } from "./check.ts";
import { newOtp, type OtpDigest } from "./code.ts";
import type { Plan } from "./plan.ts";
import type { GenerateDraft } from "./read.ts";

export interface GenerateNeeds extends BringNeeds {
  accepting: AcceptNeeds;
  clock: Clock;
  log: Log;
  meters: Meters;
  digestOf: OtpDigest;
  /** What a code for later channels is sealed with. */
  seal: Pick<Seal, "seal">;
}

export interface GenerateRequest {
  account: Account;
  test: boolean;
  draft: GenerateDraft;
  idempotency: SendRequest["idempotency"];
  answer: SendRequest["answer"];
}

interface Generated {
  answer: string;
  replayed: boolean;
  /** Limits that would have refused it on a real carrier, with commas between them. */
  noted: string;
}

/**
 * Makes a code, has it brought and remembers only its digest. It takes the place of the number's last code under the same
 * configuration, in the commit that stores it. Next: src/messages/accept.ts
 */
export async function generateOtp(needs: GenerateNeeds, request: GenerateRequest): Promise<Generated> {
  const { account, draft } = request;
  const { name, content: config } = configOf(needs, request);
  const country = countryOf(draft.number) ?? "unknown";
  refuseCountry(config.allowedCountries, country);
  const fixed = config.testNumbers.find(({ number }) => number === draft.number);
  const code = fixed?.code ?? newOtp(config.length, config.alphabet);
  const test = request.test || fixed !== undefined;
  const [way, ...later] = config.channels;
  if (!way) throw new Error("a verification configuration without channels");
  const { number, written } = draft;
  const prepared = await prepareOtp(needs, { account, test, number, written, config }, way, code);
  refuseSingle(prepared);
  const asked = { account, test: request.test, number, config };
  const bound = isBinding(asked, needs.preparing.catalog.of(account.id));
  const lifeMs = config.lifeSeconds * 1000;
  const plan: Plan = { code, ways: later, requestIds: [] };
  try {
    const {
      answer,
      replayed,
      noted = [],
    } = await accept(needs.accepting, {
      prepared,
      idempotency: request.idempotency,
      answer: request.answer,
      validForMs: lifeMs,
      verification: (id, now) => ({
        mode: request.test ? "test" : "live",
        config: name,
        country,
        digest: needs.digestOf(account.id, id, code),
        checksMax: config.checks,
        failuresPerHour: config.failuresPerHour,
        failuresPerDay: config.failuresPerDay,
        expiresAt: now + lifeMs,
        bound,
        caps: fixed ? fixedCaps(config) : config,
        fixed: fixed !== undefined,
        guard: fixed ? null : account.settings.otpGuard,
        next:
          later.length === 0 ? null : { at: now + way.waitSeconds * 1000, plan: needs.seal.seal(JSON.stringify(plan)) },
      }),
    });
    if (!replayed) needs.meters.verifications("generated").inc();
    return { answer, replayed, noted: joined([notedPolicies(prepared), ...limitsOf(noted)]) };
  } catch (error) {
    if (!(error instanceof HeldBack)) throw error;
    throw refusalOf(needs, account, country, error.admission);
  }
}

/** A fixed code costs nothing and may be asked for again at once, but not without end: each brings new tries at it. */
const fixedCaps = ({ sendsPer10Minutes }: SendCaps): SendCaps => ({
  cooldownSeconds: 0,
  sendsPer10Minutes,
  sendsPerDay: sendsPer10Minutes * (DAY_MS / (10 * MINUTE_MS)),
});

const joined = (names: readonly string[]): string => names.filter((name) => name !== "").join(", ");
const limitsOf = (refusals: Admission["noted"]): SendLimit[] => refusals.map(({ limit }) => limit);

type ConfigRecord = Pick<CatalogRecord<"verifyConfig">, "name" | "content">;

/** What the request names; on the simulator a name that nobody has stored is learned, with what usually holds. */
function configOf(
  { preparing: { catalog } }: GenerateNeeds,
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
  "otp prefix block": "Codes to numbers like this one are not sent for now: too few of them were ever used.",
  "otp prefix speed": "Too many codes to numbers like this one are not used yet.",
  "otp country speed": "Too many codes to this country are not used yet.",
  "otp daily cap": "The account has sent as many codes today as it may.",
};

function refusalOf(
  { clock, log, meters }: GenerateNeeds,
  account: Account,
  country: string,
  { refused, blocked }: Admission,
): Problem {
  if (blocked) {
    const { sends, verified, until, strikes } = blocked;
    log.warn({ accountId: account.id, country, sends, verified, until, strikes }, "prefix blocked for pumping");
    meters.verifications("prefix blocked").inc();
  }
  for (const { limit } of refused) meters.verifications(limit).inc();
  const longest = refused.toSorted((a, b) => b.until - a.until)[0];
  if (!longest) throw new Error("a code was held back for no reason");
  const seconds = secondsUntil(longest.until, clock.now());
  // To whoever is kept out, the end of a block is no business to the second.
  const retryAfterSeconds = longest.limit === "otp prefix block" ? Math.ceil(seconds / 3600) * 3600 : seconds;
  const message = `${REASONS[longest.limit]} Try again in ${retryAfterSeconds} seconds.`;
  return new Problem("OTP_SEND_LIMIT", { faults: [{ parameter: "to", message }], retryAfterSeconds });
}
