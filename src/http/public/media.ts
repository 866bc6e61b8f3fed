import type { IncomingMessage } from "node:http";
import type { FastifyReply } from "fastify";
import { isUuid } from "../../lib/ids.ts";
import { nullable, Type } from "../../lib/schema.ts";
import { BadForm, boundaryOf, readFormFile } from "../../media/form-file.ts";
import { MEDIA_STATES, MEDIA_TYPES, type StoredMedia } from "../../model/media.ts";
import { Problem, refuseFaults, type Fault } from "../../model/problem.ts";
import { seesTestsOnly } from "../auth/test-mode.ts";
import { readLimit } from "../pagination.ts";
import { choiceParameter, pageParameters, textParameter } from "../parameters.ts";
import type { AuthenticCall, KeyedRoute, OpenRoute, Services } from "../route.ts";

const EXAMPLE_ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";
const NAME_MAX = 200;
const FROM = ["upload", "inbound"] as const;
const DISPOSITIONS = ["attachment", "inline"] as const;
const RETRY_SECONDS = 5;

/** The bytes come from users: they are no document of this server, and no script in them runs. */
const CONTENT_HEADERS = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; sandbox",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
};

/** Kinds that a page shows in place; all others are downloads. */
const SHOWN = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

export function mediaView(media: StoredMedia, baseUrl: string): object {
  const { id, state, type, size, sha256, name, test, inboundId, failure, createdAt, expiresAt } = media;
  const isReady = state === "ready";
  return {
    id,
    state,
    kind: MEDIA_TYPES[type]?.kind ?? null,
    type,
    size: isReady ? size : null,
    sha256: isReady ? sha256 : null,
    name,
    test,
    inboundId,
    failure,
    url: mediaUrl(baseUrl, id),
    createdAt,
    expiresAt,
  };
}

/** URL of the bytes for a client with a key. */
const mediaUrl = (baseUrl: string, id: string): string => `${baseUrl}/v1/media/${id}/content`;

async function find({ store }: Services, { params, caller }: AuthenticCall): Promise<StoredMedia> {
  const { id = "" } = params;
  const media = isUuid(id) ? await store.findMedia({ accountId: caller.account.id, id }) : null;
  if (!media || (seesTestsOnly(caller) && !media.test))
    throw new Problem("RECORD_NOT_FOUND", { message: "There is no media with this id." });
  return media;
}

async function upload(services: Services, call: AuthenticCall): Promise<object> {
  const { media, baseUrl } = services;
  const { caller, request, reply, query } = call;
  const contentType = request.headers["content-type"] ?? "";
  const stream = call.body as IncomingMessage | undefined;
  if (stream === undefined)
    throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "file", message: "Send the file as the body." }] });
  const boundary = boundaryOf(contentType);
  const announced = Number(request.headers["content-length"] ?? 0);
  const common = { accountId: caller.account.id, test: seesTestsOnly(caller), announced };
  try {
    const form = boundary === null ? null : await readFormFile(stream, boundary);
    const { media: stored, isNew } = await media.upload({
      ...common,
      source: form ? form.body : stream,
      declared: form ? form.type : contentType,
      parameter: form ? "file" : "Content-Type",
      name: readName(query.name ?? form?.name ?? null),
    });
    void reply.code(isNew ? 201 : 200);
    return mediaView(stored, baseUrl());
  } catch (error) {
    if (!(error instanceof BadForm)) throw error;
    throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "file", message: error.message }] });
  }
}

/** The last part of a path, as some browsers send it, without control characters. */
function readName(written: string | null): string | null {
  const last = written?.split(/[/\\]/).at(-1) ?? "";
  const name = last
    .replaceAll(/\p{Cc}/gu, "")
    .trim()
    .toWellFormed();
  return name === "" ? null : name.slice(-NAME_MAX);
}

