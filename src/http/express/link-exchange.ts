import { JSON_TYPE } from "../envelope.ts";
import { failureOf } from "../failure.ts";
import type { Services } from "../route.ts";
import { answerTo } from "../short-link.ts";
import type { Answer } from "./write-answer.ts";

/** One request for a short link from its code to its answer. Of bytes it knows nothing. */
export class LinkExchange implements Answer {
  status = 0;
  type = JSON_TYPE;
  headers: Answer["headers"] = null;
  text = "";

  /** Once this resolves, the answer is there. */
  async follow(services: Services, code: string, userAgent: string | undefined): Promise<void> {
    try {
      const { status, type, headers, text } = answerTo(await services.links.follow(code, userAgent, "GET"));
      this.type = type;
      this.headers = headers;
      this.text = text;
      this.status = status;
    } catch (error) {
      const { status, headers, text } = failureOf(services, error, "plain");
      this.headers = Object.entries(headers);
      this.text = text;
      this.status = status;
    }
  }
}
