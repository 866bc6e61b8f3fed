import { JSON_TYPE } from "../envelope.ts";
import { errorResponse } from "../errors.ts";
import { statusClassOf } from "../measure-requests.ts";
import type { Services } from "../route.ts";
import { linkResponse } from "../short-link.ts";
import type { FastPathResponse } from "./format-response.ts";

/** One request for a short link, from its code to its response. */
export class ShortLinkRequest implements FastPathResponse {
  status = 0;
  contentType = JSON_TYPE;
  headers: FastPathResponse["headers"] = null;
  text = "";

  /** Resolves when the response is ready. */
  async follow(services: Services, code: string, userAgent: string | undefined): Promise<void> {
    const { metrics, clock } = services;
    const startedAt = clock.monotonic();
    try {
      const { status, contentType, headers, text } = linkResponse(await services.links.follow(code, userAgent, "GET"));
      this.contentType = contentType;
      this.headers = headers;
      this.text = text;
      this.status = status;
    } catch (error) {
      const { status, headers, text } = errorResponse(services, error, "plain");
      this.headers = Object.entries(headers);
      this.text = text;
      this.status = status;
    }
    metrics.requestSeconds("link", statusClassOf(this.status)).observe((clock.monotonic() - startedAt) / 1000);
  }
}
