import { countOf } from "../../lib/text.ts";
import type { ChatCard, FilledCard } from "../../model/chatapp.ts";
import type { Fault } from "../../model/problem.ts";
import { buttonFaults, fillButtons } from "./fill-buttons.ts";
import { countFault, fillText, inOrder } from "./fill-text.ts";
import type { CardFilling } from "./read.ts";

/** Faults of the cards of a request. `path` leads to its components. */
export function cardFaults(cards: readonly ChatCard[], given: readonly CardFilling[], path: string): Fault[] {
  if (cards.length === 0 || given.length === 0) return [];
  if (cards.length !== given.length) {
    const message = `${countOf(given.length, "card")}, and the template has ${countOf(cards.length, "card")}: give one entry for each, in order.`;
    return [{ parameter: `${path}cards`, message }];
  }
  return cards.flatMap((card, index) => {
    const filling = given[index];
    return filling ? faultsOf(card, filling, `${path}cards[${index}].`) : [];
  });
}

function faultsOf(card: ChatCard, filling: CardFilling, path: string): Fault[] {
  const { type } = filling.header;
  const count = countFault(card.variables, inOrder(filling, card, path).length, path);
  return [
    ...(type === card.header.type
      ? []
      : [
          {
            parameter: `${path}header`,
            message: `The request has a header of type ${type}, and the card takes one of type ${card.header.type}.`,
          },
        ]),
    ...(count ? [count] : []),
    ...buttonFaults(card.buttons, filling.buttons ?? [], `${path}buttons`),
  ];
}

/** The cards as the phone shows them. Those of an unknown template have their files and values. */
export const fillCards = (
  cards: readonly ChatCard[] | undefined,
  given: readonly CardFilling[],
  path: string,
): readonly FilledCard[] =>
  given.map((filling, index) => {
    const card = cards?.[index];
    const { header, buttons: values = [] } = filling;
    const params = inOrder(filling, card ?? null, `${path}cards[${index}].`);
    const { body = null, names, buttons = [] } = card ?? {};
    return {
      header,
      text: body === null ? (params.length === 0 ? null : params.join(", ")) : fillText({ body, names }, params),
      params,
      buttons: fillButtons(buttons, values),
      ...(values.length > 0 && { buttonValues: values }),
    };
  });
