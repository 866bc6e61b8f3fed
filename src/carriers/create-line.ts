import { carrierKey, type CatalogRecord, type RealCarrierContent } from "../model/catalog.ts";
import { openedLine } from "../model/smpp-line.ts";
import type { Carrier, LineTrial } from "./carrier.ts";
import type { LiveLine } from "./open-carriers.ts";
import type { SimulatorCarrier } from "./simulator/simulator-carrier.ts";
import type { CreateSmppCarrier, SmppCarrierNeeds } from "./smpp/needs.ts";
import { tryBind } from "./smpp/try-bind.ts";

type CarrierRecord = CatalogRecord<"carrier">;

/** What is the same for all lines. */
export interface LineNeeds extends Omit<
  SmppCarrierNeeds,
  keyof LiveLine | "name" | "accountId" | "settings" | "secrets"
> {
  simulator: SimulatorCarrier;
  createSmpp: CreateSmppCarrier;
  /** Opens what was sealed. */
  open(sealed: string): string;
}

/** The line that a record asks for. */
export function createLine(needs: LineNeeds, { accountId, name, content }: CarrierRecord, live: LiveLine): Carrier {
  const own = { name: carrierKey(accountId, name), accountId };
  if (content.adapter === "simulator") return needs.simulator.line(accountId, { ...own, ...content });
  return needs.createSmpp({ ...needs, ...live, ...own, ...openedLine(content.smpp, needs.open) });
}

/** Tries whether the other end would have us, without sending anything. */
export function tryLine(needs: LineNeeds, content: RealCarrierContent): Promise<LineTrial> {
  return tryBind({ ...needs, ...openedLine(content.smpp, needs.open) });
}
