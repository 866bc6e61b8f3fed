import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Dispatcher } from "../../src/pipeline/dispatch/dispatcher.ts";
import { reserveSlots, type SlotReservation } from "../../src/pipeline/accept/reserve-slots.ts";
import type { RouteClass } from "../../src/model/message.ts";
import type { Acceptance } from "../../src/store/store.ts";
import { PriorityQueues } from "../../src/pipeline/dispatch/priority-queues.ts";
import { acceptance } from "../support/acceptances.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { sampleMessage } from "../support/message.ts";
import { TestPipeline } from "../support/test-pipeline.ts";

const WINDOW = 4;

describe.each(ENGINES)("direct dispatch on %s", (engine) => {
  let pipeline: TestPipeline;
  let queues: PriorityQueues;
  let dispatcher: Dispatcher;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
    queues = new PriorityQueues(100);
    dispatcher = new Dispatcher({ ...pipeline.deps, queues }, WINDOW);
  });
  afterEach(() => pipeline.close());

  const requestOf = (changes: Parameters<typeof acceptance>[0] = {}): Acceptance =>
    acceptance({ createdAt: pipeline.clock.now(), owner: pipeline.deps.membership.node, ...changes });

  const placesOf = (request: Acceptance): SlotReservation | null =>
    reserveSlots({ queues, dispatcher, reserved: new Set() }, request.message, request);

  const store = (request: Acceptance, places: SlotReservation | null) =>
    pipeline.deps.commits.accept.add({ ...request, ...places?.stored });

  const read = ({ message }: Acceptance) => pipeline.read({ ...message, n: 1 });

  test("a single message is sent directly: its row is stored with the intent and needs no other write", async () => {
    const request = requestOf({ timeline: "judged\n", each: { timeline: "own\n" } });
    const places = placesOf(request);
    await store(request, places);
    const born = await read(request);
    expect(born).toMatchObject({ state: "submitting", carrier: "scripted", attempts: 1 });
    expect(born.timeline).toMatch(/^judged\nown\n\["attempt",\d+,"Everything to the simulator"/u);
    expect(pipeline.carrier.submitted, "it is stored first").toEqual([]);
    let moves = 0;
    pipeline.carrier.answer = async () => {
      moves = pipeline.deps.commits.move.load;
      return { kind: "taken", carrierMessageId: "c-1" };
    };
    places?.commit();
    const sent = await eventually(
      () => read(request),
      ({ state }) => state === "submitted",
    );
    expect(sent).toMatchObject({ attempts: 1, repeats: 0 });
    expect(moves, "nothing was written before the carrier was asked").toBe(0);
    expect(pipeline.carrier.submitted).toHaveLength(1);
    // The store shows a row before its writer gets the result.
    await eventually(
      () => dispatcher.inFlight,
      (count) => count === 0,
    );
  });

  test("PROMO is not stored with the intent: after a crash it could not be sent safely", async () => {
    const request = requestOf({ routeClass: "PROMO" });
    expect(placesOf(request)?.stored.carrier).toBeUndefined();
  });

  test("after a crash between store and send, the message is in doubt and sent", async () => {
    const request = requestOf();
    await store(request, placesOf(request));
    const [claimed] = await pipeline.claim(pipeline.deps.membership.node);
    expect(claimed).toMatchObject({ state: "submitting" });
    if (claimed) await pipeline.dispatch(claimed);
    expect(await read(request)).toMatchObject({ state: "submitted", repeats: 1 });
  });

  test.each<[string, () => void]>([
    ["its carrier is down", () => (pipeline.carrier.up = false)],
    ["other nodes have the line", () => (pipeline.carrier.elsewhere = true)],
    [
      "its carrier is at its contracted speed",
      () => {
        pipeline.carrier.messagesPerSecond = 0.001;
        placesOf(requestOf());
      },
    ],
    ["this node has its hands full", () => Array.from({ length: WINDOW }, () => placesOf(requestOf()))],
    ["another of its lane waits before it", () => queues.push(sampleMessage({ routeClass: "TRANS" }))],
  ])("a message goes through the queues if %s", (_why, arrange) => {
    const before = placesOf(requestOf());
    expect(before?.stored.carrier, "otherwise it goes at once").toBe("scripted");
    before?.release();
    arrange();
    expect(placesOf(requestOf())?.stored.carrier).toBeUndefined();
  });

  test("a cancelled reservation uses none of its carrier's rate limit", () => {
    pipeline.carrier.messagesPerSecond = 1;
    for (let round = 0; round < 5; round += 1) {
      const places = placesOf(requestOf());
      expect(places?.stored.carrier).toBe("scripted");
      places?.release();
    }
    placesOf(requestOf());
    expect(placesOf(requestOf())?.stored.carrier, "the one turn of this second").toBeUndefined();
  });

  test("a message of a campaign or past its validity is not dispatched directly", () => {
    expect(placesOf(requestOf({ campaignName: "spring" }))?.stored.carrier).toBeUndefined();
    expect(placesOf(requestOf({ expiresAt: pipeline.clock.now() }))?.stored.carrier).toBeUndefined();
  });

  test("a message past its validity when stored is not sent", async () => {
    const request = requestOf({ expiresAt: pipeline.clock.now() + 1000 });
    const places = placesOf(request);
    await store(request, places);
    pipeline.clock.advance(1000);
    places?.commit();
    const ended = await eventually(
      () => read(request),
      ({ state }) => state === "expired",
    );
    expect(ended.errorCode).toBe("EXPIRED_IN_QUEUE");
    expect(pipeline.carrier.submitted).toEqual([]);
  });

  test.each<RouteClass>(["TRANS", "OTP"])("a message that was not stored releases its slot: %s", (routeClass) => {
    for (let round = 0; round < WINDOW * 3; round += 1) {
      const places = placesOf(requestOf({ routeClass }));
      expect(places?.stored.carrier).toBe("scripted");
      places?.release();
    }
    expect(dispatcher.inFlight).toBe(0);
    for (let round = 0; round < 3; round += 1) {
      const bulk = placesOf(requestOf({ routeClass, to: Array.from({ length: 100 }, (_, i) => `3361234${i}`) }));
      expect(bulk, "a hundred places each time").not.toBeNull();
      bulk?.release();
    }
  });

  test("with carrier and queues full no slot is reserved: the node that claims the message sends it", () => {
    const to = Array.from({ length: 100 }, (_, index) => `3361234${index}`);
    expect(placesOf(requestOf({ to }))).not.toBeNull();
    pipeline.carrier.up = false;
    expect(placesOf(requestOf())).toBeNull();
  });

  test("a stopping node waits for direct dispatches in progress and starts no more", async () => {
    const request = requestOf();
    const places = placesOf(request);
    const stopped = dispatcher.stop();
    expect(placesOf(requestOf())?.stored.carrier).toBeUndefined();
    await store(request, places);
    places?.commit();
    await stopped;
    expect(await read(request)).toMatchObject({ state: "submitted" });
  });
});
