import type { ChatTemplate, RcsTemplate, Template } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import type { SendChannel } from "../../parts/channel.tsx";

/** File and values of one card of a chat-app carousel. */
export interface CardDraft {
  link: string;
  params: readonly string[];
  buttons: readonly string[];
}

/** The fields of all kinds of message. Each kind uses some of them. */
export interface Draft {
  sender: string;
  to: string;
  text: string;
  type: string;
  botId: string;
  from: string;
  templateName: string;
  params: readonly string[];
  /** Values of the template's buttons, by their place. */
  buttons: readonly string[];
  headerText: string;
  link: string;
  /** The place above the text. */
  latitude: string;
  longitude: string;
  placeName: string;
  address: string;
  /** The end of a limited-time offer, in the format of `datetime-local`. */
  offerEnds: string;
  cards: readonly CardDraft[];
  /** Language of the template; empty for that of the recipient. */
  language: string;
  fileUrls: readonly string[];
  targetUrl: string;
  campaignName: string;
  /** In the format of `datetime-local`; empty sends at once. */
  sendAt: string;
  /** SMS text for an RCS message that does not arrive; empty for none. */
  fallbackText: string;
}

export const EMPTY: Draft = {
  sender: "",
  to: "",
  text: "",
  type: "TRANS",
  botId: "",
  from: "",
  templateName: "",
  params: [],
  buttons: [],
  headerText: "",
  link: "",
  latitude: "51.4545",
  longitude: "-2.5879",
  placeName: "",
  address: "",
  offerEnds: "",
  cards: [],
  language: "",
  fileUrls: [],
  targetUrl: "",
  campaignName: "",
  sendAt: "",
  fallbackText: "",
};

/** A draft with sample values, which refer to the sample records of a new account. */
export const exampleOf = (kind: Kind): Draft => ({
  ...EMPTY,
  sender: "HELIOG",
  to: "15550100100",
  botId: "heliograph",
  from: "+15550100199",
  ...kind.example,
});

