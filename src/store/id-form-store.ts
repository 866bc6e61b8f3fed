/** What lines have learned of their carriers, so that a restart does not forget it. */
export interface IdFormStore {
  listIdForms(): Promise<readonly LearnedIdForm[]>;
  /** In the place of what was learned before. */
  saveIdForm(learned: LearnedIdForm, at: number): Promise<void>;
}

/** How the receipts of a carrier spell ids. */
interface LearnedIdForm {
  accountId: number;
  /** Of the carrier's record: another of the same name begins anew. */
  carrierId: string;
  form: string;
}
