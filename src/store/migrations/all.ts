import { ground } from "./0001-ground.ts";
import { sms } from "./0002-sms.ts";
import { links } from "./0003-links.ts";
import { channels } from "./0004-channels.ts";
import { callbacks } from "./0005-callbacks.ts";
import { verify } from "./0006-verify.ts";
import { carriers } from "./0008-carriers.ts";
import { users } from "./0010-users.ts";
import { figures } from "./0011-figures.ts";
import { lines } from "./0012-lines.ts";
import { figureWriters } from "./0013-figure-writers.ts";
import { callbacksOfMessage } from "./0014-callbacks-of-message.ts";
import { waiting } from "./0015-waiting.ts";
import { waitingWithoutList } from "./0016-waiting-without-list.ts";
import { roomToGrow } from "./0017-room-to-grow.ts";
import type { Migration } from "./migration.ts";

/** In the order they are applied. A released one never changes; a new need is a new entry. */
export const MIGRATIONS: readonly Migration[] = [
  ground,
  sms,
  links,
  channels,
  callbacks,
  verify,
  carriers,
  users,
  figures,
  lines,
  figureWriters,
  callbacksOfMessage,
  waiting,
  waitingWithoutList,
  roomToGrow,
];

/** The database has been used by a newer release than this one. */
export class SchemaTooNew extends Error {
  override name = "SchemaTooNew";
}

/** Which steps are still to do, given the names of those done. */
export function pendingMigrations(done: readonly string[], known: readonly Migration[] = MIGRATIONS): Migration[] {
  const unknown = done.filter((name) => !known.some((migration) => migration.name === name));
  if (unknown.length > 0) {
    throw new SchemaTooNew(
      `the database was migrated by a newer release (${unknown.join(", ")}); start that release, or restore a backup`,
    );
  }
  return known.filter((migration) => !done.includes(migration.name));
}
