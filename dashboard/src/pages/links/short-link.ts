/** Response types of short links. */

interface Clicks {
  person: number;
  preview: number;
  bot: number;
}

export interface ShortLink {
  id: string;
  url: string;
  shortUrl: string | null;
  messageId: string | null;
  createdAt: number;
  expiresAt: number;
  recipients: number;
  recipientsClicked: number;
  clicks: Clicks;
  complete: boolean;
}

export interface ShortLinkDetail extends ShortLink {
  from: number;
  to: number;
  bucket: "hour" | "day";
  buckets: readonly { at: number; clicks: Clicks }[];
}

export const LINKS = "/api/links";
