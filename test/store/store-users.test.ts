import { describe } from "vitest";
import { figureStoreSuite } from "./stats-store.suite.ts";
import { ENGINES } from "../support/engines.ts";
import { userStoreSuite } from "./user-store.suite.ts";
import { verifyStoreSuite } from "./verify-store.suite.ts";

describe.each(ENGINES)("codes, users and statistics in the store on %s", (engine) => {
  verifyStoreSuite(engine);
  userStoreSuite(engine);
  figureStoreSuite(engine);
});
