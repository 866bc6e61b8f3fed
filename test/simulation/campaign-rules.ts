import { messageIdOf } from "../../src/model/message.ts";
import type { Store, StoredMessage } from "../../src/store/store.ts";
import type { Findings } from "./findings.ts";
import type { People } from "./people.ts";

/** Recipients whose messages are searched for. */
const SEARCHED = 20;

/** At rest a campaign to an audience has one message for each recipient that it counts, and all of them if it is finished. */
export async function checkCampaigns(
  { people, store }: { people: People; store: Store },
  messages: readonly StoredMessage[],
  findings: Findings,
): Promise<void> {
  const byName = Map.groupBy(messages, ({ campaignName }) => campaignName);
  for (const { id, name, numbers } of people.campaigns.all) {
    const campaign = id === null ? null : await store.findCampaign({ accountId: 1, id });
    findings.expect("no campaign is lost", campaign !== null, () => name);
    if (!campaign) continue;
    const own = byName.get(name) ?? [];
    const { state, accepted, skipped } = campaign;
    const byNumber = Map.groupBy(own, ({ recipient }) => recipient);
    const story = (): string =>
      `${name} is ${state} with ${own.length} messages to ${byNumber.size} of ${numbers.length} numbers; it counts ` +
      `${accepted} accepted and ${skipped} skipped`;
    const known = new Set(numbers);
    findings.expect(
      "a recipient of a campaign gets one message",
      own.length === byNumber.size && own.every(({ recipient }) => known.has(recipient)),
      story,
    );
    const isEnded = state === "finished" || state === "cancelled";
    findings.expect("every campaign ends", isEnded, story);
    if (isEnded) findings.expect("a campaign counts its messages", accepted === own.length, story);
    if (state === "finished")
      findings.expect("a finished campaign reached its audience", accepted + skipped === numbers.length, story);
  }
  const names = [...byName.keys()].filter((name) => name !== null);
  const counted = await store.countCampaigns(1, names);
  for (const name of names) {
    const states = Map.groupBy(byName.get(name) ?? [], ({ state }) => state);
    const wanted = Object.fromEntries([...states].map(([state, all]) => [state, all.length]));
    const kept = Object.fromEntries(Object.entries(counted.get(name) ?? {}).filter(([, count]) => count !== 0));
    const isEqual =
      Object.keys(wanted).length === Object.keys(kept).length &&
      Object.entries(wanted).every(([state, count]) => kept[state] === count);
    findings.expect(
      "the counts of a campaign are those of its messages",
      isEqual,
      () => `${name}: ${JSON.stringify(kept)} are kept, ${JSON.stringify(wanted)} are stored`,
    );
  }
}

/** A search by number finds every message of it, through the index. */
export async function checkSearch(store: Store, messages: readonly StoredMessage[], findings: Findings): Promise<void> {
  const byNumber = Map.groupBy(messages, ({ recipient }) => recipient);
  for (const [recipient, own] of [...byNumber]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .slice(0, SEARCHED)) {
    const { rows } = await store.listMessages(1, { recipient }, null, 500);
    const found = new Set(rows.map(messageIdOf));
    findings.expect(
      "a search finds every message",
      own.length > 500 || own.every((message) => found.has(messageIdOf(message))),
      () => `${found.size} of ${own.length} messages to a number are found`,
    );
  }
}
