import fc from "fast-check";
import { testSeed } from "./repetitions.ts";

/** Gives every property test the seed of the run. fast-check prints it with a failure. */
fc.configureGlobal({ seed: testSeed(process.env["HELIOGRAPH_TEST_SEED"]) });
