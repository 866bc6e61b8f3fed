import { describe } from "vitest";
import { figureStoreSuite } from "./figure-store.suite.ts";
import { ENGINES } from "./support/engines.ts";
import { userStoreSuite } from "./user-store.suite.ts";
import { verifyStoreSuite } from "./verify-store.suite.ts";

describe.each(ENGINES)("codes, people and figures, in the store on %s", (engine) => {
  verifyStoreSuite(engine);
  userStoreSuite(engine);
  figureStoreSuite(engine);
});
