import type { Keyring } from "../accounts/keyring.ts";
import type { Clock } from "../lib/clock.ts";
import type { Encryption } from "../lib/encryption.ts";
import type { Callback } from "../model/callback.ts";
import type { CredentialKind, StoredCredential, StoredKind } from "../model/credential.ts";
import type { InboundMessage } from "../model/inbound.ts";
import { createJasminDelivery } from "../facades/jasmin/dlr.ts";
import { jasminHttp } from "../facades/jasmin/http-api.ts";
import { jasminRest } from "../facades/jasmin/rest-api.ts";
import { wantsInbound as wantsJasminInbound } from "../facades/jasmin/inbound.ts";
import { createKannelDelivery } from "../facades/kannel/delivery.ts";
import { serviceFor } from "../facades/kannel/inbound.ts";
import { sendKannelReply } from "../facades/kannel/send-reply.ts";
import { kannel } from "../facades/kannel/kannel.ts";
import { wantsSmppInbound } from "../facades/smpp/inbound.ts";
import { createTwilioDelivery } from "../facades/twilio/delivery.ts";
import { twilio } from "../facades/twilio/facade.ts";
import { wantsInbound } from "../facades/twilio/inbound-webhook.ts";
import { sendReply } from "../facades/twilio/send-reply.ts";
import type { Services } from "../http/route.ts";
import type { LoginFacade } from "../http/facade.ts";
import type { FacadeDelivery } from "../webhooks/facade-delivery.ts";
import type { WebhookTransport } from "../webhooks/transport/transport.ts";

/** The APIs of other products that this server offers. */
export const createFacades = (served: readonly CredentialKind[]): readonly LoginFacade[] =>
  [twilio, kannel, jasminHttp, jasminRest].filter(({ kind }) => served.includes(kind));

interface FacadeDeliveryDeps {
  keyring: Keyring;
  transport: Pick<WebhookTransport, "sendWebhook">;
  clock: Clock;
  encryption: Encryption;
  /** Delivers to the binds of this node. */
  smpp: FacadeDelivery;
}

export interface AppFacadeDeliveries {
  facadeOf(callback: Callback): FacadeDelivery | null;
  inboundSubscribers(inbound: InboundMessage): readonly string[];
  /** Lets replies of inbound webhooks be sent, once there is a pipeline. */
  connect(services: Services): void;
}

/** A facade's part of the webhooks. */
interface FacadeSubscriber {
  delivery: FacadeDelivery;
  /** True if the credential asks for this inbound message. */
  wantsInbound(credential: StoredCredential, inbound: InboundMessage): boolean;
}

/** The callbacks of facades: those that messages ask for, and inbound messages for credentials. */
export function createFacadeDeliveries({
  keyring,
  transport,
  clock,
  encryption,
  smpp,
}: FacadeDeliveryDeps): AppFacadeDeliveries {
  const byAccount = new Map<number, readonly StoredCredential[]>();
  keyring.onChange(() => byAccount.clear());
  const credentialsOf = (accountId: number): readonly StoredCredential[] => {
    const known = byAccount.get(accountId) ?? keyring.credentialsOf(accountId);
    byAccount.set(accountId, known);
    return known;
  };
  let connected: Services | null = null;
  const isValidNow = (credential: StoredCredential): boolean => isValid(credential, clock.now());
  const subscribers: Partial<Record<StoredKind, FacadeSubscriber>> = {
    kannel: {
      delivery: createKannelDelivery({
        transport,
        credentialsOf,
        isValid: isValidNow,
        sendReply: async (reply) => connected !== null && sendKannelReply(connected, reply),
      }),
      wantsInbound: (credential, inbound) => serviceFor(credential, inbound) !== null,
    },
    jasmin: { delivery: createJasminDelivery({ transport, credentialsOf }), wantsInbound: wantsJasminInbound },
    smpp: { delivery: smpp, wantsInbound: wantsSmppInbound },
    twilio: {
      delivery: createTwilioDelivery({
        transport,
        encryption,
        credentialsOf,
        isValid: isValidNow,
        sendReply: async (reply) => connected !== null && sendReply(connected, reply),
      }),
      wantsInbound,
    },
  };
  const kindOf = ({ accountId, endpointId, happening }: Callback): string | undefined =>
    happening.kind === "inbound"
      ? credentialsOf(accountId).find(({ id }) => id === endpointId)?.kind
      : happening.kind === "state"
        ? happening.message.callback?.kind
        : undefined;

  return {
    facadeOf: (callback) => subscribers[kindOf(callback) as CredentialKind]?.delivery ?? null,
    connect: (services) => {
      connected = services;
    },
    inboundSubscribers: (inbound) => {
      const mode = inbound.test ? "test" : "live";
      return credentialsOf(inbound.accountId)
        .filter((credential) => credential.mode === mode && isValidNow(credential))
        .filter((credential) => subscribers[credential.kind]?.wantsInbound(credential, inbound))
        .map(({ id }) => id);
    },
  };
}

const isValid = ({ revokedAt, expiresAt }: StoredCredential, now: number): boolean =>
  revokedAt === null && (expiresAt === null || expiresAt > now);
