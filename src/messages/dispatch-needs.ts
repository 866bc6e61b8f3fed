import type { Carriers } from "../carriers/carrier.ts";
import type { Log } from "../lib/log.ts";
import type { Claimed } from "../work/claimed.ts";
import type { Gates } from "../work/gates.ts";
import type { Membership } from "../work/membership.ts";
import type { JudgeAgainNeeds } from "./judge-again.ts";
import type { ReportNeeds } from "./report.ts";
import type { SealedWords } from "./sealed-words.ts";

/** What sending a message takes. */
export interface DispatchNeeds extends ReportNeeds, Pick<JudgeAgainNeeds, "media" | "endOfCode"> {
  store: ReportNeeds["store"] & JudgeAgainNeeds["store"];
  membership: Membership;
  carriers: Carriers;
  gates: Gates;
  claimed: Claimed;
  log: Log;
  /** Opens what lies sealed in the store until it is sent. */
  words: Pick<SealedWords, "open">;
}
