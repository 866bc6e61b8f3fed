import { nullable, Type } from "../../lib/schema.ts";
import { SIMULATOR } from "../../model/catalog.ts";
import { notedPolicies, type Prepared } from "../../pipeline/accept/prepare.ts";
import { routesFor } from "../../pipeline/dispatch/choose-route.ts";
import type { PolicySubject } from "../../pipeline/policy/check.ts";
import type { PolicyDecision } from "../../pipeline/policy/policies.ts";
import type { AuthenticCall, Services } from "../route.ts";

/** The outcome of a send that is only prepared: price, policies and routes of each recipient. */

interface Outcome {
  credits: number;
  balance: number | null;
  affordable: boolean;
  wouldRefuse: readonly string[];
  recipients: readonly RecipientView[];
}

export async function outcomeOf(
  { store }: Services,
  { account }: AuthenticCall["caller"],
  prepared: Prepared,
): Promise<Outcome> {
  const recipients = prepared.subject.draft.recipients.map((_, place) => recipientView(prepared, place));
  const credits = recipients.reduce((sum, recipient) => sum + recipient.credits, 0);
  const metered = account.settings.credits === "metered";
  const balance = metered ? (await store.findBalance(account.id)).balance : null;
  const noted = notedPolicies(prepared);
  return {
    credits,
    balance,
    affordable: balance === null || balance >= credits,
    wouldRefuse: noted === "" ? [] : noted.split(", "),
    recipients,
  };
}

interface RecipientView {
  recipient: string;
  failure: string | null;
  credits: number;
  heldUntil: number | null;
  verdicts: readonly object[];
  routes: readonly { name: string; carrier: string }[];
}

function recipientView(prepared: Prepared, place: number): RecipientView {
  const { subject: sending, verdicts, warning } = prepared;
  const { failure = null, credits = 0, heldUntil = null, decisions = [] } = verdicts[place] ?? {};
  const { number = "" } = sending.draft.recipients[place] ?? {};
  const mismatch: PolicyDecision[] =
    warning === null ? [] : [{ policy: "template", verdict: "noted", detail: warning }];
  return {
    recipient: number,
    failure,
    credits: failure ? 0 : credits,
    heldUntil: failure ? null : (heldUntil ?? sending.draft.sendAt),
    verdicts: [...decisions, ...mismatch].map(({ policy, verdict, detail }) => ({ policy, verdict, detail })),
    routes: failure ? [] : routesOf(sending, sending.draft, number),
  };
}

/** By priority; routes of equal priority are chosen by weight, so the heavier one comes first. */
export function routesOf(
  { test, catalog, draft: { routeClass } }: PolicySubject,
  { channel, sender }: Pick<PolicySubject["draft"], "channel" | "sender">,
  recipient: string,
): RecipientView["routes"] {
  if (test) return [{ name: "test key", carrier: SIMULATOR }];
  return routesFor(catalog, { channel, routeClass, sender, recipient })
    .toSorted(({ content: a }, { content: b }) => a.priority - b.priority || b.weight - a.weight)
    .map(({ name, content }) => ({ name, carrier: content.carrier }));
}

export const routesField = Type.Array(
  Type.Object({
    name: Type.String({ description: "Name of the route." }),
    carrier: Type.String({ description: "Carrier of the route." }),
  }),
  {
    description:
      "Matching routes by priority. Of routes with the same priority, the one with the greatest weight comes first.",
  },
);

export const recipientFields = {
  recipient: Type.String({ description: "The recipient's number, normalised." }),
  failure: nullable(Type.String(), "Reason why the message to this recipient would fail; null if it would be sent."),
  credits: Type.Integer({ description: "Price of the message to this recipient." }),
  heldUntil: nullable(
    Type.Integer(),
    "Earliest time of sending in epoch milliseconds; null if it would be sent at once.",
  ),
  verdicts: Type.Array(
    Type.Object({
      policy: Type.String({ description: "Name of the policy." }),
      verdict: Type.String({ description: "passed, held, refused or noted." }),
      detail: Type.String({ description: "Reason of the decision." }),
    }),
    { description: "Policy decisions." },
  ),
  routes: routesField,
};

export const outcomeFields = {
  credits: Type.Integer({ description: "Total price. Recipients that would fail cost nothing." }),
  balance: nullable(Type.Integer(), "Credits of the account; null if it is not metered."),
  affordable: Type.Boolean({ description: "False if the send would get 402 for lack of credits." }),
  wouldRefuse: Type.Array(Type.String(), {
    description: "Policies that would refuse the message for a real carrier. For the simulator they are only reported.",
  }),
};

export const outcomeExample = (recipient: string) => ({
  credits: 1,
  balance: null,
  affordable: true,
  wouldRefuse: [],
  recipients: [
    {
      recipient,
      failure: null,
      credits: 1,
      heldUntil: null,
      verdicts: [{ policy: "opt-out", verdict: "passed", detail: "Not on the list" }],
      routes: [{ name: "Everything to the simulator", carrier: "simulator" }],
    },
  ],
});
