import { EgressRules } from "../../src/egress/addresses.ts";
import { HttpClient } from "../../src/egress/http-client.ts";
import { systemClock } from "../../src/lib/clock.ts";

/** A way out to this machine, on which the fakes of a test listen. */
export const openWayOut = (): HttpClient =>
  new HttpClient({ rules: new EgressRules({ allow: [], loopback: true }), clock: systemClock });
