/** A warning for the operator of the service or the owner of an account. */
export interface Warning {
  code: "UNTRUSTED_PROXY" | "LIVE_SIMULATED" | "SERVICE_HELD" | "STORAGE_FULL" | "DATABASE_DAMAGED";
  message: string;
}
