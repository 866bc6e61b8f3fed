import type { KeywordRule } from "../../src/model/keyword-rule.ts";

/** A rule with nothing left to a default. */
export const KEYWORD_RULE: KeywordRule = {
  language: "fr",
  numbers: ["HELIOG", "+33612345678"],
  countries: ["FR"],
  stopWords: ["ARRET"],
  startWords: ["DEBUT"],
  helpWords: ["AIDE"],
  confirmWords: ["OUI"],
  stopReply: "Vous ne recevrez plus de messages.",
  startReply: "Vous êtes inscrit.",
  helpReply: "Appelez le 01 23 45 67 89.",
  confirmReply: "Répondez OUI.",
};