async function list({ store, baseUrl }: Services, { query, caller }: AuthenticCall): Promise<object> {
  const faults: Fault[] = [];
  const limit = readLimit(query, faults);
  const from = FROM.find((known) => known === query.from);
  if (query.from !== undefined && !from)
    faults.push({ parameter: "from", message: `from is one of ${FROM.join(", ")}.` });
  if (query.cursor !== undefined && !isUuid(query.cursor))
    faults.push({ parameter: "cursor", message: "cursor is the nextCursor of an earlier response." });
  refuseFaults(faults);
  const filter = { ...(seesTestsOnly(caller) && { test: true as const }), ...(from && { from }) };
  const { rows, next } = await store.listMedia(caller.account.id, filter, query.cursor ?? null, limit);
  return { data: rows.map((each) => mediaView(each, baseUrl())), nextCursor: next };
}

async function content(services: Services, call: AuthenticCall): Promise<unknown> {
  const { disposition } = call.query;
  if (disposition !== undefined && !DISPOSITIONS.some((known) => known === disposition))
    throw new Problem("INVALID_REQUEST", {
      faults: [{ parameter: "disposition", message: `disposition is one of ${DISPOSITIONS.join(", ")}.` }],
    });
  const media = await find(services, call);
  const isShown = disposition === "inline" && SHOWN.has(media.type);
  return sendContent(services, call.reply, media, isShown ? "inline" : "attachment");
}

async function sendContent(
  { media: library }: Services,
  reply: FastifyReply,
  media: StoredMedia,
  disposition: "inline" | "attachment",
): Promise<unknown> {
  if (media.state !== "ready")
    throw new Problem("MEDIA_NOT_READY", media.state === "pending" ? { retryAfterSeconds: RETRY_SECONDS } : {});
  const found = await library.read(media);
  if (!found) throw new Problem("MEDIA_NOT_READY", { message: "The storage does not have the bytes of this file." });
  const named =
    media.name === null ? "" : `; filename*=UTF-8''${encodeURIComponent(media.name).replaceAll("'", "%27")}`;
  void reply
    .headers(CONTENT_HEADERS)
    .header("content-disposition", `${disposition}${named}`)
    .header("cache-control", "private, max-age=3600")
    .header("content-length", found.bytes)
    .type(media.type);
  return reply.send(found.body);
}

export const MediaView = Type.Object(
  {
    id: Type.String({ format: "uuid", description: "Media ID, the `mediaId` of messages." }),
    state: Type.Union(
      MEDIA_STATES.slice(0, 4).map((state) => Type.Literal(state)),
      {
        description:
          "`ready`; of a user's file also `pending` while it is fetched from the platform, and `failed` if that did not work.",
      },
    ),
    kind: nullable(Type.String(), "image, video, document, audio or sticker; null for another type of a user's file."),
    type: Type.String({ description: "Content type, by the content." }),
    size: nullable(Type.Integer(), "Bytes; null until the file is ready."),
    sha256: nullable(Type.String(), "SHA-256 of the content in hexadecimal; null until the file is ready."),
    name: nullable(Type.String(), "File name, if there is one."),
    test: Type.Boolean({ description: "True if a test key uploaded it, or a phone of test messages sent it." }),
    inboundId: nullable(Type.String({ format: "uuid" }), "Inbound message that brought it; null for an upload."),
    failure: nullable(Type.String(), "Why a user's file could not be fetched."),
    url: Type.String({ format: "uri", description: "URL of the content. It needs a key." }),
    createdAt: Type.Integer({ description: "Epoch milliseconds." }),
    expiresAt: nullable(
      Type.Integer(),
      "When it is removed, unless it is uploaded or used again; null for a user's file, which is kept as long as its message.",
    ),
  },
  { title: "Media", description: "A file: an upload, or the copy of what a user sent." },
);

const example = {
  id: EXAMPLE_ID,
  state: "ready",
  kind: "image",
  type: "image/jpeg",
  size: 48_213,
  sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  name: "autumn.jpg",
  test: false,
  inboundId: null,
  failure: null,
  url: `https://sms.example.com/v1/media/${EXAMPLE_ID}/content`,
  createdAt: 1767225600000,
  expiresAt: 1775001600000,
};

const changing = { family: "plain", scope: "chatapp", testKeys: "chatapp", group: "Media" } as const;
const reading = { method: "GET", family: "plain", scope: "read", testKeys: "read", group: "Media" } as const;
const ofOne = {
  params: { id: { meaning: "Media ID.", example: EXAMPLE_ID } },
  problems: ["RECORD_NOT_FOUND"],
} as const;

