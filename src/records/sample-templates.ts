import { DEFAULT_LANGUAGE, type ChatTemplate } from "../model/chatapp.ts";
import type { RcsTemplate } from "../model/rcs.ts";

type ChatWords = Pick<ChatTemplate, "body" | "variables"> & Partial<ChatTemplate>;

const chat = (words: ChatWords): ChatTemplate => ({
  language: DEFAULT_LANGUAGE,
  category: "utility",
  status: "approved",
  header: null,
  footer: null,
  buttons: [],
  ...words,
});

/** Templates for the examples of `POST /v1/chatapp`: one per header type, with and without optional parts. */
export const SAMPLE_CHAT_TEMPLATES: Readonly<Record<string, ChatTemplate>> = {
  store_opening: chat({
    category: "marketing",
    body: "Our new shop on Harbour Street opens this Saturday at 10. Come in, look around and have a coffee with us.",
    variables: 0,
    footer: "Reply STOP to hear no more from us",
    buttons: [{ type: "url", text: "Find us", url: "https://shop.example/shops/harbour-street" }],
  }),
  order_shipped: chat({
    body: "Hello {{1}}, your order {{2}} has left our warehouse and will be with you in two to three days.",
    variables: 2,
    buttons: [
      { type: "url", text: "Track the parcel", url: "https://shop.example/orders" },
      { type: "reply", text: "Deliver it later" },
    ],
  }),
  order_status: chat({
    header: { type: "text", text: "Order {{1}}" },
    body: "Hello {{1}}, your order is {{2}}.",
    variables: 2,
    footer: "We answer every day from 9 to 18",
    buttons: [{ type: "call", text: "Call us", number: "+15550100199" }],
  }),
  autumn_sale: chat({
    category: "marketing",
    header: { type: "image", link: "https://shop.example/autumn.jpg" },
    body: "Hello {{1}}, coats and boots cost {{2}} less until Sunday.",
    variables: 2,
    footer: "Reply STOP to hear no more from us",
    buttons: [
      { type: "url", text: "See the coats", url: "https://shop.example/coats" },
      { type: "reply", text: "Remind me on Friday" },
    ],
  }),
  how_to_assemble: chat({
    header: { type: "video", link: "https://shop.example/shelf.mp4" },
    body: "Hello {{1}}, this film shows how your new shelf goes together. All you need is a screwdriver and half an hour.",
    variables: 1,
    buttons: [
      { type: "reply", text: "A part is missing" },
      { type: "call", text: "Call us", number: "+15550100199" },
    ],
  }),
  invoice: chat({
    header: { type: "document", link: "https://shop.example/invoice-4711.pdf" },
    body: "Hello {{1}}, here is the invoice for your order {{2}}. It is paid; please keep it for your records.",
    variables: 2,
    footer: "Thank you for shopping with us",
  }),
};

const text: Omit<RcsTemplate, "text" | "variables"> = { kind: "text", suggestions: [], cards: [], status: "approved" };
const cards: Omit<RcsTemplate, "kind" | "cards"> = { text: null, variables: 0, suggestions: [], status: "approved" };

/** Templates for the examples of `POST /v1/rcs`: every kind of template and suggestion. */
export const SAMPLE_RCS_TEMPLATES: Readonly<Record<string, RcsTemplate>> = {
  "store-opening": {
    ...text,
    text: "Our new shop on Harbour Street opens this Saturday at 10. Come in, look around and have a coffee with us.",
    variables: 0,
  },
  "rate-us": {
    ...text,
    kind: "rich",
    text: "Thank you for your order. How did we do?",
    variables: 0,
    suggestions: [
      { type: "reply", text: "Very well", data: "rating=5" },
      { type: "reply", text: "Not so well", data: "rating=2" },
      { type: "url", text: "Write a review", data: "review", url: "https://shop.example/reviews/new" },
      { type: "dial", text: "Talk to us", data: "call", number: "+15550100199" },
    ],
  },
  "order-shipped": {
    ...text,
    kind: "rich",
    text: "Hello {{1}}, your order {{2}} has left our warehouse and will be with you in two to three days.",
    variables: 2,
    suggestions: [
      { type: "url", text: "Track the parcel", data: "track", url: "https://shop.example/orders" },
      { type: "shareLocation", text: "Bring it where I am", data: "redirect" },
    ],
  },
  "autumn-sale": {
    ...cards,
    kind: "card",
    cards: [
      {
        title: "Autumn sale",
        description: "Coats and boots cost a fifth less until Sunday.",
        fileUrl: "https://shop.example/autumn.jpg",
        suggestions: [
          { type: "url", text: "See the coats", data: "coats", url: "https://shop.example/coats" },
          {
            type: "viewLocation",
            text: "Find the shop",
            data: "shop",
            latitude: 51.4545,
            longitude: -2.5879,
            label: "Harbour Street 1",
          },
          {
            type: "calendar",
            text: "Note the last day",
            data: "last-day",
            title: "Last day of the autumn sale",
            startAt: Date.UTC(2030, 9, 13, 10),
            endAt: Date.UTC(2030, 9, 13, 18),
            description: "Harbour Street 1, from 10 to 18.",
          },
          { type: "reply", text: "No, thank you", data: "no" },
        ],
      },
    ],
  },
  "new-arrivals": {
    ...cards,
    kind: "carousel",
    cards: [
      {
        title: "Wool coat",
        description: "Warm, light and made to last.",
        fileUrl: "https://shop.example/wool-coat.jpg",
        suggestions: [{ type: "url", text: "Look closer", data: "coat", url: "https://shop.example/coats/wool" }],
      },
      {
        title: "Walking boots",
        description: "For streets and for hills.",
        fileUrl: "https://shop.example/walking-boots.jpg",
        suggestions: [
          { type: "url", text: "Look closer", data: "boots", url: "https://shop.example/boots/walking" },
          { type: "reply", text: "Keep a pair for me", data: "keep-boots" },
        ],
      },
    ],
  },
};