export interface Kind {
  id: string;
  channel: SendChannel;
  label: string;
  /** The purpose of this kind in one sentence. */
  about: string;
  /** The user writes the text here; otherwise a template has it. */
  writesText?: true;
  /** Takes several recipients, one per line. */
  many?: true;
  /** Message class of the kind; without it the user chooses. */
  fixedType?: string;
  /** True for the templates that suit this kind. */
  takes?: (template: Template) => boolean;
  headerType?: "text" | "image" | "video" | "document" | "location";
  /** The header is that of the template. */
  ownHeader?: true;
  /** Each card has an image URL of its own. */
  ownImages?: true;
  shortLink?: true;
  /** Further fields of the request body. */
  flags?: Readonly<Record<string, number>>;
  /** Sample values, filled in on request. */
  example: Partial<Draft>;
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
    isChat(template) &&
    !isRich(template) &&
    (template.header?.type ?? null) === header &&
    template.variables > 0 === variables;

/** Offers and carousels have kinds of their own. */
const isRich = ({ offer, cards = [] }: ChatTemplate): boolean => Boolean(offer) || cards.length > 0;

/** All 24 kinds, in the order of the API's documentation. */
export const KINDS: readonly Kind[] = [
  {
    id: "sms-single",
    channel: "sms",
    label: t("Single message"),
    about: t("A text to one phone."),
    writesText: true,
    example: { text: "Your order 4711 is on its way.", type: "TRANS" },
  },
  {
    id: "sms-otp",
    channel: "sms",
    label: t("One-time password"),
    about: t("Sent with the highest priority. To have codes generated and checked for you, use Verify."),
    writesText: true,
    fixedType: "OTP",
    example: { text: "482913 is your code. It is valid for 5 minutes.", type: "OTP" },
  },
  {
    id: "sms-bulk",
    channel: "sms",
    label: t("Bulk"),
    about: t("The same text to up to 1,000 numbers in one request."),
    writesText: true,
    many: true,
    example: {
      to: "15550100100\n15550100101\n15550100102",
      text: "Coats and boots cost a fifth less until Sunday.",
      type: "PROMO",
      campaignName: "autumn",
    },
  },
  {
    id: "sms-unicode",
    channel: "sms",
    label: t("Unicode"),
    about: t("For characters outside the GSM alphabet; 70 characters per segment."),
    writesText: true,
    flags: { unicode: 1 },
    example: { text: "आपका ऑर्डर रास्ते में है।", type: "TRANS" },
  },
  {
    id: "sms-flash",
    channel: "sms",
    label: t("Flash"),
    about: t("Shown on the screen at once and not stored in the inbox."),
    writesText: true,
    flags: { flash: 1 },
    example: { text: "Your taxi is at the door.", type: "TRANS" },
  },
  {
    id: "sms-template",
    channel: "sms",
    label: t("Template"),
    about: t("A complete text that must match a stored template."),
    writesText: true,
    takes: ({ channel }) => channel === "sms",
    example: { templateName: "welcome", text: "Hello Ada, welcome! Your order 4711 is on its way.", type: "TRANS" },
  },
  {
    id: "sms-template-by-id",
    channel: "sms",
    label: t("Template by id with variables"),
    about: t("A stored template, filled in here."),
    takes: ({ channel }) => channel === "sms",
    example: { templateName: "welcome", params: ["Ada", "4711"], type: "TRANS" },
  },
  {
    id: "sms-short-link",
    channel: "sms",
    label: t("With a shortened URL"),
    about: t("Each recipient gets a unique link, and clicks are counted. Use {SORT} where the short link should go."),
    writesText: true,
    shortLink: true,
    example: { text: "Track your order: {SORT}", targetUrl: "https://shop.example/orders/4711", type: "TRANS" },
  },
  {
    id: "rcs-text",
    channel: "rcs",
    label: t("Plain text"),
    about: t("A stored text without variables."),
    takes: rcs(({ kind, variables }) => kind === "text" && variables === 0),
    example: { templateName: "store-opening" },
  },
  {
    id: "rcs-rich",
    channel: "rcs",
    label: t("Rich text"),
    about: t("Text with buttons."),
    takes: rcs(({ kind, variables }) => kind === "rich" && variables === 0),
    example: { templateName: "rate-us" },
  },
  {
    id: "rcs-variables",
    channel: "rcs",
    label: t("Text with variables"),
    about: t("A stored text, filled in here."),
    takes: rcs(({ variables }) => variables > 0),
    example: { templateName: "order-shipped", params: ["Ada", "4711"] },
  },
  {
    id: "rcs-card",
    channel: "rcs",
    label: t("Standalone card"),
    about: t("A card with the template's own image."),
    takes: rcs(({ kind }) => kind === "card"),
    example: { templateName: "autumn-sale", type: "PROMO" },
  },
  {
    id: "rcs-card-image",
    channel: "rcs",
    label: t("Standalone card, another image"),
    about: t("A card with your own image."),
    takes: rcs(({ kind }) => kind === "card"),
    ownImages: true,
    example: { templateName: "autumn-sale", type: "PROMO", fileUrls: ["https://shop.example/coat.jpg"] },
  },
  {
    id: "rcs-carousel-images",
    channel: "rcs",
    label: t("Carousel, other images"),
    about: t("Cards side by side, each with your own image."),
    takes: rcs(({ kind }) => kind === "carousel"),
    ownImages: true,
    example: {
      templateName: "new-arrivals",
      type: "PROMO",
      fileUrls: ["https://shop.example/coat.jpg", "https://shop.example/boots.jpg"],
    },
  },
  {
    id: "rcs-carousel",
    channel: "rcs",
    label: t("Carousel"),
    about: t("Cards side by side with the template's own images."),
    takes: rcs(({ kind }) => kind === "carousel"),
    example: { templateName: "new-arrivals", type: "PROMO" },
  },
  {
    id: "chatapp-plain",
    channel: "chatapp",
    label: t("No header, no variables"),
    about: t("A stored text as it is."),
    takes: chat(null, false),
    example: { templateName: "store_opening" },
  },
  {
    id: "chatapp-variables",
    channel: "chatapp",
    label: t("With variables"),
    about: t("A stored text, filled in here."),
    takes: chat(null, true),
    example: { templateName: "order_shipped", params: ["Ada", "4711"] },
  },
  {
    id: "chatapp-text",
    channel: "chatapp",
    label: t("Text header"),
    about: t("With a line of text as header."),
    takes: chat("text", true),
    headerType: "text",
    example: { templateName: "order_status", headerText: "Order 4711", params: ["Ada", "on its way"] },
  },
  {
    id: "chatapp-image",
    channel: "chatapp",
    label: t("Image header"),
    about: t("With an image header: JPG or PNG, up to 5 MB."),
    takes: chat("image", true),
    headerType: "image",
    example: { templateName: "autumn_sale", link: "https://shop.example/autumn.jpg", params: ["Ada", "20%"] },
  },
  {
    id: "chatapp-video",
    channel: "chatapp",
    label: t("Video header"),
    about: t("With a video header: MP4 or 3GP, up to 16 MB."),
    takes: chat("video", true),
    headerType: "video",
    example: { templateName: "how_to_assemble", link: "https://shop.example/shelf.mp4", params: ["Ada"] },
  },
  {
    id: "chatapp-document",
    channel: "chatapp",
    label: t("Document header"),
    about: t("With a document header, such as a PDF, up to 100 MB."),
    takes: chat("document", true),
    headerType: "document",
    example: { templateName: "invoice", link: "https://shop.example/invoice-4711.pdf", params: ["Ada", "4711"] },
  },
  {
    id: "chatapp-location",
    channel: "chatapp",
    label: t("Location header"),
    about: t("With a place on a map as header."),
    takes: (template) => isChat(template) && template.header?.type === "location",
    headerType: "location",
    example: {
      templateName: "parcel_arrived",
      placeName: "The Shop",
      address: "Harbour Street 1",
      params: ["Ada", "4711"],
    },
  },
  {
    id: "chatapp-offer",
    channel: "chatapp",
    label: t("Limited-time offer"),
    about: t("With a code to copy, and the time that is left."),
    takes: (template) => isChat(template) && Boolean(template.offer),
    ownHeader: true,
    example: {
      templateName: "autumn_offer",
      link: "https://shop.example/autumn.jpg",
      params: ["Ada"],
      buttons: ["AUTUMN20", "autumn"],
    },
  },
  {
    id: "chatapp-carousel",
    channel: "chatapp",
    label: t("Carousel of cards"),
    about: t("Cards side by side, each with your own image or video."),
    takes: (template) => isChat(template) && (template.cards ?? []).length > 0,
    example: {
      templateName: "new_coats",
      params: ["Ada"],
      cards: ["wool-coat", "rain-coat"].map((name) => ({
        link: `https://shop.example/${name}.jpg`,
        params: [],
        buttons: [],
      })),
    },
  },
];
