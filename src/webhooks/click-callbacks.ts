import type { Catalog } from "../catalog/catalog.ts";
import type { Callback } from "../model/callback.ts";
import type { Click, Link } from "../model/link.ts";
import { messageIdOf } from "../model/message.ts";
import type { MessageStore } from "../store/store.ts";
import { callbacksFor, isAskedFor } from "./announce.ts";

interface Needs {
  catalog: Catalog;
  store: Pick<MessageStore, "findMessage">;
}

/** What is told of clicks, to those who want to know; the message that the link stood in is looked up only then. */
export async function clickCallbacks(
  { catalog, store }: Needs,
  batch: readonly { click: Click; link: Link & { url: string } }[],
): Promise<Callback[]> {
  const wanted = batch.filter(({ click }) => isAskedFor(catalog, click.accountId, "sms", "click"));
  const told = await Promise.all(
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
  return told.flat();
}
