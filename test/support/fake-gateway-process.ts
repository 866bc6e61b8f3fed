import { FakeGateway } from "./fake-gateway.ts";

/** Runs the gateway in its own process for benches. Prints its URL as the first line. */
const gateway = await FakeGateway.open({ keep: false });
process.stdout.write(`${gateway.url}\n`);
process.once("SIGTERM", () => void gateway.close());
