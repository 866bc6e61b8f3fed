import type { ChatTemplate, RcsTemplate, Template } from "../../api-types.ts";
import type { Channel } from "../../parts/channel.tsx";

/** Everything that any kind of message asks for; each kind uses some of it. */
export interface Draft {
  sender: string;
  to: string;
  text: string;
  type: string;
  botId: string;
  from: string;
  templateName: string;
  params: readonly string[];
  headerText: string;
  link: string;
  fileUrls: readonly string[];
  targetUrl: string;
  campaignName: string;
  /** As the browser's own field writes it; empty means at once. */
  sendAt: string;
  /** The text that goes out when an RCS message does not arrive; empty means none. */
  fallbackText: string;
}

export const EMPTY: Draft = {
  sender: "HELIOG",
  to: "15550100100",
  text: "",
  type: "TRANS",
  botId: "heliograph",
  from: "+15550100199",
  templateName: "",
  params: [],
  headerText: "",
  link: "",
  fileUrls: [],
  targetUrl: "",
  campaignName: "",
  sendAt: "",
  fallbackText: "",
};

export interface Kind {
  id: string;
  channel: Channel;
  label: string;
  /** One sentence on what it is for. */
  about: string;
  /** The text is written here and not by a template. */
  writesText?: true;
  /** Several recipients, one on a line. */
  many?: true;
  /** The route type that the kind stands for. */
  fixedType?: string;
  /** Which templates are of this kind. */
  takes?: (template: Template) => boolean;
  headerType?: "text" | "image" | "video" | "document";
  /** Brings images of its own, one per card. */
  ownImages?: true;
  shortLink?: true;
  /** Goes into the body as it stands. */
  flags?: Readonly<Record<string, number>>;
  starts: Partial<Draft>;
}

const isRcs = (template: Template): template is RcsTemplate => template.channel === "rcs";
const isChat = (template: Template): template is ChatTemplate => template.channel === "chatapp";

const rcs =
  (fits: (template: RcsTemplate) => boolean) =>
  (template: Template): boolean =>
    isRcs(template) && fits(template);

const chat =
  (header: string | null, variables: boolean) =>
  (template: Template): boolean =>
    isChat(template) && (template.header?.type ?? null) === header && template.variables > 0 === variables;

