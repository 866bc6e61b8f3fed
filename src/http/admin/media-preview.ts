import { Type } from "../../lib/schema.ts";
import { Problem } from "../../model/problem.ts";
import { textParameter } from "../parameters.ts";
import type { PersonalRoute } from "../route.ts";

const LINK_MAX = 2000;
const LINK_RULE = `url is an address that starts with http:// or https://, at most ${LINK_MAX} characters.`;

const isLink = (url: string | undefined): url is string =>
  url !== undefined && url.length <= LINK_MAX && /^https?:\/\//i.test(url) && URL.canParse(url);

/** The bytes come from another server: they are shown as a picture, and never as a document of this one. */
const HEADERS = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; sandbox",
  "cross-origin-resource-policy": "same-origin",
  "content-disposition": "inline",
  "cache-control": "private, max-age=60",
};

export const previewMedia: PersonalRoute = {
  method: "GET",
  path: "/api/media-preview",
  family: "plain",
  scope: null,
  personal: true,
  hidden: true,
  group: "Messages",
  summary: "Show a picture of another server",
  description:
    "Fetches a picture for the dashboard, so that its host does not learn who looks at a page. Only addresses that outgoing " +
    "requests may go to are asked, redirects are not followed, and only PNG, JPEG, GIF and WebP of at most 2 MB are passed " +
    "on; the answer is kept for a minute. 204 if there is no such picture.",
  query: { url: { ...textParameter("Address of the picture.", "https://shop.example/autumn.jpg"), required: true } },
  contentType: "image/*",
  response: Type.String({ format: "binary", description: "The picture." }),
  responseExample: "",
  handle: async ({ images }, { query: { url }, request, reply }) => {
    // A link on another site must not make this server ask an address of its network (CSRF).
    const site = request.headers["sec-fetch-site"];
    if (site !== undefined && site !== "same-origin") return reply.code(204).send();
    if (!isLink(url)) throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "url", message: LINK_RULE }] });
    const picture = await images.fetch(url);
    // Not 404: a template whose picture is not there yet is no failure of the page.
    if (!picture) return reply.code(204).send();
    return reply.headers(HEADERS).type(picture.type).send(picture.bytes);
  },
};