export const mediaRoutes: readonly KeyedRoute[] = [
  {
    ...changing,
    method: "POST",
    path: "/v1/media",
    summary: "Upload a file",
    description:
      "Stores a file for messages: as the whole body with its `Content-Type`, or as the first file of a form (`multipart/form-data`). The type is checked by the content. The same content again returns the same media, with 200 instead of 201.",
    status: 201,
    upload: Object.keys(MEDIA_TYPES),
    query: { name: textParameter("File name, for a body without a form.", "autumn.jpg") },
    problems: [
      "INVALID_REQUEST",
      "MEDIA_TYPE_UNSUPPORTED",
      "MEDIA_TOO_LARGE",
      "MEDIA_FULL",
      "MEDIA_STORAGE_MISSING",
      "STORAGE_FULL",
      "OVERLOADED",
    ],
    response: MediaView,
    responseExample: example,
    otherResponses: {
      200: {
        description: "The account has this content already.",
        contentType: "application/json",
        schema: MediaView,
        example,
      },
    },
    handle: upload,
  },
  {
    ...reading,
    path: "/v1/media",
    summary: "List media",
    description: "Lists the files of the account, newest first. A test key sees those of test keys.",
    query: {
      from: { ...choiceParameter(FROM, "Only uploads, or only files of users."), example: "upload" },
      ...pageParameters(EXAMPLE_ID),
    },
    response: Type.Object({
      data: Type.Array(MediaView, { description: "Media on this page." }),
      nextCursor: nullable(Type.String(), "Cursor of the next page; null on the last page."),
    }),
    responseExample: { data: [example], nextCursor: null },
    handle: list,
  },
  {
    ...reading,
    ...ofOne,
    path: "/v1/media/:id",
    summary: "Get media",
    description: "Returns what is known about a file.",
    response: MediaView,
    responseExample: example,
    handle: async (services, call) => mediaView(await find(services, call), services.baseUrl()),
  },
  {
    ...reading,
    ...ofOne,
    path: "/v1/media/:id/content",
    summary: "Download media",
    description: "Returns the bytes of a file, as a download. No script in them runs in a browser.",
    query: {
      disposition: {
        ...choiceParameter(DISPOSITIONS, "inline shows a picture in place; other types stay downloads."),
        example: "attachment",
      },
    },
    problems: ["RECORD_NOT_FOUND", "MEDIA_NOT_READY", "MEDIA_STORAGE_MISSING"],
    contentType: "*/*",
    response: Type.String({ format: "binary", description: "The content." }),
    responseExample: "",
    handle: content,
  },
  {
    ...changing,
    ...ofOne,
    method: "DELETE",
    path: "/v1/media/:id",
    summary: "Delete media",
    description:
      "Deletes a file and returns what it was. Messages that are not sent yet and need it fail. Platforms keep their copies for the time of their own.",
    response: MediaView,
    responseExample: example,
    handle: async (services, call) => {
      const media = await find(services, call);
      await services.media.remove(media);
      return mediaView(media, services.baseUrl());
    },
  },
];

/** Platforms fetch media here by a signed URL that is valid for a short time. */
export const signedMedia: OpenRoute = {
  method: "GET",
  path: "/media/:token",
  family: "plain",
  scope: null,
  hidden: true,
  group: "Media",
  summary: "Fetch media by a signed URL",
  description:
    "Returns the bytes of a file to a platform that sends or shows it. The URL is signed and expires; there is no list. Any other URL is 404.",
  params: { token: { meaning: "Signed token of a URL that the server made." } },
  problems: ["ROUTE_NOT_FOUND"],
  contentType: "*/*",
  response: Type.String({ format: "binary", description: "The content." }),
  responseExample: "",
  handle: async (services, { params, reply }) => {
    const ref = services.mediaTokens.read(params.token ?? "", services.clock.now());
    const media = ref && (await services.store.findMedia(ref));
    if (media?.state !== "ready") throw new Problem("ROUTE_NOT_FOUND");
    return sendContent(services, reply, media, "attachment");
  },
};
