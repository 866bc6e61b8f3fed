import type { Account } from "../../model/account.ts";
import type { Scope } from "../../model/api-key.ts";
import type { SmppAccess } from "../../model/smpp-access.ts";

/** A system id that has authenticated. */
export interface SmppClient {
  account: Account;
  credentialId: string;
  systemId: string;
  /** Its messages go to the simulator. */
  test: boolean;
  /** Permissions of the credential. */
  scopes: readonly Scope[];
  access: SmppAccess;
  /** The address of the peer. */
  address: string;
}
