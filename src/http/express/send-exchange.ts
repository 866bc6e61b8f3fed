import { validateHeaderValue } from "node:http";
import type { Credential } from "../../accounts/keyring.ts";
import { ROUTE_CLASSES } from "../../model/message.ts";
import { authenticate, type Admission } from "../authenticate.ts";
import { JSON_TYPE } from "../envelope.ts";
import { failureOf, OVERLOADED } from "../failure.ts";
import { readJson } from "../read-json.ts";
import type { SendRoute, Services } from "../route.ts";
import type { SendHead } from "./read-head.ts";
import type { Answer } from "./write-answer.ts";

const ROUTE_CLASS = /"type"\s*:\s*"(OTP|TRANS|PROMO)"/;

export interface SendNeeds {
  services: Services;
  admission: Admission;
}

/** One send from its head to its answer: who calls, what is asked, what is said. Of bytes it knows nothing. */
export class SendExchange implements Answer {
  status = 0;
  readonly type = JSON_TYPE;
  headers: Map<string, string> | null = null;
  text = "";
  readonly #needs: SendNeeds;
  readonly #route: SendRoute;
  readonly #head: SendHead;
  #caller: Credential | null = null;

  constructor(needs: SendNeeds, route: SendRoute, head: SendHead) {
    this.#needs = needs;
    this.#route = route;
    this.#head = head;
  }

  /** Looks at the key, before a byte of the body is read. False when the answer is there already: a refusal. */
  admit(address: string): boolean {
    const { admission } = this.#needs;
    const { headers } = this.#head;
    try {
      this.#caller = authenticate(admission, { headers, address }, this.#route.scope, this.#setHeader);
      return true;
    } catch (error) {
      this.#refuse(error);
      return false;
    }
  }

  /** Does what the body asks; once this resolves, the answer is there. */
  async handle(body: string): Promise<void> {
    const { services } = this.#needs;
    const { headers } = this.#head;
    try {
      if (!this.#caller) throw new Error("a send is handled only after its key was looked at");
      if (this.#isTurnedAway(body)) return this.#refuse(OVERLOADED);
      const call = { headers, body: readJson(body), caller: this.#caller, setHeader: this.#setHeader };
      this.text = (await this.#route.handle(services, call)).text;
      this.status = 200;
    } catch (error) {
      this.#refuse(error);
    }
  }

  /**
   * While messages are turned away, those that say plainly of which type they are do not cost their parsing; but for what may
   * have been answered before, or is not to be sent now.
   */
  #isTurnedAway(body: string): boolean {
    const { doorstep } = this.#needs.services.accepting;
    if (!doorstep.isShut("TRANS") && !doorstep.isShut("PROMO")) return false;
    if (this.#head.headers["idempotency-key"] !== undefined || body.includes('"sendAt"')) return false;
    const written = ROUTE_CLASS.exec(body)?.[1];
    return ROUTE_CLASSES.some((routeClass) => routeClass === written && doorstep.isShut(routeClass));
  }

  #refuse(error: unknown): void {
    const { status, headers, text } = failureOf(this.#needs.services, error, this.#route.family);
    for (const [name, value] of Object.entries(headers)) this.#setHeader(name, value);
    this.text = text;
    this.status = status;
  }

  readonly #setHeader = (name: string, value: string): void => {
    validateHeaderValue(name, value);
    this.headers ??= new Map();
    this.headers.set(name, value);
  };
}
