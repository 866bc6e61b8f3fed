import type { AgentClass } from "../model/link.ts";

/** Programs that fetch a link because a person is about to see it: messengers, mail clients, feeds. */
const PREVIEWS = anyOf(
  "whatsapp/", "facebookexternalhit", "facebot", "twitterbot", "slackbot", "slack-imgproxy", "telegrambot", "discordbot",
  "skypeuripreview", "linkedinbot", "applebot", "google-pagerenderer", "safelinks", "ms-office", "redditbot", "mastodon",
  "vkshare", "embedly", "iframely", "preview",
); // prettier-ignore

/** Every other program: crawlers, libraries, monitors. No browser has "http" in its name; Cubot makes phones. */
const BOTS = anyOf(
  "(?<!cu)bot", "crawl", "spider", "slurp", "http", "curl/", "wget/", "python", "java/", "libwww", "^ruby", "^php", "axios/",
  "undici", "^node", "deno/", "postman", "insomnia", "headless", "phantomjs", "lighthouse", "scrapy", "monitor",
); // prettier-ignore

/** An agent that goes on for longer than this is no browser's; the rest is not looked at. */
const LOOK_AT_MOST = 1000;

/** Fixed words and nothing that repeats, so that no agent, however written, takes long. */
function anyOf(...words: readonly string[]): RegExp {
  return new RegExp(words.join("|"), "i");
}

/** Tells people from programs, so that a campaign's clicks are those of its recipients. A program that lies passes for a person. */
export function agentClassOf(userAgent: string | undefined, method: string): AgentClass {
  if (method === "HEAD") return "preview";
  const agent = (userAgent ?? "").slice(0, LOOK_AT_MOST);
  if (PREVIEWS.test(agent)) return "preview";
  return agent.trim() === "" || BOTS.test(agent) ? "bot" : "person";
}
