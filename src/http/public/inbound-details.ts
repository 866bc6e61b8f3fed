import { Type } from "../../lib/schema.ts";
import { INBOUND_KINDS } from "../../model/inbound.ts";

const word = (description: string) => Type.Optional(Type.String({ description }));

/** Facts of a chat-app message besides its content. Fields that the platform does not report are absent. */
export const InboundDetailsView = Type.Object(
  {
    kind: Type.String({ description: `${INBOUND_KINDS.join(", ")}.` }),
    description: word("Description of the chosen row of a list."),
    voice: Type.Optional(Type.Boolean({ description: "True for an audio that was recorded in the app." })),
    forwarded: Type.Optional(Type.Boolean({ description: "True for a forwarded message." })),
    place: Type.Optional(
      Type.Object(
        { name: word("Name."), address: word("Address."), url: word("URL.") },
        { description: "Place of a shared location." },
      ),
    ),
    contacts: Type.Optional(
      Type.Array(
        Type.Object({
          name: word("Whole name."),
          phones: Type.Array(
            Type.Object({
              phone: Type.String({ description: "Number as the phone shows it." }),
              type: word("Such as CELL."),
              waId: word("Number on the platform."),
            }),
            { description: "Phone numbers." },
          ),
          emails: Type.Array(
            Type.Object({ email: Type.String({ description: "Address." }), type: word("Such as WORK.") }),
            { description: "E-mail addresses." },
          ),
          company: word("Company."),
        }),
        { description: "Shared contacts; `text` has them as lines." },
      ),
    ),
    reaction: Type.Optional(
      Type.Object(
        { emoji: Type.String({ description: "Emoji." }) },
        { description: "Reaction to the message `messageId`; `text` has the emoji too." },
      ),
    ),
    order: Type.Optional(
      Type.Object(
        {
          catalogId: word("Catalogue."),
          items: Type.Array(
            Type.Object({
              productId: Type.String({ description: "ID of the product at the retailer." }),
              quantity: Type.Integer({ description: "Quantity." }),
              price: Type.Optional(Type.Number({ description: "Price of one." })),
              currency: word("Currency."),
            }),
            { description: "Products." },
          ),
        },
        { description: "Order; `text` has it as lines." },
      ),
    ),
    product: Type.Optional(
      Type.Object(
        { catalogId: word("Catalogue."), productId: word("ID of the product at the retailer.") },
        { description: "Product that the user asks about." },
      ),
    ),
    flow: Type.Optional(
      Type.Object(
        { name: word("Name."), response: Type.String({ description: "Answers as JSON." }) },
        { description: "Answers to a form." },
      ),
    ),
    referral: Type.Optional(
      Type.Object(
        {
          sourceType: word("ad or post."),
          sourceId: word("ID of the advertisement or post."),
          sourceUrl: word("URL of the advertisement or post."),
          headline: word("Headline."),
          body: word("Text."),
          mediaType: word("image or video."),
          mediaUrl: word("URL of the image or video."),
          clickId: word("ID of the click, for the platform's conversion API."),
        },
        { description: "Advertisement or post from which the user started the conversation." },
      ),
    ),
    unsupported: Type.Optional(
      Type.Object(
        {
          code: Type.Optional(Type.Integer({ description: "Code of the platform." })),
          title: word("Reason in the platform's words."),
        },
        { description: "Why the platform does not show the message." },
      ),
    ),
  },
  {
    title: "InboundDetails",
    description: "Chat app: kind of the message and what the platform reports besides its content.",
  },
);
