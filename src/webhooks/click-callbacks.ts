import type { Catalog } from "../records/catalog.ts";
import type { Callback } from "../model/callback.ts";
import type { Click, Link } from "../model/link.ts";
import { messageIdOf } from "../model/message.ts";
import type { MessageStore } from "../store/store.ts";
import { callbacksFor, isSubscribed } from "./fan-out.ts";

interface ClickCallbacksDeps {
  catalog: Catalog;
  store: Pick<MessageStore, "findMessage">;
}

/** Callbacks for clicks. The message of a link is read only if an endpoint subscribes to clicks. */
export async function clickCallbacks(
  { catalog, store }: ClickCallbacksDeps,
  batch: readonly { click: Click; link: Link & { url: string } }[],
): Promise<Callback[]> {
  const wanted = batch.filter(({ click }) => isSubscribed(catalog, click.accountId, "sms", "click"));
  const planned = await Promise.all(
    wanted.map(async ({ click, link }): Promise<Callback[]> => {
      const { accountId, id, code, agent, at } = click;
      const message = await store.findMessage(link);
      if (!message) return [];
      const { recipient, sender } = message;
      const facts = { messageId: messageIdOf(link), recipient, sender };
      const happening = { kind: "click", at, message: facts, url: link.url, code, agent } as const;
      return callbacksFor({ catalog }, accountId, id, "sms", happening);
    }),
  );
  return planned.flat();
}
