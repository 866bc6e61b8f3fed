import { refuseMissingScope } from "../http/auth/authenticate.ts";
import { acceptThrough, onceByKey, type ChannelEndpoint } from "../http/public/send.ts";
import type { Services } from "../http/route.ts";
import type { StoredCredential } from "../model/credential.ts";
import type { SendChannel } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import type { AccountCatalog } from "../records/catalog.ts";

/** A reply that a receiver of an inbound message asks for in its response. */
export interface Reply {
  credential: StoredCredential;
  /** Names the reply: a callback may be delivered twice, and its reply is sent once. */
  key: string;
}

/** A message as the channel's operation of `/v1` takes it. */
interface ReplyRequest {
  channel: SendChannel;
  endpoint: ChannelEndpoint;
  body: object;
}

/**
 * Sends a reply under an idempotency key. False if it has to be tried again; one that the service refuses is logged and not
 * tried again.
 */
export async function replyOnce(
  services: Services,
  { credential, key }: Reply,
  path: string,
  requestOf: (catalog: AccountCatalog) => ReplyRequest,
): Promise<boolean> {
  const account = services.keyring.account(credential.accountId);
  if (!account || account.suspended) return true;
  const lease = services.bodies.lease();
  try {
    const { channel, endpoint, body } = requestOf(services.catalog.of(account.id));
    refuseMissingScope(credential, channel);
    const send = onceByKey(path, (_, call, idempotency) =>
      acceptThrough(endpoint, services, call, { idempotency }, (requestId) => requestId),
    );
    await send(services, {
      headers: { "idempotency-key": key },
      body,
      caller: {
        account,
        key: credential,
        role: "owner",
        actor: { kind: "key", id: credential.id, name: credential.name },
        session: null,
      },
      lease,
      setHeader: () => undefined,
    });
    return true;
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) return false;
    services.log.warn({ accountId: account.id, errorCode: error.code }, "reply to inbound message refused");
    return true;
  } finally {
    lease.release();
  }
}
