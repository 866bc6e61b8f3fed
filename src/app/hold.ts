import { readHold, type Hold } from "../model/hold.ts";
import { SendGate } from "../pipeline/accept/send-gate.ts";
import { dropUnsent } from "../pipeline/resume-held.ts";
import type { AppBase } from "./base.ts";
import type { AppPipeline } from "./pipeline.ts";
import type { AppRecords } from "./records.ts";
import type { AppStorage } from "./storage.ts";

export interface AppHold {
  gate: SendGate;
  /** The hold at the start of this node; null if the service was not held. */
  hold: Hold | null;
}

/**
 * Reads whether the service is held. A held node has neither the role dispatch nor the role callbacks: it connects to no
 * carrier, sends no message and delivers no callback.
 */
export async function readAppHold(base: AppBase, { store }: AppStorage): Promise<{ base: AppBase; held: AppHold }> {
  const { log, metrics, config } = base;
  const hold = readHold(await store.findHold());
  const gate = new SendGate();
  metrics.registry.gauge(
    { name: "heliograph_held", help: "1 while the service is held after a restore and sends nothing." },
    () => (gate.isHeld ? 1 : 0),
  );
  if (!hold) return { base, held: { gate, hold } };
  gate.hold();
  const { reason, since, snapshotAt } = hold;
  log.warn({ reason, since, snapshotAt }, "service is held and sends nothing until heliograph resume");
  const roles = config.roles.filter((role) => role === "api");
  return { base: { ...base, config: { ...config, roles } }, held: { gate, hold } };
}

interface HoldWatchDeps {
  base: AppBase;
  storage: AppStorage;
  held: AppHold;
  pipeline: AppPipeline;
  records: Pick<AppRecords, "accountOf">;
}

/**
 * Follows the stored hold: refuses sends as soon as one is set, and carries out the operator's decision about messages of the
 * backup. `onHoldChange` then restarts the node with its roles, because a held node lacks the components that send.
 */
export function createHoldWatch({ base, storage, held, pipeline, records }: HoldWatchDeps): () => Promise<void> {
  const { clock, log, metrics, overrides } = base;
  const { store } = storage;
  let isReported = false;
  function report(): void {
    if (isReported) return;
    isReported = true;
    overrides.onHoldChange?.();
  }
  return async () => {
    const stored = await store.findHold();
    const hold = readHold(stored);
    if (held.hold === null) {
      if (hold === null) return;
      held.gate.hold();
      log.warn({ reason: hold.reason }, "service is held from now on");
      return report();
    }
    if (stored === null) return report();
    if (!hold?.resume) return;
    const { commits } = pipeline;
    const isCurrent = async (): Promise<boolean> => (await store.findHold()) === stored;
    const { accountOf } = records;
    const dropped = await dropUnsent({ store, commits, clock, metrics, accountOf }, hold.resume, isCurrent);
    await store.endHold(stored);
    log.warn({ waiting: hold.resume.waiting, inDoubt: hold.resume.inDoubt, dropped }, "service resumes");
    report();
  };
}
