import type { Credential } from "../../accounts/secret-index.ts";
import { refuseMissingScope } from "../../http/auth/authenticate.ts";
import type { FacadeCall, FacadeReply } from "../../http/facade.ts";
import { onceByKey } from "../../http/public/send.ts";
import type { Services } from "../../http/route.ts";
import { timeOf } from "../../lib/ids.ts";
import type { CatalogRecord } from "../../model/catalog.ts";
import type { StoredCredential } from "../../model/credential.ts";
import { heldProblem } from "../../model/hold.ts";
import type { Channel } from "../../model/message.ts";
import { readNumber } from "../../model/number.ts";
import { Problem } from "../../model/problem.ts";
import { stateAt, type Verification } from "../../model/verification.ts";
import { approveOtp, checkOtp } from "../../otp/check.ts";
import { ChannelNotConfigured, generateOtp } from "../../otp/generate.ts";
import { CUSTOM_CODE } from "../../model/verify-bodies.ts";
import { readGenerate } from "../../otp/read.ts";
import { readForm, type FormFields } from "./form.ts";
import { JSON_TYPE, TwilioProblem } from "./errors.ts";
import { callerWith } from "./login.ts";
import { accountSidOf } from "./message-resource.ts";
import { idInSid } from "../../model/twilio-sid.ts";
import {
  checkResource,
  twilioStatusOf,
  verificationResource,
  type VerifyChannelName,
} from "./verification-resource.ts";

/** A code goes to a phone number here, so e-mail is only a later channel of the configuration. */
const CHANNELS: Readonly<Record<Exclude<VerifyChannelName, "email">, Channel>> = {
  sms: "sms",
  whatsapp: "chatapp",
  rcs: "rcs",
};

/** A request to one verification service. */
interface ServiceCall {
  services: Services;
  caller: Credential<StoredCredential>;
  config: CatalogRecord<"verifyConfig">;
  fields: FormFields;
  /** The verification in the path; empty if there is none. */
  sid: string;
}

const json = (status: number, resource: object): FacadeReply => ({
  status,
  contentType: JSON_TYPE,
  text: JSON.stringify(resource),
});

function open(services: Services, call: FacadeCall): ServiceCall {
  const caller = callerWith("verify", call);
  const { serviceSid = "", sid = "" } = call.params;
  const id = idInSid("VA", serviceSid);
  const config = id && services.catalog.find(caller.account.id, "verifyConfig", id);
  if (!config) throw notFound(call);
  return { services, caller, config, fields: readForm(call.requestHeaders, call.body), sid };
}

const notFound = ({ url }: Pick<FacadeCall, "url">): Problem =>
  new Problem("VERIFICATION_NOT_FOUND", { message: `The requested resource ${url.split("?")[0]} was not found` });

const invalid = (parameter: string): TwilioProblem => new TwilioProblem(60200, `Invalid parameter: ${parameter}`);

/** `POST …/Verifications` sends a code. Next: src/otp/generate.ts */
export async function startVerification(services: Services, call: FacadeCall): Promise<FacadeReply> {
  const { caller, config, fields } = open(services, call);
  const field = (name: string): string | undefined => fields.get(name)?.[0];
  const name = (field("Channel") ?? "").toLowerCase() as keyof typeof CHANNELS;
  const channel = CHANNELS[name];
  if (!Object.hasOwn(CHANNELS, name)) throw invalid("Channel: it is one of sms, whatsapp and rcs.");
  const code = field("CustomCode");
  if (code !== undefined) refuseMissingScope(caller.key, "verify:custom");
  if (code !== undefined && !CUSTOM_CODE.test(code)) throw invalid("CustomCode: it has 4 to 10 letters and digits.");
  const { account, key } = caller;
  const own = code !== undefined && { code, source: "twilio" };
  const draft = readTo(() => readGenerate({ configId: config.id, to: field("To"), ...own }, account.settings));
  const send = onceByKey(`/v2/Verifications/${config.id}`, async (_, { setHeader }, idempotency, arrivedAt) => {
    const { answer, noted } = await generateOtp(services.otpDeps, {
      account,
      test: key.mode === "test",
      draft,
      idempotency,
      arrivedAt,
      channel,
      answer: (id) => {
        const at = timeOf(id);
        const verification = { id, number: draft.number, createdAt: at, doneAt: null };
        return JSON.stringify(
          verificationResource({
            accountSid: accountSidOf(caller),
            config,
            channel: name,
            status: "pending",
            verification,
          }),
        );
      },
    });
    if (noted !== "") setHeader("heliograph-would-refuse", noted);
    return { text: answer };
  });
  const { lease, setHeader, requestHeaders } = call;
  const idempotencyKey = requestHeaders["i-twilio-idempotency-token"] ?? requestHeaders["idempotency-key"];
  const body = { to: draft.number, channel: name, code: code ?? null };
  try {
    const { text } = await send(services, {
      headers: { "idempotency-key": idempotencyKey },
      body,
      caller,
      lease,
      setHeader,
    });
    return { status: 201, contentType: JSON_TYPE, text };
  } catch (error) {
    if (!(error instanceof ChannelNotConfigured)) throw error;
    throw new TwilioProblem(
      60223,
      `The delivery channel ${name} is disabled: the configuration "${config.name}" does not have it.`,
    );
  }
}

