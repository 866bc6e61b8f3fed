import { customerStatus, STATES } from "../src/model/message.ts";
import { SEGMENT_BLOCKS } from "../src/store/search/blocks.ts";
import { BLOCK } from "../src/store/search/search-index.ts";
import { ZONE_KIND } from "../src/store/search/zones.ts";
import type { BareStore } from "./bare-store.ts";
import { LANE, messageFields, type Chunk } from "./message-fields.ts";

const NIL = "00000000-0000-0000-0000-000000000000";
const SEGMENT = BLOCK * SEGMENT_BLOCKS;

/**
 * Fills the search index of a chunk of messages, which begins with a segment. The server would need the better part of an hour
 * for ten million of them. It indexes the rest, which is no whole segment.
 */
export async function fillSearch(store: BareStore, chunk: Chunk): Promise<void> {
  const { account, from } = chunk;
  const to = from + Math.floor((chunk.to - from) / SEGMENT) * SEGMENT;
  if (to === from) return;
  const { id, n, recipient, campaign, state, template } = messageFields(store, chunk);
  /** The field of another message. */
  const fieldOf = (field: string, message: string): string => field.replaceAll(/\bi\b/g, message);
  const places = (first: number, end: number): string => `(select i from ${store.numbers(first, end)}) as places`;

  const blocks = places(from / BLOCK, to / BLOCK);
  const [before, last] = [`(i * ${BLOCK} - 1)`, `(i * ${BLOCK} + ${BLOCK - 1})`];
  await store.run(`insert into search_blocks (account_id, block, after_request_id, after_n, last_request_id, last_n, firm_after,
      messages, has_texts, version)
    select ${account}, i, case when i = 0 then ${store.uuid(`'${NIL}'`)} else ${fieldOf(id, before)} end,
      case when i = 0 then 0 else ${fieldOf(n, before)} end, ${fieldOf(id, last)}, ${fieldOf(n, last)}, null, ${BLOCK}, 1,
      ${store.uuid(`'${NIL}'`)} from ${blocks}`);

  const statuses = STATES.map((each) => `when '${each}' then '${customerStatus(each)}'`).join(" ");
  const fields = "block, status, campaign_name, template_name";
  await store.run(`insert into search_zones (account_id, block, zone, lane, test, status, channel, named, campaign_name,
      template_name, messages, first_id, last_id)
    select ${account}, block, row_number() over (partition by block) - 1, ${LANE}, 0, status, 'sms', ${ZONE_KIND.whole},
      campaign_name, template_name, count(*), min(id), max(id)
    from (select i / ${BLOCK} as block, case ${state} ${statuses} end as status, ${campaign} as campaign_name,
      ${template} as template_name, cast(${id} as text) as id from ${places(from, to)}) as fields group by ${fields}`);

  await store.run(`insert into search_numbers (account_id, segment, ending, recipient, request_id, n)
    select ${account}, i / ${SEGMENT}, substr(recipient, length(recipient) - 3), recipient, id, n
    from (select i, ${recipient} as recipient, ${id} as id, ${n} as n from ${places(from, to)}) as fields
    order by i / ${SEGMENT}, substr(recipient, length(recipient) - 3), recipient, id, n`);
}