/** All 21 kinds, in the order of the API's documentation. */
export const KINDS: readonly Kind[] = [
  {
    id: "sms-single",
    channel: "sms",
    label: "Single message",
    about: "A text to one phone.",
    writesText: true,
    starts: { text: "Your order 4711 is on its way.", type: "TRANS" },
  },
  {
    id: "sms-otp",
    channel: "sms",
    label: "One-time password",
    about: "Goes before everything else. For codes that are made and checked for you, see Verify.",
    writesText: true,
    fixedType: "OTP",
    starts: { text: "482913 is your code. It is valid for 5 minutes.", type: "OTP" },
  },
  {
    id: "sms-bulk",
    channel: "sms",
    label: "Bulk",
    about: "The same text to many phones, up to 1,000 in one request.",
    writesText: true,
    many: true,
    starts: {
      to: "15550100100\n15550100101\n15550100102",
      text: "Coats and boots cost a fifth less until Sunday.",
      type: "PROMO",
      campaignName: "autumn",
    },
  },
  {
    id: "sms-unicode",
    channel: "sms",
    label: "Unicode",
    about: "For letters that an ordinary text does not know; 70 of them make a segment.",
    writesText: true,
    flags: { unicode: 1 },
    starts: { text: "आपका ऑर्डर रास्ते में है।", type: "TRANS" },
  },
  {
    id: "sms-flash",
    channel: "sms",
    label: "Flash",
    about: "Shows on the screen at once and is not kept in the inbox.",
    writesText: true,
    flags: { flash: 1 },
    starts: { text: "Your taxi is at the door.", type: "TRANS" },
  },
  {
    id: "sms-template",
    channel: "sms",
    label: "Template",
    about: "A finished text that must match a stored template.",
    writesText: true,
    takes: ({ channel }) => channel === "sms",
    starts: { templateName: "welcome", text: "Hello Ada, welcome! Your order 4711 is on its way.", type: "TRANS" },
  },
  {
    id: "sms-template-by-id",
    channel: "sms",
    label: "Template by id with variables",
    about: "A stored template, filled in here.",
    takes: ({ channel }) => channel === "sms",
    starts: { templateName: "welcome", params: ["Ada", "4711"], type: "TRANS" },
  },
  {
    id: "sms-short-link",
    channel: "sms",
    label: "With a shortened URL",
    about: "Every recipient gets a link of their own, and clicks are counted. {SORT} marks its place.",
    writesText: true,
    shortLink: true,
    starts: { text: "Track your order: {SORT}", targetUrl: "https://shop.example/orders/4711", type: "TRANS" },
  },
  {
    id: "rcs-text",
    channel: "rcs",
    label: "Plain text",
    about: "A stored text without variables.",
    takes: rcs(({ kind, variables }) => kind === "text" && variables === 0),
    starts: { templateName: "store-opening" },
  },
  {
    id: "rcs-rich",
    channel: "rcs",
    label: "Rich text",
    about: "A text with something to tap below it.",
    takes: rcs(({ kind, variables }) => kind === "rich" && variables === 0),
    starts: { templateName: "rate-us" },
  },
  {
    id: "rcs-variables",
    channel: "rcs",
    label: "Text with variables",
    about: "A stored text, filled in here.",
    takes: rcs(({ variables }) => variables > 0),
    starts: { templateName: "order-shipped", params: ["Ada", "4711"] },
  },
  {
    id: "rcs-card",
    channel: "rcs",
    label: "Standalone card",
    about: "A card with the template's own image.",
    takes: rcs(({ kind }) => kind === "card"),
    starts: { templateName: "autumn-sale", type: "PROMO" },
  },
  {
    id: "rcs-card-image",
    channel: "rcs",
    label: "Standalone card, another image",
    about: "A card with an image of your own.",
    takes: rcs(({ kind }) => kind === "card"),
    ownImages: true,
    starts: { templateName: "autumn-sale", type: "PROMO", fileUrls: ["https://shop.example/coat.jpg"] },
  },
  {
    id: "rcs-carousel-images",
    channel: "rcs",
    label: "Carousel, other images",
    about: "Cards side by side, each with an image of your own.",
    takes: rcs(({ kind }) => kind === "carousel"),
    ownImages: true,
    starts: {
      templateName: "new-arrivals",
      type: "PROMO",
      fileUrls: ["https://shop.example/coat.jpg", "https://shop.example/boots.jpg"],
    },
  },
  {
    id: "rcs-carousel",
    channel: "rcs",
    label: "Carousel",
    about: "Cards side by side with the template's own images.",
    takes: rcs(({ kind }) => kind === "carousel"),
    starts: { templateName: "new-arrivals", type: "PROMO" },
  },
  {
    id: "chatapp-plain",
    channel: "chatapp",
    label: "No header, no variables",
    about: "A stored text as it is.",
    takes: chat(null, false),
    starts: { templateName: "store_opening" },
  },
  {
    id: "chatapp-variables",
    channel: "chatapp",
    label: "With variables",
    about: "A stored text, filled in here.",
    takes: chat(null, true),
    starts: { templateName: "order_shipped", params: ["Ada", "4711"] },
  },
  {
    id: "chatapp-text",
    channel: "chatapp",
    label: "Text header",
    about: "With a line of its own on top.",
    takes: chat("text", true),
    headerType: "text",
    starts: { templateName: "order_status", headerText: "Order 4711", params: ["Ada", "on its way"] },
  },
  {
    id: "chatapp-image",
    channel: "chatapp",
    label: "Image header",
    about: "With a picture on top: JPG or PNG, at most 5 MB.",
    takes: chat("image", true),
    headerType: "image",
    starts: { templateName: "autumn_sale", link: "https://shop.example/autumn.jpg", params: ["Ada", "20%"] },
  },
  {
    id: "chatapp-video",
    channel: "chatapp",
    label: "Video header",
    about: "With a film on top: MP4 or 3GP, at most 16 MB.",
    takes: chat("video", true),
    headerType: "video",
    starts: { templateName: "how_to_assemble", link: "https://shop.example/shelf.mp4", params: ["Ada"] },
  },
  {
    id: "chatapp-document",
    channel: "chatapp",
    label: "Document header",
    about: "With a file on top, such as a PDF, at most 100 MB.",
    takes: chat("document", true),
    headerType: "document",
    starts: { templateName: "invoice", link: "https://shop.example/invoice-4711.pdf", params: ["Ada", "4711"] },
  },
];
