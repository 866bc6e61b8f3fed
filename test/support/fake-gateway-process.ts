import { FakeGateway } from "./fake-gateway.ts";

/** A gateway in a process of its own, so that a bench does not share its own with it: its address is its first line. */
const gateway = await FakeGateway.open({ keep: false });
process.stdout.write(`${gateway.url}\n`);
process.once("SIGTERM", () => void gateway.close());
