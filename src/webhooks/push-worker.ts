import { parentPort, workerData, type MessagePort } from "node:worker_threads";
import { EgressRules, type Opened } from "../egress/addresses.ts";
import { HttpClient } from "../egress/http-client.ts";
import { systemClock } from "../lib/clock.ts";
import { push } from "./push.ts";
import { packAnswer, type Answered, type Head, type Letters } from "./push-letters.ts";

/** Sends pushes in a thread of its own, so that what customers' servers take of the processor is not the event loop's. */

const port = parentPort as MessagePort;
const client = new HttpClient({ rules: new EgressRules(workerData as Opened), clock: systemClock });
let answered: Answered[] = [];

port.on("message", ([heads, bodies]: Letters) => {
  for (const [place, [id, method, url, headers, signing]] of (JSON.parse(heads) as Head[]).entries()) {
    const request = { method, url, headers, body: bodies[place] ?? null };
    void push(client, systemClock, request, signing).then((result) => {
      if (answered.push(packAnswer(id, result)) === 1) setImmediate(answer);
    });
  }
});

/** Whatever has ended within one turn goes back together. */
function answer(): void {
  port.postMessage(JSON.stringify(answered));
  answered = [];
}
