import { describe } from "vitest";
import { storeSuite } from "./store.suite.ts";
import { ENGINES } from "./support/engines.ts";

describe.each(ENGINES)("the store on %s", (engine) => storeSuite(engine));
