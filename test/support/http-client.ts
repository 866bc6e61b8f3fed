import { EgressRules } from "../../src/egress/addresses.ts";
import { createGuardedClient } from "../../src/egress/guarded-connect.ts";
import type { HttpClient } from "../../src/http-client/client.ts";
import { systemClock } from "../../src/lib/clock.ts";

/** An HTTP client that may connect to loopback, where the fakes of a test listen. */
export const openHttpClient = (): HttpClient =>
  createGuardedClient({ rules: new EgressRules({ allow: [], loopback: true }), clock: systemClock });
