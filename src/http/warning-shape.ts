import { Type } from "../lib/schema.ts";

export const warningShape = Type.Object({
  code: Type.String({
    description:
      "UNTRUSTED_PROXY: requests arrive through a proxy that is not trusted. LIVE_SIMULATED: live messages go to the simulator although the account has a real carrier. SERVICE_HELD: the service was restored from a backup and sends nothing. STORAGE_FULL: the disk of the database is nearly full, so sends are refused. DATABASE_DAMAGED: the last check of the SQLite file found damage.",
  }),
  message: Type.String({ description: "Problem and how to fix it." }),
});
