import { sql } from "kysely";
import { REPLIES_MAX, REPLIES_WINDOW_MS } from "../model/keyword-rule.ts";
import type { Engine } from "./engine.ts";

/** A number that sent keywords to an account; test traffic is separate. */
interface KeywordUser {
  accountId: number;
  number: string;
  test: boolean;
}

/** Automatic replies to keywords and requests to confirm an opt-in, one row per user. */
export interface KeywordStore {
  /**
   * True if the message with this id may be answered: a few per number and day. A repetition of the message that was answered
   * last may be answered again; `onlyRepeat` allows nothing else.
   */
  claimReply(user: KeywordUser, reply: { id: string; at: number; onlyRepeat: boolean }): Promise<boolean>;
  askConfirmation(user: KeywordUser, at: number): Promise<void>;
  /** True if the user was asked at this time or later, and has not confirmed. */
  isAwaitingConfirmation(user: KeywordUser, since: number): Promise<boolean>;
  endConfirmation(user: KeywordUser): Promise<void>;
}

/** One conditional statement each, so that any number of nodes may decide about the same user. */
export function createKeywordUsers({ db }: Engine): KeywordStore {
  const keyOf = ({ accountId, number, test }: KeywordUser) => ({
    account_id: accountId,
    number,
    test: test ? 1 : 0,
  });
  const isUser = ({ accountId, number, test }: KeywordUser) =>
    sql<boolean>`account_id = ${accountId} and number = ${number} and test = ${test ? 1 : 0}`;

  return {
    async claimReply(user, { id, at, onlyRepeat }) {
      if (onlyRepeat) {
        const row = await db.selectFrom("keyword_users").select("replied_to").where(isUser(user)).executeTakeFirst();
        return row?.replied_to === id;
      }
      const isRepeat = sql<boolean>`keyword_users.replied_to = excluded.replied_to`;
      const isNewWindow = sql<boolean>`keyword_users.window_at <= ${at - REPLIES_WINDOW_MS}`;
      const claimed = await db
        .insertInto("keyword_users")
        .values({ ...keyOf(user), replied_to: id, replies: 1, window_at: at, asked_at: null })
        .onConflict((conflict) =>
          conflict
            .columns(["account_id", "number", "test"])
            .doUpdateSet({
              replied_to: sql`excluded.replied_to`,
              replies: sql`case when ${isRepeat} then keyword_users.replies when ${isNewWindow} then 1 else keyword_users.replies + 1 end`,
              window_at: sql`case when ${isNewWindow} then excluded.window_at else keyword_users.window_at end`,
            })
            .where(sql<boolean>`${isRepeat} or ${isNewWindow} or keyword_users.replies < ${REPLIES_MAX}`),
        )
        .returning("replies")
        .executeTakeFirst();
      return claimed !== undefined;
    },

    async askConfirmation(user, at) {
      await db
        .insertInto("keyword_users")
        .values({ ...keyOf(user), replied_to: null, replies: 0, window_at: at, asked_at: at })
        .onConflict((conflict) =>
          conflict.columns(["account_id", "number", "test"]).doUpdateSet({ asked_at: sql`excluded.asked_at` }),
        )
        .execute();
    },

    async isAwaitingConfirmation(user, since) {
      const row = await db
        .selectFrom("keyword_users")
        .select("number")
        .where(isUser(user))
        .where("asked_at", ">=", since)
        .executeTakeFirst();
      return row !== undefined;
    },

    async endConfirmation(user) {
      await db
        .updateTable("keyword_users")
        .set({ asked_at: null })
        .where(isUser(user))
        .where("asked_at", "is not", null)
        .execute();
    },
  };
}
