import { readFile } from "node:fs/promises";
import { createHash } from "node:crypto";
import { buildInfo } from "../../build-info.ts";
import type { SmsLimits } from "../../model/message.ts";
import { readBuilt } from "../dashboard-assets/built-file.ts";
import type { Route } from "../route.ts";
import type { OpenApi } from "./document.ts";
import { describeApi } from "./openapi.ts";
import { listOperations, type Placed } from "./operations.ts";
import { CALLBACKS } from "./webhooks.ts";

/** The facts about this server that the documentation shows. */
export interface ServerFacts {
  baseUrl: string;
  limits: SmsLimits;
}

/** Context of every page. */
export interface Site {
  document: OpenApi;
  groups: readonly Group[];
  guides: Guides;
  /** Public base URL without trailing slash. */
  baseUrl: string;
  /** Link to one of our paths, also correct below a proxy's path prefix. */
  href(path: string): string;
  /** Link to a file of the pages, which changes with its content. */
  fileHref(name: PageFile): string;
}

/** The operations under one tag. */
export interface Group {
  id: string;
  name: string;
  description: string;
  operations: readonly Placed[];
  /** Requests sent by the server, not to it. */
  fromUs: boolean;
}

/** Output of `scripts/build-docs.mjs`. */
interface Guides {
  /** By task, in reading order. */
  tasks: readonly { title: string; names: readonly string[] }[];
  guides: readonly Guide[];
}

export interface Guide {
  name: string;
  title: string;
  /** The first sentence. */
  about: string;
  html: string;
  contents: readonly { id: string; title: string }[];
  sections: readonly { id: string; title: string; text: string; words: string }[];
}

const NO_GUIDES: Guides = { tasks: [], guides: [] };

const PAGE_FILES = {
  "style.css": new URL("./style.css", import.meta.url),
  "site.js": new URL("./site.js", import.meta.url),
};

export type PageFile = keyof typeof PAGE_FILES;

export const readPageFile = (name: PageFile): Promise<Buffer> => readFile(PAGE_FILES[name]);

/** Reads the guides and describes the API for one address of this server. */
export async function readSite(routes: readonly Route[], { baseUrl, limits }: ServerFacts): Promise<Site> {
  const document = describeApi(routes, { baseUrl, version: buildInfo.version, limits });
  const built = await readBuilt("docs/", "guides.json");
  const [style, script] = await Promise.all([versionOf("style.css"), versionOf("site.js")]);
  const versions: Readonly<Record<PageFile, string>> = { "style.css": style, "site.js": script };
  const below = new URL(baseUrl).pathname.replace(/\/$/, "");
  return {
    document,
    groups: groupsOf(document),
    guides: built ? (JSON.parse(built.identity.toString("utf8")) as Guides) : NO_GUIDES,
    baseUrl,
    href: (path) => below + path,
    fileHref: (name) => `${below}/docs/${name}?v=${versions[name]}`,
  };
}

const versionOf = async (name: PageFile): Promise<string> =>
  createHash("sha256")
    .update(await readPageFile(name))
    .digest("hex")
    .slice(0, 10);

function groupsOf(document: OpenApi): Group[] {
  const operations = listOperations(document.paths);
  const callbacks = listOperations(document.webhooks);
  return document.tags.map(({ name, description }) => ({
    id: slug(name),
    name,
    description,
    operations: (name === CALLBACKS ? callbacks : operations).filter(({ operation }) => operation.tags.includes(name)),
    fromUs: name === CALLBACKS,
  }));
}

const slug = (name: string): string => name.toLowerCase().replaceAll(/\W+/g, "-");

/** Path of an operation in the reference. */
export const operationPath = ({ groups }: Site, { operation }: Placed): string =>
  `/docs/reference/${groups.find(({ name }) => operation.tags.includes(name))?.id}#${operation.operationId}`;
