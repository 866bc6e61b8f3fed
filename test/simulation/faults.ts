import type { Random } from "../torture/random.ts";
import { HEALTHY, type CarrierNetwork, type SubmitFates } from "./carrier-network.ts";
import type { Customer } from "./customer.ts";
import type { SimulatedNode } from "./node.ts";
import type { FaultKind, Plan } from "./plan.ts";
import { NO_STORE_FAULTS, type StoreFaults } from "./store-gate.ts";
import type { World } from "./world.ts";

/** A node's clock is never further off. Readers of events rely on clocks that differ less. */
const SKEW_MAX_MS = 10_000;
/** A fault that waits for a store call comes this long after its begin. */
const STRIKES_WITHIN_MS = 8;
const ROUGH: SubmitFates = {
  taken: 60,
  busy: 10,
  refusedMessage: 4,
  refusedCarrier: 6,
  takenInSilence: 8,
  lostInSilence: 6,
  takenLate: 12,
};

const UNRELIABLE_DISK = { refused: 0.05, slow: 0.2 };
/** For each statement; a call has several. */
const UNRELIABLE_NETWORK = { refused: 0.02, answerLost: 0.05, landsLater: 0.05, slow: 0.1 };

interface FaultDeps {
  world: World;
  network: CarrierNetwork;
  customer: Customer;
  plan: Plan;
  rough: { from: number; until: number }[];
  alive(): SimulatedNode[];
  restart(afterMs: number, skewMs: number): void;
  count(kind: string): void;
  setStore(node: string | null, faults: StoreFaults | null): void;
}

/** Causes faults, each for a while. */
export function createFaults(deps: FaultDeps): (kind: FaultKind, random: Random) => void {
  const { world, network, customer, plan, alive, restart, count, rough, setStore } = deps;
  const isNetworked = plan.engine === "postgres";
  return (kind, random) => {
    const later = (leastMs: number, mostMs: number, run: () => void): void =>
      void world.plan(random.between(leastMs, mostMs), null, run);
    const node = alive().length > 0 ? random.pick(alive()) : null;
    /** Half of these faults wait for a store call of a kind: rare calls are hit as often as frequent ones. */
    const strike = (run: () => void): void => {
      const calls = [...world.calls.keys()].toSorted();
      if (!node || calls.length === 0 || random.chance(0.5)) return run();
      const wanted = random.pick(calls);
      const afterMs = random.between(0, STRIKES_WITHIN_MS);
      const { process } = node;
      process.onCall = (name) => {
        if (name !== wanted) return;
        process.onCall = null;
        world.plan(afterMs, null, () => {
          if (!node.isAlive) return;
          count("fault during a chosen store call");
          world.tell(`during ${name} of ${process.name}:`);
          run();
        });
      };
    };
    count(`planned fault: ${kind}`);
    switch (kind) {
      case "crash": {
        if (!node) return;
        const afterMs = random.between(500, 20_000);
        return strike(() => {
          world.tell(`${node.process.name} is killed`);
          node.crash();
          restart(afterMs, node.process.skewMs);
        });
      }
      case "stop": {
        if (!node) return;
        world.tell(`${node.process.name} is asked to stop`);
        void node.stop();
        return restart(random.between(500, 20_000), node.process.skewMs);
      }
      case "pause": {
        if (!node) return;
        const ms = random.between(100, 60_000);
        return strike(() => {
          world.tell(`${node.process.name} is stopped for ${ms} ms`);
          node.process.pause(ms);
        });
      }
      case "sleep": {
        if (!node) return;
        const ms = random.between(1000, 60_000);
        world.tell(`the machine of ${node.process.name} is suspended for ${ms} ms`);
        return node.process.sleep(ms);
      }
      case "clock": {
        if (!node) return;
        const wanted = node.process.skewMs + random.between(-5000, 5000);
        const ms = Math.max(-SKEW_MAX_MS, Math.min(SKEW_MAX_MS, wanted)) - node.process.skewMs;
        world.tell(`the clock of ${node.process.name} steps by ${ms} ms`);
        node.process.step(ms);
        return;
      }
      case "store": {
        const place = random.chance(0.5) || !node ? null : node.process.name;
        const how = random.weighted({ away: 4, unreliable: 5, "read-only": 1 });
        const faults: StoreFaults = {
          ...NO_STORE_FAULTS,
          ...(how === "away" && { refused: 1 }),
          ...(how === "read-only" && { readOnly: 1 }),
          ...(how === "unreliable" && (isNetworked ? UNRELIABLE_NETWORK : UNRELIABLE_DISK)),
        };
        world.tell(`the store is ${how} for ${place ?? "all nodes"}`);
        setStore(place, faults);
        // Results that a node could not write are lost with it.
        if (node && random.chance(0.25)) {
          later(100, 10_000, () => {
            if (!node.isAlive) return;
            world.tell(`${node.process.name} is killed`);
            node.crash();
            restart(random.between(500, 20_000), node.process.skewMs);
          });
        }
        return later(200, 25_000, () => {
          world.tell(`the store is back for ${place ?? "all nodes"}`);
          setStore(place, null);
        });
      }
      case "carrier":
      case "line": {
        const carriers = random.chance(0.3) ? network.carrierNames() : [random.pick(network.carrierNames())];
        const places = carriers.map((name) => (kind === "carrier" || !node ? name : `${node.process.name}/${name}`));
        for (const place of places) network.setDown(place, true);
        world.tell(`${places.join(" and ")} goes down`);
        return later(500, 40_000, () => {
          for (const place of places) network.setDown(place, false);
          world.tell(`${places.join(" and ")} is up`);
        });
      }
      case "answers":
        world.tell("the SMSCs answer unreliably");
        network.fates = ROUGH;
        rough.push({ from: world.now, until: Number.POSITIVE_INFINITY });
        return later(1000, 40_000, () => {
          network.fates = HEALTHY;
          for (const period of rough) period.until = Math.min(period.until, world.now);
        });
      case "customer":
        world.tell("the customer's endpoint fails");
        customer.failing = random.pick([0.3, 1]);
        return later(1000, 40_000, () => {
          customer.failing = 0;
        });
    }
  };
}
