import type { AudienceFailure } from "../../model/audience.ts";

/** The spreadsheet cannot be used. */
export class BadSpreadsheet extends Error {
  override name = "BadSpreadsheet";
  readonly failure: AudienceFailure;

  constructor(failure: AudienceFailure) {
    super(failure);
    this.failure = failure;
  }
}
