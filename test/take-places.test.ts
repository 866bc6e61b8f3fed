import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Dispatcher } from "../src/messages/dispatcher.ts";
import { takePlaces, type Places } from "../src/messages/take-places.ts";
import type { RouteClass } from "../src/model/message.ts";
import type { Acceptance } from "../src/store/store.ts";
import { Lanes } from "../src/work/lanes.ts";
import { acceptance } from "./support/acceptances.ts";
import { ENGINES } from "./support/engines.ts";
import { eventually } from "./support/eventually.ts";
import { messageInHand } from "./support/message.ts";
import { Workshop } from "./support/workshop.ts";

const WINDOW = 4;

describe.each(ENGINES)("places for what is about to be stored on %s", (engine) => {
  let shop: Workshop;
  let lanes: Lanes;
  let dispatcher: Dispatcher;
  beforeEach(async () => {
    shop = await Workshop.open(engine);
    lanes = new Lanes(100);
    dispatcher = new Dispatcher({ ...shop.needs, lanes }, WINDOW);
  });
  afterEach(() => shop.close());

  const requestOf = (changes: Parameters<typeof acceptance>[0] = {}): Acceptance =>
    acceptance({ createdAt: shop.clock.now(), owner: shop.needs.membership.node, ...changes });

  const placesOf = (request: Acceptance): Places | null => takePlaces({ lanes, dispatcher }, request.message, request);

  const store = (request: Acceptance, places: Places | null) =>
    shop.needs.commits.accept.add({ ...request, ...places?.stored });

  const read = ({ message }: Acceptance) => shop.read({ ...message, n: 1 });

  test("a single message goes at once: its row is born with the intent, and its carrier has it without another write", async () => {
    const request = requestOf({ trail: "judged\n", each: { trail: "own\n" } });
    const places = placesOf(request);
    await store(request, places);
    const born = await read(request);
    expect(born).toMatchObject({ state: "submitting", carrier: "scripted", attempts: 1 });
    expect(born.trail).toMatch(/^judged\nown\n\["attempt",\d+,"Everything to the simulator"/u);
    expect(shop.carrier.submitted, "it is stored first").toEqual([]);
    let moves = 0;
    shop.carrier.answer = async () => {
      moves = shop.needs.commits.move.load;
      return { kind: "taken", carrierMessageId: "c-1" };
    };
    places?.go();
    const sent = await eventually(
      () => read(request),
      ({ state }) => state === "submitted",
    );
    expect(sent).toMatchObject({ attempts: 1, repeats: 0 });
    expect(moves, "nothing was written before the carrier was asked").toBe(0);
    expect(shop.carrier.submitted).toHaveLength(1);
    // The store shows what it has written before whoever wrote it hears of it.
    await eventually(
      () => dispatcher.inFlight,
      (count) => count === 0,
    );
  });

  test("PROMO is not born with the intent: after a crash nobody could say that it was not sent", async () => {
    const request = requestOf({ routeClass: "PROMO" });
    expect(placesOf(request)?.stored.carrier).toBeUndefined();
  });

  test("after a crash between the two, it is in doubt and sent", async () => {
    const request = requestOf();
    await store(request, placesOf(request));
    const [claimed] = await shop.claim(shop.needs.membership.node);
    expect(claimed).toMatchObject({ state: "submitting" });
    if (claimed) await shop.dispatch(claimed);
    expect(await read(request)).toMatchObject({ state: "submitted", repeats: 1 });
  });

  test.each<[string, () => void]>([
    ["its carrier is down", () => (shop.carrier.up = false)],
    ["other nodes have the line", () => (shop.carrier.elsewhere = true)],
    [
      "its carrier is at its contracted speed",
      () => {
        shop.carrier.messagesPerSecond = 0.001;
        placesOf(requestOf());
      },
    ],
    ["this node has its hands full", () => Array.from({ length: WINDOW }, () => placesOf(requestOf()))],
    ["another of its lane waits before it", () => lanes.push(messageInHand({ routeClass: "TRANS" }))],
  ])("waits in the lanes where %s", (_why, arrange) => {
    const before = placesOf(requestOf());
    expect(before?.stored.carrier, "otherwise it goes at once").toBe("scripted");
    before?.giveUp();
    arrange();
    expect(placesOf(requestOf())?.stored.carrier).toBeUndefined();
  });

  test("what stays behind costs nothing of its carrier's contracted speed", () => {
    shop.carrier.messagesPerSecond = 1;
    for (let round = 0; round < 5; round += 1) {
      const places = placesOf(requestOf());
      expect(places?.stored.carrier).toBe("scripted");
      places?.giveUp();
    }
    placesOf(requestOf());
    expect(placesOf(requestOf())?.stored.carrier, "the one turn of this second").toBeUndefined();
  });

  test("a message of a campaign, or whose time is over, takes the way on which that is looked at", () => {
    expect(placesOf(requestOf({ campaignName: "spring" }))?.stored.carrier).toBeUndefined();
    expect(placesOf(requestOf({ expiresAt: shop.clock.now() }))?.stored.carrier).toBeUndefined();
  });

  test("what is past its time when it is stored is not sent any more", async () => {
    const request = requestOf({ expiresAt: shop.clock.now() + 1000 });
    const places = placesOf(request);
    await store(request, places);
    shop.clock.advance(1000);
    places?.go();
    const ended = await eventually(
      () => read(request),
      ({ state }) => state === "expired",
    );
    expect(ended.errorCode).toBe("EXPIRED_IN_QUEUE");
    expect(shop.carrier.submitted).toEqual([]);
  });

  test.each<RouteClass>(["TRANS", "OTP"])("what was not stored gives its place back: %s", (routeClass) => {
    for (let round = 0; round < WINDOW * 3; round += 1) {
      const places = placesOf(requestOf({ routeClass }));
      expect(places?.stored.carrier).toBe("scripted");
      places?.giveUp();
    }
    expect(dispatcher.inFlight).toBe(0);
    for (let round = 0; round < 3; round += 1) {
      const bulk = placesOf(requestOf({ routeClass, to: Array.from({ length: 100 }, (_, i) => `3361234${i}`) }));
      expect(bulk, "a hundred places each time").not.toBeNull();
      bulk?.giveUp();
    }
  });

  test("where neither the carrier nor the lanes have room there is no place: whoever claims it sends it", () => {
    const to = Array.from({ length: 100 }, (_, index) => `3361234${index}`);
    expect(placesOf(requestOf({ to }))).not.toBeNull();
    shop.carrier.up = false;
    expect(placesOf(requestOf())).toBeNull();
  });

  test("a node that is stopping waits for what is under way, and takes nothing more past the lanes", async () => {
    const request = requestOf();
    const places = placesOf(request);
    const stopped = dispatcher.stop();
    expect(placesOf(requestOf())?.stored.carrier).toBeUndefined();
    await store(request, places);
    places?.go();
    await stopped;
    expect(await read(request)).toMatchObject({ state: "submitted" });
  });
});