/** A wrong number is an invalid parameter here, unlike on a message. */
function readTo<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof Problem ? invalid(`To: ${error.faults[0]?.message ?? error.message}`) : error;
  }
}

/** `GET …/Verifications/{Sid}`; the path may have the phone number in place of the SID. */
export async function fetchVerification(services: Services, call: FacadeCall): Promise<FacadeReply> {
  const opened = open(services, call);
  return json(200, await resourceOf(opened, await find(opened, opened.sid, call)));
}

/** `POST …/Verifications/{Sid}` with the Status `canceled` or `approved`. */
export async function updateVerification(services: Services, call: FacadeCall): Promise<FacadeReply> {
  const opened = open(services, call);
  const { caller, fields, config } = opened;
  const verification = await find(opened, opened.sid, call);
  const { id } = verification;
  const status = fields.get("Status")?.[0];
  if (services.gate.isHeld) throw heldProblem();
  if (status === "canceled") {
    if (!(await services.store.cancelVerification(caller.account.id, id, services.clock.now()))) throw notFound(call);
  } else if (status === "approved") {
    await approveOtp(services.otpDeps, caller.account, verification);
  } else throw invalid("Status: it is canceled or approved.");
  const changed = await services.store.findVerification(caller.account.id, id);
  return json(200, await resourceOf({ services, caller, config }, changed ?? verification));
}

const CODE_MAX = 40;

/** `POST …/VerificationCheck` with the code and either the number or the SID. Next: src/otp/check.ts */
export async function checkVerification(services: Services, call: FacadeCall): Promise<FacadeReply> {
  const opened = open(services, call);
  const { caller, config, fields } = opened;
  const code = fields.get("Code")?.[0] ?? "";
  if (code.trim() === "" || code.length > CODE_MAX) throw invalid("Code");
  const named = fields.get("VerificationSid")?.[0] ?? fields.get("To")?.[0];
  if (!named) throw invalid("To: give the phone number, or VerificationSid.");
  const verification = await find(opened, named, call);
  if (services.gate.isHeld) throw heldProblem();
  const { account, key } = caller;
  const isRight = await tryCode(() =>
    checkOtp(services.otpDeps, account, key.mode, { verifyId: verification.id, otp: code }),
  );
  const channel = await channelOf(services, verification);
  const status = isRight ? "approved" : "pending";
  return json(200, checkResource({ accountSid: accountSidOf(caller), config, channel, status, verification }));
}

/** False for a wrong code, which is no error at Twilio. */
async function tryCode(check: () => Promise<void>): Promise<boolean> {
  try {
    await check();
    return true;
  } catch (error) {
    if (error instanceof Problem && error.code === "OTP_INCORRECT") return false;
    throw error;
  }
}

/** The verification of a SID, or the last one of a phone number; of this service and of the credential's mode. */
async function find(
  { services: { store }, caller, config }: ServiceCall,
  named: string,
  call: FacadeCall,
): Promise<Verification> {
  const { account, key } = caller;
  const id = idInSid("VE", named);
  const number = id === null ? readNumber(named) : null;
  const found =
    id === null
      ? number && (await store.findLatestVerification(account.id, { mode: key.mode, number, config: config.name }))
      : await store.findVerification(account.id, id);
  if (!found || found.config !== config.name || found.mode !== key.mode) throw notFound(call);
  return found;
}

async function resourceOf(
  { services, caller, config }: Omit<ServiceCall, "fields" | "sid">,
  verification: Verification,
): Promise<object> {
  const state = stateAt(verification.state, verification.expiresAt, services.clock.now());
  return verificationResource({
    accountSid: accountSidOf(caller),
    config,
    channel: await channelOf(services, verification),
    status: twilioStatusOf(state),
    verification,
  });
}

const NAMES: Readonly<Record<Channel, VerifyChannelName>> = {
  sms: "sms",
  chatapp: "whatsapp",
  rcs: "rcs",
  email: "email",
};

/** The channel of the first message, whose request has the verification's id. */
async function channelOf({ store }: Services, { accountId, id }: Verification): Promise<VerifyChannelName> {
  const message = await store.findMessage({ accountId, requestId: id, n: 1 });
  return NAMES[message?.channel ?? "sms"];
}
