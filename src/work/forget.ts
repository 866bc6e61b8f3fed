import type { Clock } from "../lib/clock.ts";
import { idFloor } from "../lib/ids.ts";
import { NO_ACCOUNT } from "../model/audit.ts";
import type { RecordStore } from "../store/record-store.ts";
import type { RetentionStore } from "../store/retention-store.ts";
import type { Position, Store } from "../store/store.ts";

const DAY_MS = 86_400_000;
const AT_ONCE = 250;
/** How long it rests after it has looked at everything, or could not. */
const REST_MS = 600_000;

export interface ForgetNeeds {
  store: RetentionStore &
    Pick<RecordStore, "listAccounts"> &
    Pick<Store, "forgetCallbacks" | "forgetLinks" | "forgetInbound" | "forgetVerifications"> &
    Pick<Store, "forgetSessions" | "forgetAttempts" | "forgetAudit" | "forgetFigures">;
  clock: Clock;
  /** How long a short link leads on. */
  linkLifeMs: number;
  /** How long a session lasts unused, and at the most. */
  sessionLimits: { idleMs: number; lifeMs: number };
  /** How long it is kept who changed what. */
  auditMs: number;
}

/**
 * Erases texts and removes messages whose time is over, by the settings of each account. A turn is one small batch: between
 * two of them everybody else has the store, and a stop never waits for more than one.
 */
export function forgetInTurns(needs: ForgetNeeds): () => Promise<void> {
  let walk: AsyncGenerator<void, void> | null = null;
  let restUntil = 0;
  return async () => {
    const now = needs.clock.now();
    if (!walk && now < restUntil) return;
    const current = walk ?? forgetAll(needs);
    walk = null;
    restUntil = now + REST_MS;
    const { done } = await current.next();
    if (!done) walk = current;
  };
}

async function* forgetAll(needs: ForgetNeeds): AsyncGenerator<void, void> {
  const { store, clock, linkLifeMs, sessionLimits, auditMs } = needs;
  const start = clock.now();
  while ((await store.forgetAttempts(start - 2 * DAY_MS, AT_ONCE)) === AT_ONCE) yield;
  while ((await store.forgetAudit(NO_ACCOUNT, start - auditMs, AT_ONCE)) === AT_ONCE) yield;
  for (const { id, settings } of await store.listAccounts()) {
    const now = clock.now();
    const texts = now - settings.keepTextsDays * DAY_MS;
    const messages = now - settings.keepMessagesDays * DAY_MS;
    while ((await store.eraseTexts(id, texts, AT_ONCE)) === AT_ONCE) yield;
    yield* walkThrough((after) => store.eraseKeptTexts(id, texts, after, AT_ONCE));
    while ((await store.emptyPhones(id, texts, AT_ONCE)) === AT_ONCE) yield;
    while ((await store.forgetInbound(id, texts, AT_ONCE)) === AT_ONCE) yield;
    yield* walkThrough((after) => store.removeMessages(id, messages, after, AT_ONCE));
    // A link that is still good leads on, even if nobody remembers the message it stands in.
    const links = idFloor(Math.min(messages, now - linkLifeMs));
    while ((await store.forgetLinks(id, links, AT_ONCE)) > 0) yield;
    while ((await store.forgetCallbacks(id, texts, AT_ONCE)) === AT_ONCE) yield;
    // What only counts is of no use once nobody looks that far back.
    const prefixes = now - 30 * DAY_MS;
    const known = Math.max(messages, prefixes);
    const counts = { numbers: now - 2 * DAY_MS, known, tallies: now - 9 * DAY_MS, prefixes };
    while ((await store.forgetVerifications(id, { ended: messages, ...counts }, AT_ONCE)) > 0) yield;
    const sessions = { seenAt: now - sessionLimits.idleMs, createdAt: now - sessionLimits.lifeMs };
    while ((await store.forgetSessions(id, sessions, AT_ONCE)) === AT_ONCE) yield;
    while ((await store.forgetFigures(id, messages, AT_ONCE)) === AT_ONCE) yield;
    while ((await store.forgetAudit(id, now - auditMs, AT_ONCE)) === AT_ONCE) yield;
    yield;
  }
}

async function* walkThrough(look: (after: Position | null) => Promise<Position | null>): AsyncGenerator<void, void> {
  let after = await look(null);
  while (after) {
    yield;
    after = await look(after);
  }
}
