import type { Engine } from "./engine.ts";
import type { IdFormStore } from "./id-form-store.ts";

/** What lines have learned of their carriers: the same queries on both engines. */
export function createIdForms({ db }: Engine): IdFormStore {
  return {
    async listIdForms() {
      const rows = await db.selectFrom("id_forms").selectAll().execute();
      return rows.map((row) => ({ accountId: row.account_id, carrierId: row.carrier_id, form: row.form }));
    },

    async saveIdForm({ accountId, carrierId, form }, at) {
      await db
        .insertInto("id_forms")
        .values({ account_id: accountId, carrier_id: carrierId, form, learned_at: at })
        .onConflict((conflict) => conflict.columns(["account_id", "carrier_id"]).doUpdateSet({ form, learned_at: at }))
        .execute();
    },
  };
}
