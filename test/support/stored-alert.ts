import { newId } from "../../src/lib/ids.ts";
import type { TestServer } from "./test-server.ts";

/** Stores an alert of a rule that does not exist, so it resolves at the next look. Returns its id. */
export async function insertAlert(server: TestServer, accountId: number): Promise<string> {
  const id = newId(Date.now());
  const about = { rule: id, ruleName: "Stored rule", alert: "queue_age", subject: "OTP", subjectName: "OTP" } as const;
  const ends = { resolvedAt: null, acknowledgedAt: null, acknowledgedBy: null, mutedUntil: null };
  const alert = { accountId, id, ...about, state: "open", value: 70, threshold: 60, openedAt: 1, ...ends } as const;
  await server.app.store.openAlert(alert, { callbacks: [], recipients: [], at: 1 });
  return id;
}
