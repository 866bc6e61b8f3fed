import { describe } from "vitest";
import { callbackStoreSuite } from "./callback-store.suite.ts";
import { inboundPartsSuite } from "./inbound-parts.suite.ts";
import { inboundStoreSuite } from "./inbound-store.suite.ts";
import { ENGINES } from "../support/engines.ts";

describe.each(ENGINES)("inbound messages and callbacks in the store on %s", (engine) => {
  inboundStoreSuite(engine);
  inboundPartsSuite(engine);
  callbackStoreSuite(engine);
});
