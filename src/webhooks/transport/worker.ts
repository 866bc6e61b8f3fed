import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import { EgressRules, type Opened } from "../../egress/addresses.ts";
import { createGuardedClient } from "../../egress/guarded-connect.ts";
import { systemClock } from "../../lib/clock.ts";
import { push } from "./transport.ts";
import { packAnswer, type Answered, type Head, type WireMessages } from "./wire-messages.ts";

/** Worker thread that sends webhooks, so that customers' connections use no time of the event loop. */

const port = parentPort as MessagePort;
const client = createGuardedClient({ rules: new EgressRules(workerData as Opened), clock: systemClock });
let answered: Answered[] = [];

port.on("message", ([heads, bodies]: WireMessages) => {
  for (const [place, [id, method, url, headers, signing]] of (JSON.parse(heads) as Head[]).entries()) {
    const request = { method, url, headers, body: bodies[place] ?? null };
    void push(client, systemClock, request, signing).then((result) => {
      if (answered.push(packAnswer(id, result)) === 1) setImmediate(answer);
    });
  }
});

/** Results of one turn cross back together. */
function answer(): void {
  port.postMessage(JSON.stringify(answered));
  answered = [];
}
