// Written by `npm run build:sdk -- --types` from the OpenAPI document. Changes belong in the server's schemas.

/** Codes of this version of the server. */
export type ErrorCode =
  | "ACCOUNT_SUSPENDED"
  | "AGENT_LIMIT"
  | "AGENT_SEND_OVER"
  | "AUDIENCE_FILE_GONE"
  | "BODY_TOO_LARGE"
  | "BOT_NOT_FOUND"
  | "CAMPAIGN_CANCELLED"
  | "CAMPAIGN_STATE"
  | "CONFIG_NOT_FOUND"
  | "CONTACT_EXISTS"
  | "COUNTRY_NOT_ALLOWED"
  | "CSRF_REFUSED"
  | "IDEMPOTENCY_IN_PROGRESS"
  | "IDEMPOTENCY_MISMATCH"
  | "INSUFFICIENT_CREDITS"
  | "INSUFFICIENT_ROLE"
  | "INSUFFICIENT_SCOPE"
  | "INTERNAL"
  | "INVALID_JSON"
  | "INVALID_RECIPIENT"
  | "INVALID_REQUEST"
  | "INVITATION_INVALID"
  | "IP_NOT_ALLOWED"
  | "LAST_OWNER"
  | "LOGIN_FAILED"
  | "LOGIN_LOCKED"
  | "LOGIN_REQUIRED"
  | "MEDIA_FULL"
  | "MEDIA_NOT_FOUND"
  | "MEDIA_NOT_READY"
  | "MEDIA_STORAGE_MISSING"
  | "MEDIA_TOO_LARGE"
  | "MEDIA_TYPE_UNSUPPORTED"
  | "MESSAGE_NOT_FOUND"
  | "MESSAGE_TOO_LONG"
  | "METHOD_NOT_ALLOWED"
  | "NAME_TAKEN"
  | "NOT_CANCELLABLE"
  | "NOT_MARKED"
  | "NOT_RESENDABLE"
  | "OTP_ALREADY_VERIFIED"
  | "OTP_ATTEMPTS_EXHAUSTED"
  | "OTP_EXPIRED"
  | "OTP_INCORRECT"
  | "OTP_SEND_LIMIT"
  | "OTP_SUPERSEDED"
  | "OVERLOADED"
  | "PARAMS_MISMATCH"
  | "PASSWORD_CHANGE_REQUIRED"
  | "PASSWORD_INCORRECT"
  | "QUERY_QUEUE_FULL"
  | "QUERY_TIMED_OUT"
  | "RATE_LIMITED"
  | "RECIPIENT_BLOCKED"
  | "RECIPIENT_OPTED_OUT"
  | "RECORD_IN_USE"
  | "RECORD_NOT_FOUND"
  | "ROUTE_NOT_FOUND"
  | "SENDER_NOT_REGISTERED"
  | "SERVICE_HELD"
  | "SESSION_CLOSED"
  | "SHORT_LINK_MISMATCH"
  | "STORAGE_FULL"
  | "STORAGE_UNAVAILABLE"
  | "TEMPLATE_KIND_MISMATCH"
  | "TEMPLATE_NOT_FOUND"
  | "TEMPLATE_REFUSED"
  | "TEST_KEY_NOT_ALLOWED"
  | "TEXT_TEMPLATE_MISMATCH"
  | "TOO_MANY_AUDIENCES"
  | "TOO_MANY_CAMPAIGNS"
  | "TOO_MANY_RECIPIENTS"
  | "TOO_MANY_STREAMS"
  | "TOTP_ALREADY_ON"
  | "TOTP_INCORRECT"
  | "TOTP_REQUIRED"
  | "UNAUTHORIZED"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "UNSUPPORTED_TYPE"
  | "UPLOAD_OFFSET_MISMATCH"
  | "VERIFICATION_NOT_FOUND";

export interface Audience {
  /** Audience ID. */
  id: string;
  /** Its name. */
  name: string;
  /** True if it was created with a test key. */
  test: boolean;
  /** Segment whose contacts it has, as they were at its creation; null for a file. */
  segment: string | null;
  /** uploading: parts are missing. checking: rows are read. ready: it can be sent to. failed: `failure` has the reason. */
  state: "uploading" | "checking" | "ready" | "failed";
  /** Bytes of the file. */
  size: number;
  /** Bytes that were uploaded: the offset of the next part. */
  received: number;
  /** Bytes that were checked. */
  checked: number;
  /** Chosen sheet of a workbook; null for the first visible one. */
  sheet: string | null;
  /** Visible sheets of a workbook; null for CSV, and until it is read. */
  sheets: string[] | null;
  /** Columns of the file; null until its first row is read. */
  columns: string[] | null;
  /** The columns that are used; null until they are recognised. */
  mapping: {
    /** Column of the phone number. */
    number: string;
    /** Variables by name, each with its column. */
    variables: {
      [name: string]: string;
    };
  } | null;
  /** Rows that were checked, without the header and empty rows. */
  rows: number;
  /** Distinct numbers. */
  recipients: number;
  /** Rows with a fault. */
  faults: number;
  /** Rows whose number an earlier row has; they are left out. */
  duplicates: number;
  /** Recipients that are on the opt-out list. They get no PROMO messages. */
  optedOut: number;
  /** Reason why the file cannot be used; null otherwise. */
  failure: {
    /** Reason. */
    code:
      | "EMPTY"
      | "SPREADSHEET"
      | "SPREADSHEET_TOO_LARGE"
      | "UNKNOWN_SHEET"
      | "NOT_UTF8"
      | "NO_NUMBER_COLUMN"
      | "UNKNOWN_COLUMN"
      | "TOO_MANY_COLUMNS"
      | "TOO_MANY_ROWS"
      | "ROW_TOO_LONG"
      | "NO_CONTACTS"
      | "UNENDED_QUOTE";
    /** Reason and fix. */
    message: string;
  } | null;
  /** Epoch milliseconds. */
  createdAt: number;
  /** End of the check; null before. */
  endedAt: number | null;
  /** Until when the columns can be mapped again; null before the check has ended and once the file is removed. */
  fileUntil: number | null;
}

export interface AudienceRequest {
  /** Name of the audience. */
  name: string;
  /** Bytes of the file. */
  size?: number | undefined;
  /** Sheet of a workbook (XLSX) by its name; null for the first visible one. */
  sheet?: string | null | undefined;
  /** The columns of the file. Without it they are recognised. */
  mapping?:
    | {
        /** Column of the phone number, by its name in the first row; by its place from 1 without a header. */
        number: string;
        /** Variables by name, each with its column, at most 50. Without it, every other column is a variable under its own name. */
        variables?:
          | {
              [name: string]: string;
            }
          | undefined;
      }
    | undefined;
  /** Name of a segment, whose contacts are copied, instead of a file. */
  segment?: string | undefined;
}

export interface CampaignDetails {
  /** Campaign ID. */
  id: string;
  /** Its name, the `campaignName` of its messages. */
  name: string;
  /** True if it was created with a test key: it goes to the simulator. */
  test: boolean;
  /** Channel; with ways, that of the first one. */
  channel: "sms" | "rcs" | "chatapp";
  /** draft: it can be changed. scheduled: it starts at `scheduledAt`. running: recipients are fed, or messages wait to be sent. paused: `failure` has the reason if it paused by itself. finished: no message waits to be sent. cancelled: it was stopped for good. */
  state: "draft" | "scheduled" | "running" | "paused" | "finished" | "cancelled";
  /** TRANS or PROMO. */
  type: string;
  /** Sender; with ways, that of the first one. */
  sender: string;
  /** Text; null with a template or ways. */
  text: string | null;
  /** Template; null with a text or ways. */
  templateId: string | null;
  /** Values of the template's variables; null with a text or ways. */
  custom: string[] | null;
  /** Short links in the text; null for none. */
  shortenUrlData: {
    /** True. */
    shortenUrl: boolean;
    /** Addresses of the links, in the order of the text. */
    targetUrl: string[];
  } | null;
  /** Channels in order with their content; null for a text or a template. */
  ways:
    | {
        /** Channel. */
        channel: "sms" | "rcs" | "chatapp";
        /** Originator or alphanumeric sender id. */
        sender?: string | undefined;
        /** The message. At most 1,600 characters and 12 segments. Required unless a template is filled in by `templateId` and `custom`. */
        text?: string | undefined;
        /** The template to fill in with `custom`, or that the finished `text` must match. */
        templateId?: string | undefined;
        /** One value per variable of the template, in order; empty if it has none. `text` is then not used. */
        custom?: (string | number)[] | undefined;
        /** 1 always sends the text as Unicode; 0 refuses a text that needs Unicode. Echoed in the response. */
        unicode?: 0 | 1 | undefined;
        /** 1 shows the message directly on the screen (flash SMS). Echoed in the response. */
        flash?: 0 | 1 | undefined;
        /** The business number, with country code and plus: `+<country code><number>`. */
        from?: string | undefined;
        /** The template to send. */
        templateName?: string | undefined;
        /** Language of the template. Left out, that of the recipient's contact, then of the account. A template without it is sent in its closest language. */
        language?: string | undefined;
        /** Values and header; left out when the template has neither variables nor a header. */
        components?:
          | {
              /** The template's body. */
              body: {
                /** One value per placeholder of the template, in order; empty if it has none. Never null. Required unless `values` is given. */
                params?: string[] | undefined;
                /** In place of `params` where the template's variables have names: each name with its value. */
                values?:
                  | {
                      [name: string]: string;
                    }
                  | undefined;
              };
              /** The template's header; left out when it has none. */
              header?:
                | {
                    /** Type of the header, which must be that of the template. */
                    type: "text" | "image" | "video" | "document" | "location";
                    /** Required when type is text, and only then. */
                    text?: string | undefined;
                    /** Required when type is image, and only then. */
                    image?:
                      | {
                          /** URL (http or https) of the image: jpg, jpeg or png of at most 5 MB. Required unless `mediaId` is given. */
                          link?: string | undefined;
                          /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                          mediaId?: string | undefined;
                        }
                      | undefined;
                    /** Required when type is video, and only then. */
                    video?:
                      | {
                          /** URL (http or https) of the video: mp4 or 3gp of at most 16 MB. Required unless `mediaId` is given. */
                          link?: string | undefined;
                          /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                          mediaId?: string | undefined;
                        }
                      | undefined;
                    /** Required when type is document, and only then. */
                    document?:
                      | {
                          /** URL (http or https) of the document: pdf, doc, docx, xls, xlsx, ppt, pptx or txt of at most 100 MB. Required unless `mediaId` is given. */
                          link?: string | undefined;
                          /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                          mediaId?: string | undefined;
                        }
                      | undefined;
                    /** Required when type is location, and only then. */
                    location?:
                      | {
                          /** Latitude in degrees. */
                          latitude: number;
                          /** Longitude in degrees. */
                          longitude: number;
                          /** Name of the place. */
                          name: string;
                          /** Address of the place. */
                          address: string;
                        }
                      | undefined;
                  }
                | undefined;
              /** Values of the template's buttons. A link with a variable and a copy-code button need one. */
              buttons?:
                | {
                    /** Place of the button in the template, from 0. */
                    index: number;
                    /** Link: value of the variable at the end of its URL. */
                    text?: string | undefined;
                    /** Quick reply: comes back when it is tapped. */
                    payload?: string | undefined;
                    /** Copy-code button: the code that it copies. */
                    code?: string | undefined;
                    /** Form (a flow): comes back with its answers. */
                    flowToken?: string | undefined;
                    /** Form: data of its first screen, at most 5000 characters as JSON. */
                    data?:
                      | {
                          [name: string]: unknown;
                        }
                      | undefined;
                    /** Catalogue: product whose picture is shown. */
                    productId?: string | undefined;
                  }[]
                | undefined;
              /** The end of a limited-time offer; left out where the template shows none. */
              offer?:
                | {
                    /** When the offer ends: epoch milliseconds, or ISO 8601 with its zone. Phones show the time that is left. */
                    expiresAt: number | string;
                  }
                | undefined;
              /** The cards of a carousel, in order. Each has the image or video of its header. */
              cards?:
                | {
                    /** The template's header; left out when it has none. */
                    header: {
                      /** Type of the header, which must be that of the template. */
                      type: "text" | "image" | "video" | "document" | "location";
                      /** Required when type is text, and only then. */
                      text?: string | undefined;
                      /** Required when type is image, and only then. */
                      image?:
                        | {
                            /** URL (http or https) of the image: jpg, jpeg or png of at most 5 MB. Required unless `mediaId` is given. */
                            link?: string | undefined;
                            /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                            mediaId?: string | undefined;
                          }
                        | undefined;
                      /** Required when type is video, and only then. */
                      video?:
                        | {
                            /** URL (http or https) of the video: mp4 or 3gp of at most 16 MB. Required unless `mediaId` is given. */
                            link?: string | undefined;
                            /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                            mediaId?: string | undefined;
                          }
                        | undefined;
                      /** Required when type is document, and only then. */
                      document?:
                        | {
                            /** URL (http or https) of the document: pdf, doc, docx, xls, xlsx, ppt, pptx or txt of at most 100 MB. Required unless `mediaId` is given. */
                            link?: string | undefined;
                            /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                            mediaId?: string | undefined;
                          }
                        | undefined;
                      /** Required when type is location, and only then. */
                      location?:
                        | {
                            /** Latitude in degrees. */
                            latitude: number;
                            /** Longitude in degrees. */
                            longitude: number;
                            /** Name of the place. */
                            name: string;
                            /** Address of the place. */
                            address: string;
                          }
                        | undefined;
                    };
                    /** Values of the card's text. */
                    body?:
                      | {
                          /** One value per placeholder of the template, in order; empty if it has none. Never null. Required unless `values` is given. */
                          params?: string[] | undefined;
                          /** In place of `params` where the template's variables have names: each name with its value. */
                          values?:
                            | {
                                [name: string]: string;
                              }
                            | undefined;
                        }
                      | undefined;
                    /** Values of the template's buttons. A link with a variable and a copy-code button need one. */
                    buttons?:
                      | {
                          /** Place of the button in the template, from 0. */
                          index: number;
                          /** Link: value of the variable at the end of its URL. */
                          text?: string | undefined;
                          /** Quick reply: comes back when it is tapped. */
                          payload?: string | undefined;
                          /** Copy-code button: the code that it copies. */
                          code?: string | undefined;
                          /** Form (a flow): comes back with its answers. */
                          flowToken?: string | undefined;
                          /** Form: data of its first screen, at most 5000 characters as JSON. */
                          data?:
                            | {
                                [name: string]: unknown;
                              }
                            | undefined;
                          /** Catalogue: product whose picture is shown. */
                          productId?: string | undefined;
                        }[]
                      | undefined;
                  }[]
                | undefined;
            }
          | undefined;
        /** The bot that sends. */
        botId?: string | undefined;
        /** One item with `params` for a text with variables, or one item with `fileUrl` per card; left out, the template is sent as it is. */
        content?:
          | {
              /** One value per placeholder of the text, in order; empty if it has none. Never null. */
              params?: string[] | undefined;
              /** Public URL (http or https) of the card's image or video. */
              fileUrl?: string | undefined;
              /** Uploaded media (`POST /v1/media`), in the place of `fileUrl`. */
              mediaId?: string | undefined;
            }[]
          | undefined;
      }[]
    | null;
  /** Seconds to wait for a delivery on one channel before the next one; null without ways. */
  moveOnAfterSeconds: number | null;
  /** Audience that gets it. */
  audienceId: string;
  /** Most messages in an hour; null for no limit. */
  throttle: number | null;
  /** Hours in which recipients are accepted; null for all. */
  window: {
    /** Begin. */
    from: string;
    /** End. */
    to: string;
    /** Time zone. */
    zone: string;
  } | null;
  /** Start in epoch milliseconds; null for a start by hand. */
  scheduledAt: number | null;
  /** Recipients whose message was accepted. */
  accepted: number;
  /** Recipients without a message; the report has the reasons. */
  skipped: number;
  /** Reason why it paused by itself; null otherwise. Messages that were accepted before are still sent. */
  failure: {
    /** Error code. */
    code: string;
    /** Reason. */
    message: string;
  } | null;
  /** Epoch milliseconds. */
  createdAt: number;
  /** Time of the start; null before. */
  startedAt: number | null;
  /** Time at which it finished or was cancelled; null before. */
  endedAt: number | null;
}

export interface CampaignPreview {
  /** Total price. Recipients that would fail cost nothing. */
  credits: number;
  /** Credits of the account; null if it is not metered. */
  balance: number | null;
  /** False if the send would get 402 for lack of credits. */
  affordable: boolean;
  /** Policies that would refuse the message for a real carrier. For the simulator they are only reported. */
  wouldRefuse: string[];
  /** The first recipients of the audience who would get a message. */
  recipients: {
    /** Row of the audience's file. */
    row: number;
    /** The recipient's number, normalised. */
    recipient: string;
    /** Reason why the message to this recipient would fail; null if it would be sent. */
    failure: string | null;
    /** Price of the message to this recipient. */
    credits: number;
    /** Earliest time of sending in epoch milliseconds; null if it would be sent at once. */
    heldUntil: number | null;
    /** Policy decisions. */
    verdicts: {
      /** Name of the policy. */
      policy: string;
      /** passed, held, refused or noted. */
      verdict: string;
      /** Reason of the decision. */
      detail: string;
    }[];
    /** Matching routes by priority. Of routes with the same priority, the one with the greatest weight comes first. */
    routes: {
      /** Name of the route. */
      name: string;
      /** Carrier of the route. */
      carrier: string;
    }[];
    /** The message on each channel, in their order. */
    ways: {
      /** Channel. */
      channel: "sms" | "rcs" | "chatapp";
      /** Sender. */
      sender: string;
      /** Text with the recipient's values. Codes of short links are zeros. */
      text: string;
      /** Number of SMS segments; null on other channels. */
      segments: number | null;
      /** Matching routes by priority. Of routes with the same priority, the one with the greatest weight comes first. */
      routes: {
        /** Name of the route. */
        name: string;
        /** Carrier of the route. */
        carrier: string;
      }[];
    }[];
  }[];
  /** Rows among the first recipients that would get no message. */
  skipped: {
    /** Row of the audience's file. */
    row: number;
    /** Reason. */
    code: "MESSAGE_TOO_LONG" | "TEXT_EMPTY" | "VALUE_REFUSED";
    /** The same as text. */
    message: string;
  }[];
}

export interface CampaignReport {
  /** Campaign ID. */
  id: string;
  /** Its name. */
  name: string;
  /** Its state. */
  state: "draft" | "scheduled" | "running" | "paused" | "finished" | "cancelled";
  /** Recipients of its audience now; null if the audience is gone. */
  recipients: number | null;
  /** Recipients whose message was accepted. */
  accepted: number;
  /** Recipients without a message. */
  skipped: number;
  /** Message counts by status: Pending, Delivered, Failed. */
  counts: {
    [name: string]: number;
  };
  /** Message counts by internal state. */
  states: {
    [name: string]: number;
  };
  /** Step of the series. */
  step: "minute" | "10m" | "hour" | "day";
  /** Counts by step from the start on, oldest first, for at most 400 steps. Empty steps are omitted. */
  series: {
    /** Start of the step (UTC), in epoch milliseconds. */
    at: number;
    /** Accepted messages, whatever their outcome. */
    accepted: number;
    /** Messages taken by a carrier. */
    sent: number;
    /** Delivered messages. */
    delivered: number;
    /** Messages that ended undelivered, including those refused at once. */
    failed: number;
    /** Messages read, on channels with read reports. */
    read: number;
  }[];
  /** Counts of each carrier, the largest first. */
  carriers: {
    /** Name of the carrier; null for messages that failed before any carrier had them. */
    name: string | null;
    /** Messages taken by a carrier. A message that failed over counts for each. */
    sent: number;
    /** Delivered messages. */
    delivered: number;
    /** Messages that ended undelivered, including those refused at once. */
    failed: number;
    /** Messages read, on channels with read reports. */
    read: number;
    /** Delivered messages as a share of sent ones. From 0 to 1; null if there are none. */
    deliveryRate: number | null;
  }[];
  /** Failure reasons, the most frequent first. */
  failures: FailureReason[];
  /** Clicks on the short links of the text; null without links. */
  clicks: {
    /** Recipients with a link, once for each link in the text. */
    recipients: number;
    /** Recipients whose link a person has followed. */
    recipientsClicked: number;
    /** Clicks by people. */
    person: number;
    /** Clicks by apps that show a preview of the link. */
    preview: number;
    /** Clicks by other programs. */
    bot: number;
  } | null;
  /** Recipients who opted out by a reply within a week. The last campaign that reached them counts it. */
  optedOut: number;
  /** Recipients without a message by reason. */
  skips: {
    [name: string]: number;
  };
  /** The first 100 recipients without a message. */
  skippedRows: {
    /** Row of the audience's file. */
    row: number;
    /** Reason. */
    code: "MESSAGE_TOO_LONG" | "TEXT_EMPTY" | "VALUE_REFUSED";
    /** The same as text. */
    message: string;
  }[];
  /** Time of the start; null before. */
  startedAt: number | null;
  /** Time at which it finished or was cancelled; null before. */
  endedAt: number | null;
}

export interface CampaignRequest {
  /** Name of the campaign, unique in the account. It is the `campaignName` of its messages. */
  name: string;
  /** Channel of the text or template; left out with ways. */
  channel?: "sms" | undefined;
  /** Route type. PROMO respects opt-outs and quiet hours. */
  type: "TRANS" | "PROMO";
  /** Originator or alphanumeric sender id. */
  sender?: string | undefined;
  /** Id of the audience that gets it. */
  audienceId: string;
  /** Text with variables of the audience as placeholders, such as `{{first name}}`; null with a template. */
  text?: string | null | undefined;
  /** Template to fill in with `custom`, instead of `text`. */
  templateId?: string | null | undefined;
  /** One value per variable of the template, in order, each with variables of the audience as placeholders. */
  custom?: (string | number)[] | null | undefined;
  /** Short links in `text`, one code per recipient, so that the report counts clicks. The text carries `{SORT}` inside each link. */
  shortenUrlData?:
    | {
        /** True shortens the links. */
        shortenUrl: boolean;
        /** URLs (http or https). The k-th `{SORT}` in the text becomes the code of the k-th URL. */
        targetUrl?: string[] | undefined;
      }
    | null
    | undefined;
  /** Channels in order with their content, instead of sender and text; null for SMS. */
  ways?:
    | {
        /** Channel. */
        channel: "sms" | "rcs" | "chatapp";
        /** Originator or alphanumeric sender id. */
        sender?: string | undefined;
        /** The message. At most 1,600 characters and 12 segments. Required unless a template is filled in by `templateId` and `custom`. */
        text?: string | undefined;
        /** The template to fill in with `custom`, or that the finished `text` must match. */
        templateId?: string | undefined;
        /** One value per variable of the template, in order; empty if it has none. `text` is then not used. */
        custom?: (string | number)[] | undefined;
        /** 1 always sends the text as Unicode; 0 refuses a text that needs Unicode. Echoed in the response. */
        unicode?: 0 | 1 | undefined;
        /** 1 shows the message directly on the screen (flash SMS). Echoed in the response. */
        flash?: 0 | 1 | undefined;
        /** The business number, with country code and plus: `+<country code><number>`. */
        from?: string | undefined;
        /** The template to send. */
        templateName?: string | undefined;
        /** Language of the template. Left out, that of the recipient's contact, then of the account. A template without it is sent in its closest language. */
        language?: string | undefined;
        /** Values and header; left out when the template has neither variables nor a header. */
        components?:
          | {
              /** The template's body. */
              body: {
                /** One value per placeholder of the template, in order; empty if it has none. Never null. Required unless `values` is given. */
                params?: string[] | undefined;
                /** In place of `params` where the template's variables have names: each name with its value. */
                values?:
                  | {
                      [name: string]: string;
                    }
                  | undefined;
              };
              /** The template's header; left out when it has none. */
              header?:
                | {
                    /** Type of the header, which must be that of the template. */
                    type: "text" | "image" | "video" | "document" | "location";
                    /** Required when type is text, and only then. */
                    text?: string | undefined;
                    /** Required when type is image, and only then. */
                    image?:
                      | {
                          /** URL (http or https) of the image: jpg, jpeg or png of at most 5 MB. Required unless `mediaId` is given. */
                          link?: string | undefined;
                          /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                          mediaId?: string | undefined;
                        }
                      | undefined;
                    /** Required when type is video, and only then. */
                    video?:
                      | {
                          /** URL (http or https) of the video: mp4 or 3gp of at most 16 MB. Required unless `mediaId` is given. */
                          link?: string | undefined;
                          /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                          mediaId?: string | undefined;
                        }
                      | undefined;
                    /** Required when type is document, and only then. */
                    document?:
                      | {
                          /** URL (http or https) of the document: pdf, doc, docx, xls, xlsx, ppt, pptx or txt of at most 100 MB. Required unless `mediaId` is given. */
                          link?: string | undefined;
                          /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                          mediaId?: string | undefined;
                        }
                      | undefined;
                    /** Required when type is location, and only then. */
                    location?:
                      | {
                          /** Latitude in degrees. */
                          latitude: number;
                          /** Longitude in degrees. */
                          longitude: number;
                          /** Name of the place. */
                          name: string;
                          /** Address of the place. */
                          address: string;
                        }
                      | undefined;
                  }
                | undefined;
              /** Values of the template's buttons. A link with a variable and a copy-code button need one. */
              buttons?:
                | {
                    /** Place of the button in the template, from 0. */
                    index: number;
                    /** Link: value of the variable at the end of its URL. */
                    text?: string | undefined;
                    /** Quick reply: comes back when it is tapped. */
                    payload?: string | undefined;
                    /** Copy-code button: the code that it copies. */
                    code?: string | undefined;
                    /** Form (a flow): comes back with its answers. */
                    flowToken?: string | undefined;
                    /** Form: data of its first screen, at most 5000 characters as JSON. */
                    data?:
                      | {
                          [name: string]: unknown;
                        }
                      | undefined;
                    /** Catalogue: product whose picture is shown. */
                    productId?: string | undefined;
                  }[]
                | undefined;
              /** The end of a limited-time offer; left out where the template shows none. */
              offer?:
                | {
                    /** When the offer ends: epoch milliseconds, or ISO 8601 with its zone. Phones show the time that is left. */
                    expiresAt: number | string;
                  }
                | undefined;
              /** The cards of a carousel, in order. Each has the image or video of its header. */
              cards?:
                | {
                    /** The template's header; left out when it has none. */
                    header: {
                      /** Type of the header, which must be that of the template. */
                      type: "text" | "image" | "video" | "document" | "location";
                      /** Required when type is text, and only then. */
                      text?: string | undefined;
                      /** Required when type is image, and only then. */
                      image?:
                        | {
                            /** URL (http or https) of the image: jpg, jpeg or png of at most 5 MB. Required unless `mediaId` is given. */
                            link?: string | undefined;
                            /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                            mediaId?: string | undefined;
                          }
                        | undefined;
                      /** Required when type is video, and only then. */
                      video?:
                        | {
                            /** URL (http or https) of the video: mp4 or 3gp of at most 16 MB. Required unless `mediaId` is given. */
                            link?: string | undefined;
                            /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                            mediaId?: string | undefined;
                          }
                        | undefined;
                      /** Required when type is document, and only then. */
                      document?:
                        | {
                            /** URL (http or https) of the document: pdf, doc, docx, xls, xlsx, ppt, pptx or txt of at most 100 MB. Required unless `mediaId` is given. */
                            link?: string | undefined;
                            /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                            mediaId?: string | undefined;
                          }
                        | undefined;
                      /** Required when type is location, and only then. */
                      location?:
                        | {
                            /** Latitude in degrees. */
                            latitude: number;
                            /** Longitude in degrees. */
                            longitude: number;
                            /** Name of the place. */
                            name: string;
                            /** Address of the place. */
                            address: string;
                          }
                        | undefined;
                    };
                    /** Values of the card's text. */
                    body?:
                      | {
                          /** One value per placeholder of the template, in order; empty if it has none. Never null. Required unless `values` is given. */
                          params?: string[] | undefined;
                          /** In place of `params` where the template's variables have names: each name with its value. */
                          values?:
                            | {
                                [name: string]: string;
                              }
                            | undefined;
                        }
                      | undefined;
                    /** Values of the template's buttons. A link with a variable and a copy-code button need one. */
                    buttons?:
                      | {
                          /** Place of the button in the template, from 0. */
                          index: number;
                          /** Link: value of the variable at the end of its URL. */
                          text?: string | undefined;
                          /** Quick reply: comes back when it is tapped. */
                          payload?: string | undefined;
                          /** Copy-code button: the code that it copies. */
                          code?: string | undefined;
                          /** Form (a flow): comes back with its answers. */
                          flowToken?: string | undefined;
                          /** Form: data of its first screen, at most 5000 characters as JSON. */
                          data?:
                            | {
                                [name: string]: unknown;
                              }
                            | undefined;
                          /** Catalogue: product whose picture is shown. */
                          productId?: string | undefined;
                        }[]
                      | undefined;
                  }[]
                | undefined;
            }
          | undefined;
        /** The bot that sends. */
        botId?: string | undefined;
        /** One item with `params` for a text with variables, or one item with `fileUrl` per card; left out, the template is sent as it is. */
        content?:
          | {
              /** One value per placeholder of the text, in order; empty if it has none. Never null. */
              params?: string[] | undefined;
              /** Public URL (http or https) of the card's image or video. */
              fileUrl?: string | undefined;
              /** Uploaded media (`POST /v1/media`), in the place of `fileUrl`. */
              mediaId?: string | undefined;
            }[]
          | undefined;
      }[]
    | null
    | undefined;
  /** Seconds to wait for a delivery on one channel before the next one, 60 by default. */
  moveOnAfterSeconds?: number | null | undefined;
  /** Most messages in an hour, spread evenly; null for no limit. */
  throttle?: number | null | undefined;
  /** Hours in which recipients are accepted; null for all. */
  window?:
    | {
        /** Begin, `HH:MM`. */
        from: string;
        /** End, `HH:MM`. Before `from`, it is on the next day. */
        to: string;
        /** Time zone, such as `Asia/Kolkata`, or `recipient` for each recipient's own time, by the number. */
        zone: string;
      }
    | null
    | undefined;
  /** Start, within the next 30 days: epoch milliseconds, or ISO 8601 with its zone. */
  scheduledAt?: number | string | null | undefined;
}

export interface CancelResponse {
  /** Number of cancelled messages, including earlier cancellations. */
  cancelled: number;
  /** Number of messages that their carrier called back. A delivery that was faster still counts. */
  revoked: number;
  /** Number of messages that a carrier already had, or that were in a final state. */
  tooLate: number;
}

export interface ChatMessageSent {
  /** Business number, so that one receiver can process RCS and chat-app events alike. */
  botId: string;
  /** Business number that sent or received the message. */
  from: string;
  /** Channel of the event. */
  channel: "chatapp";
  /** Event type. */
  event: "message_sent";
  /** Message ID: `<id>:<n>`. */
  messageId: string;
  /** session: a free-text reply within the session window. */
  messageType: "template" | "session";
  /** Phone number of the recipient, with plus. */
  userPhoneNumber: string;
  /** Epoch milliseconds. */
  timestamp: number;
}

export interface ChatMessageStatus {
  /** Business number, so that one receiver can process RCS and chat-app events alike. */
  botId: string;
  /** Business number that sent or received the message. */
  from: string;
  /** Channel of the event. */
  channel: "chatapp";
  /** Event type. */
  event: "message_status";
  /** Message ID: `<id>:<n>`. */
  messageId: string;
  /** Status change. */
  statuses: {
    /** ID of this status change: the `webhook-id`. */
    eventId: string;
    /** sent: submitted. delivered: on the device. read: opened. failed: not delivered. */
    status: "sent" | "delivered" | "read" | "failed";
    /** Epoch seconds. */
    timestamp: number;
  };
  /** Present if the message was sent by another way instead: the channel of that way. */
  deliveryChannel?: "sms" | "rcs" | "chatapp" | undefined;
}

export interface ChatRequest {
  /** `template`; within 24 hours of the recipient's last message also `text`, `image`, `video`, `document`, `audio`, `sticker`, `location`, `contacts`, `interactive`, `reaction`. */
  type:
    | "template"
    | "text"
    | "image"
    | "video"
    | "document"
    | "audio"
    | "sticker"
    | "location"
    | "contacts"
    | "interactive"
    | "reaction";
  /** The business number, with country code and plus: `+<country code><number>`. */
  from: string;
  /** Groups messages, to be counted, paused and cancelled. */
  campaignName?: string | undefined;
  /** When to send, within the next 30 days: epoch milliseconds, or ISO 8601 with its zone. */
  sendAt?: number | string | undefined;
  /** The recipient: country code first, 7 to 15 digits, plus optional. Required unless `recipients` is given. */
  to?: string | undefined;
  /** Replaces `to`: at most 1,000 recipients, each optionally with language and components of its own. */
  recipients?:
    | {
        /** The recipient: country code first, 7 to 15 digits, plus optional. */
        to: string;
        /** This recipient's language; left out, that of the request. */
        language?: string | undefined;
        /** This recipient's own values and header; left out, those of the request. */
        components?:
          | {
              /** The template's body. */
              body: {
                /** One value per placeholder of the template, in order; empty if it has none. Never null. Required unless `values` is given. */
                params?: string[] | undefined;
                /** In place of `params` where the template's variables have names: each name with its value. */
                values?:
                  | {
                      [name: string]: string;
                    }
                  | undefined;
              };
              /** The template's header; left out when it has none. */
              header?:
                | {
                    /** Type of the header, which must be that of the template. */
                    type: "text" | "image" | "video" | "document" | "location";
                    /** Required when type is text, and only then. */
                    text?: string | undefined;
                    /** Required when type is image, and only then. */
                    image?:
                      | {
                          /** URL (http or https) of the image: jpg, jpeg or png of at most 5 MB. Required unless `mediaId` is given. */
                          link?: string | undefined;
                          /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                          mediaId?: string | undefined;
                        }
                      | undefined;
                    /** Required when type is video, and only then. */
                    video?:
                      | {
                          /** URL (http or https) of the video: mp4 or 3gp of at most 16 MB. Required unless `mediaId` is given. */
                          link?: string | undefined;
                          /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                          mediaId?: string | undefined;
                        }
                      | undefined;
                    /** Required when type is document, and only then. */
                    document?:
                      | {
                          /** URL (http or https) of the document: pdf, doc, docx, xls, xlsx, ppt, pptx or txt of at most 100 MB. Required unless `mediaId` is given. */
                          link?: string | undefined;
                          /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                          mediaId?: string | undefined;
                        }
                      | undefined;
                    /** Required when type is location, and only then. */
                    location?:
                      | {
                          /** Latitude in degrees. */
                          latitude: number;
                          /** Longitude in degrees. */
                          longitude: number;
                          /** Name of the place. */
                          name: string;
                          /** Address of the place. */
                          address: string;
                        }
                      | undefined;
                  }
                | undefined;
              /** Values of the template's buttons. A link with a variable and a copy-code button need one. */
              buttons?:
                | {
                    /** Place of the button in the template, from 0. */
                    index: number;
                    /** Link: value of the variable at the end of its URL. */
                    text?: string | undefined;
                    /** Quick reply: comes back when it is tapped. */
                    payload?: string | undefined;
                    /** Copy-code button: the code that it copies. */
                    code?: string | undefined;
                    /** Form (a flow): comes back with its answers. */
                    flowToken?: string | undefined;
                    /** Form: data of its first screen, at most 5000 characters as JSON. */
                    data?:
                      | {
                          [name: string]: unknown;
                        }
                      | undefined;
                    /** Catalogue: product whose picture is shown. */
                    productId?: string | undefined;
                  }[]
                | undefined;
              /** The end of a limited-time offer; left out where the template shows none. */
              offer?:
                | {
                    /** When the offer ends: epoch milliseconds, or ISO 8601 with its zone. Phones show the time that is left. */
                    expiresAt: number | string;
                  }
                | undefined;
              /** The cards of a carousel, in order. Each has the image or video of its header. */
              cards?:
                | {
                    /** The template's header; left out when it has none. */
                    header: {
                      /** Type of the header, which must be that of the template. */
                      type: "text" | "image" | "video" | "document" | "location";
                      /** Required when type is text, and only then. */
                      text?: string | undefined;
                      /** Required when type is image, and only then. */
                      image?:
                        | {
                            /** URL (http or https) of the image: jpg, jpeg or png of at most 5 MB. Required unless `mediaId` is given. */
                            link?: string | undefined;
                            /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                            mediaId?: string | undefined;
                          }
                        | undefined;
                      /** Required when type is video, and only then. */
                      video?:
                        | {
                            /** URL (http or https) of the video: mp4 or 3gp of at most 16 MB. Required unless `mediaId` is given. */
                            link?: string | undefined;
                            /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                            mediaId?: string | undefined;
                          }
                        | undefined;
                      /** Required when type is document, and only then. */
                      document?:
                        | {
                            /** URL (http or https) of the document: pdf, doc, docx, xls, xlsx, ppt, pptx or txt of at most 100 MB. Required unless `mediaId` is given. */
                            link?: string | undefined;
                            /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                            mediaId?: string | undefined;
                          }
                        | undefined;
                      /** Required when type is location, and only then. */
                      location?:
                        | {
                            /** Latitude in degrees. */
                            latitude: number;
                            /** Longitude in degrees. */
                            longitude: number;
                            /** Name of the place. */
                            name: string;
                            /** Address of the place. */
                            address: string;
                          }
                        | undefined;
                    };
                    /** Values of the card's text. */
                    body?:
                      | {
                          /** One value per placeholder of the template, in order; empty if it has none. Never null. Required unless `values` is given. */
                          params?: string[] | undefined;
                          /** In place of `params` where the template's variables have names: each name with its value. */
                          values?:
                            | {
                                [name: string]: string;
                              }
                            | undefined;
                        }
                      | undefined;
                    /** Values of the template's buttons. A link with a variable and a copy-code button need one. */
                    buttons?:
                      | {
                          /** Place of the button in the template, from 0. */
                          index: number;
                          /** Link: value of the variable at the end of its URL. */
                          text?: string | undefined;
                          /** Quick reply: comes back when it is tapped. */
                          payload?: string | undefined;
                          /** Copy-code button: the code that it copies. */
                          code?: string | undefined;
                          /** Form (a flow): comes back with its answers. */
                          flowToken?: string | undefined;
                          /** Form: data of its first screen, at most 5000 characters as JSON. */
                          data?:
                            | {
                                [name: string]: unknown;
                              }
                            | undefined;
                          /** Catalogue: product whose picture is shown. */
                          productId?: string | undefined;
                        }[]
                      | undefined;
                  }[]
                | undefined;
            }
          | undefined;
      }[]
    | undefined;
  /** Language of the template. Left out, that of the recipient's contact, then of the account. A template without it is sent in its closest language. */
  language?: string | undefined;
  /** The template: lowercase letters, digits and underscores. Required when type is template. */
  templateName?: string | undefined;
  /** Values and header; left out when the template has neither variables nor a header. */
  components?:
    | {
        /** The template's body. */
        body: {
          /** One value per placeholder of the template, in order; empty if it has none. Never null. Required unless `values` is given. */
          params?: string[] | undefined;
          /** In place of `params` where the template's variables have names: each name with its value. */
          values?:
            | {
                [name: string]: string;
              }
            | undefined;
        };
        /** The template's header; left out when it has none. */
        header?:
          | {
              /** Type of the header, which must be that of the template. */
              type: "text" | "image" | "video" | "document" | "location";
              /** Required when type is text, and only then. */
              text?: string | undefined;
              /** Required when type is image, and only then. */
              image?:
                | {
                    /** URL (http or https) of the image: jpg, jpeg or png of at most 5 MB. Required unless `mediaId` is given. */
                    link?: string | undefined;
                    /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                    mediaId?: string | undefined;
                  }
                | undefined;
              /** Required when type is video, and only then. */
              video?:
                | {
                    /** URL (http or https) of the video: mp4 or 3gp of at most 16 MB. Required unless `mediaId` is given. */
                    link?: string | undefined;
                    /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                    mediaId?: string | undefined;
                  }
                | undefined;
              /** Required when type is document, and only then. */
              document?:
                | {
                    /** URL (http or https) of the document: pdf, doc, docx, xls, xlsx, ppt, pptx or txt of at most 100 MB. Required unless `mediaId` is given. */
                    link?: string | undefined;
                    /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                    mediaId?: string | undefined;
                  }
                | undefined;
              /** Required when type is location, and only then. */
              location?:
                | {
                    /** Latitude in degrees. */
                    latitude: number;
                    /** Longitude in degrees. */
                    longitude: number;
                    /** Name of the place. */
                    name: string;
                    /** Address of the place. */
                    address: string;
                  }
                | undefined;
            }
          | undefined;
        /** Values of the template's buttons. A link with a variable and a copy-code button need one. */
        buttons?:
          | {
              /** Place of the button in the template, from 0. */
              index: number;
              /** Link: value of the variable at the end of its URL. */
              text?: string | undefined;
              /** Quick reply: comes back when it is tapped. */
              payload?: string | undefined;
              /** Copy-code button: the code that it copies. */
              code?: string | undefined;
              /** Form (a flow): comes back with its answers. */
              flowToken?: string | undefined;
              /** Form: data of its first screen, at most 5000 characters as JSON. */
              data?:
                | {
                    [name: string]: unknown;
                  }
                | undefined;
              /** Catalogue: product whose picture is shown. */
              productId?: string | undefined;
            }[]
          | undefined;
        /** The end of a limited-time offer; left out where the template shows none. */
        offer?:
          | {
              /** When the offer ends: epoch milliseconds, or ISO 8601 with its zone. Phones show the time that is left. */
              expiresAt: number | string;
            }
          | undefined;
        /** The cards of a carousel, in order. Each has the image or video of its header. */
        cards?:
          | {
              /** The template's header; left out when it has none. */
              header: {
                /** Type of the header, which must be that of the template. */
                type: "text" | "image" | "video" | "document" | "location";
                /** Required when type is text, and only then. */
                text?: string | undefined;
                /** Required when type is image, and only then. */
                image?:
                  | {
                      /** URL (http or https) of the image: jpg, jpeg or png of at most 5 MB. Required unless `mediaId` is given. */
                      link?: string | undefined;
                      /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                      mediaId?: string | undefined;
                    }
                  | undefined;
                /** Required when type is video, and only then. */
                video?:
                  | {
                      /** URL (http or https) of the video: mp4 or 3gp of at most 16 MB. Required unless `mediaId` is given. */
                      link?: string | undefined;
                      /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                      mediaId?: string | undefined;
                    }
                  | undefined;
                /** Required when type is document, and only then. */
                document?:
                  | {
                      /** URL (http or https) of the document: pdf, doc, docx, xls, xlsx, ppt, pptx or txt of at most 100 MB. Required unless `mediaId` is given. */
                      link?: string | undefined;
                      /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                      mediaId?: string | undefined;
                    }
                  | undefined;
                /** Required when type is location, and only then. */
                location?:
                  | {
                      /** Latitude in degrees. */
                      latitude: number;
                      /** Longitude in degrees. */
                      longitude: number;
                      /** Name of the place. */
                      name: string;
                      /** Address of the place. */
                      address: string;
                    }
                  | undefined;
              };
              /** Values of the card's text. */
              body?:
                | {
                    /** One value per placeholder of the template, in order; empty if it has none. Never null. Required unless `values` is given. */
                    params?: string[] | undefined;
                    /** In place of `params` where the template's variables have names: each name with its value. */
                    values?:
                      | {
                          [name: string]: string;
                        }
                      | undefined;
                  }
                | undefined;
              /** Values of the template's buttons. A link with a variable and a copy-code button need one. */
              buttons?:
                | {
                    /** Place of the button in the template, from 0. */
                    index: number;
                    /** Link: value of the variable at the end of its URL. */
                    text?: string | undefined;
                    /** Quick reply: comes back when it is tapped. */
                    payload?: string | undefined;
                    /** Copy-code button: the code that it copies. */
                    code?: string | undefined;
                    /** Form (a flow): comes back with its answers. */
                    flowToken?: string | undefined;
                    /** Form: data of its first screen, at most 5000 characters as JSON. */
                    data?:
                      | {
                          [name: string]: unknown;
                        }
                      | undefined;
                    /** Catalogue: product whose picture is shown. */
                    productId?: string | undefined;
                  }[]
                | undefined;
            }[]
          | undefined;
      }
    | undefined;
  /** Required when type is text, and only then. */
  text?:
    | {
        /** The message. */
        body: string;
        /** True to show a preview of the first link. */
        preview_url?: boolean | undefined;
      }
    | undefined;
  /** Required when type is image, and only then. */
  image?:
    | {
        /** URL (http or https) of the image: jpg, jpeg or png of at most 5 MB. Required unless `mediaId` is given. */
        link?: string | undefined;
        /** Uploaded media (`POST /v1/media`), in the place of `link`. */
        mediaId?: string | undefined;
        /** Text below the file. */
        caption?: string | undefined;
      }
    | undefined;
  /** Required when type is video, and only then. */
  video?:
    | {
        /** URL (http or https) of the video: mp4 or 3gp of at most 16 MB. Required unless `mediaId` is given. */
        link?: string | undefined;
        /** Uploaded media (`POST /v1/media`), in the place of `link`. */
        mediaId?: string | undefined;
        /** Text below the file. */
        caption?: string | undefined;
      }
    | undefined;
  /** Required when type is document, and only then. */
  document?:
    | {
        /** URL (http or https) of the document: pdf, doc, docx, xls, xlsx, ppt, pptx or txt of at most 100 MB. Required unless `mediaId` is given. */
        link?: string | undefined;
        /** Uploaded media (`POST /v1/media`), in the place of `link`. */
        mediaId?: string | undefined;
        /** Text below the file. */
        caption?: string | undefined;
        /** Name of the document on the phone. */
        filename?: string | undefined;
      }
    | undefined;
  /** Required when type is audio, and only then. */
  audio?:
    | {
        /** URL (http or https) of the audio: aac, amr, mp3, m4a, mp4, ogg or opus of at most 16 MB. Required unless `mediaId` is given. */
        link?: string | undefined;
        /** Uploaded media (`POST /v1/media`), in the place of `link`. */
        mediaId?: string | undefined;
        /** True for a voice message, which the phone shows with a microphone. OGG with OPUS. */
        voice?: boolean | undefined;
      }
    | undefined;
  /** Required when type is sticker, and only then. */
  sticker?:
    | {
        /** URL (http or https) of the sticker: webp of at most 500 KB. Required unless `mediaId` is given. */
        link?: string | undefined;
        /** Uploaded media (`POST /v1/media`), in the place of `link`. */
        mediaId?: string | undefined;
      }
    | undefined;
  /** Required when type is location, and only then. */
  location?:
    | {
        /** Latitude in degrees. */
        latitude: number;
        /** Longitude in degrees. */
        longitude: number;
        /** Name of the place. */
        name?: string | undefined;
        /** Address of the place. */
        address?: string | undefined;
      }
    | undefined;
  /** Required when type is contacts, and only then. */
  contacts?:
    | {
        /** The name: formatted_name and at least one other part. */
        name: {
          /** The whole name. */
          formatted_name: string;
          /** First name. */
          first_name?: string | undefined;
          /** Last name. */
          last_name?: string | undefined;
          /** Middle name. */
          middle_name?: string | undefined;
          /** Suffix of the name. */
          suffix?: string | undefined;
          /** Prefix of the name. */
          prefix?: string | undefined;
        };
        /** Year, month and day. */
        birthday?: string | undefined;
        /** Phone numbers. */
        phones?:
          | {
              /** The number as the phone shows it. */
              phone?: string | undefined;
              /** Such as CELL, HOME or WORK. */
              type?: string | undefined;
              /** The number on the platform, so that the phone offers a chat. */
              wa_id?: string | undefined;
            }[]
          | undefined;
        /** E-mails. */
        emails?:
          | {
              /** Address. */
              email?: string | undefined;
              /** Such as HOME or WORK. */
              type?: string | undefined;
            }[]
          | undefined;
        /** Web pages. */
        urls?:
          | {
              /** URL. */
              url?: string | undefined;
              /** Such as HOME or WORK. */
              type?: string | undefined;
            }[]
          | undefined;
        /** Addresses. */
        addresses?:
          | {
              /** Street and number. */
              street?: string | undefined;
              /** City. */
              city?: string | undefined;
              /** State. */
              state?: string | undefined;
              /** Postal code. */
              zip?: string | undefined;
              /** Country. */
              country?: string | undefined;
              /** Two letters of the country. */
              country_code?: string | undefined;
              /** Such as HOME or WORK. */
              type?: string | undefined;
            }[]
          | undefined;
        /** Employer. */
        org?:
          | {
              /** Company. */
              company?: string | undefined;
              /** Department. */
              department?: string | undefined;
              /** Position. */
              title?: string | undefined;
            }
          | undefined;
      }[]
    | undefined;
  /** Required when type is reaction, and only then. */
  reaction?:
    | {
        /** A `messageId` of a message to this recipient, an `id` of `GET /v1/inbound`, or the platform's own id. */
        message_id: string;
        /** One emoji; empty to take the reaction back. */
        emoji: string;
      }
    | undefined;
  /** Required when type is interactive, and only then. */
  interactive?:
    | {
        /** button, list or cta_url. */
        type: "button";
        /** Above the text. */
        header?:
          | {
              /** Type of the header. */
              type: "text" | "image" | "video" | "document";
              /** Required when the header's type is text. */
              text?: string | undefined;
              /** Required when the header's type is image. */
              image?:
                | {
                    /** URL (http or https) of the image: jpg, jpeg or png of at most 5 MB. Required unless `mediaId` is given. */
                    link?: string | undefined;
                    /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                    mediaId?: string | undefined;
                  }
                | undefined;
              /** Required when the header's type is video. */
              video?:
                | {
                    /** URL (http or https) of the video: mp4 or 3gp of at most 16 MB. Required unless `mediaId` is given. */
                    link?: string | undefined;
                    /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                    mediaId?: string | undefined;
                  }
                | undefined;
              /** Required when the header's type is document. */
              document?:
                | {
                    /** URL (http or https) of the document: pdf, doc, docx, xls, xlsx, ppt, pptx or txt of at most 100 MB. Required unless `mediaId` is given. */
                    link?: string | undefined;
                    /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                    mediaId?: string | undefined;
                    /** Name of the document on the phone. */
                    filename?: string | undefined;
                  }
                | undefined;
            }
          | undefined;
        /** The text. */
        body: {
          /** The text. */
          text: string;
        };
        /** Below the text. */
        footer?:
          | {
              /** The footer. */
              text: string;
            }
          | undefined;
        /** The buttons. */
        action: {
          /** 1 to 3 reply buttons. */
          buttons: {
            /** Always reply. */
            type: "reply";
            /** The button. */
            reply: {
              /** Comes back when the button is tapped. */
              id: string;
              /** Label. */
              title: string;
            };
          }[];
        };
      }
    | {
        /** button, list or cta_url. */
        type: "list";
        /** Above the text. */
        header?:
          | {
              /** Always text. */
              type: "text";
              /** Required when the header's type is text. */
              text?: string | undefined;
            }
          | undefined;
        /** The text. */
        body: {
          /** The text. */
          text: string;
        };
        /** Below the text. */
        footer?:
          | {
              /** The footer. */
              text: string;
            }
          | undefined;
        /** The list. */
        action: {
          /** Label of the button that opens the list. */
          button: string;
          /** Sections of the list. */
          sections: {
            /** Heading; required if there are several sections. */
            title?: string | undefined;
            /** Rows; at most 10 in all sections together. */
            rows: {
              /** Comes back when the row is chosen. */
              id: string;
              /** Label. */
              title: string;
              /** Below the label. */
              description?: string | undefined;
            }[];
          }[];
        };
      }
    | {
        /** button, list or cta_url. */
        type: "cta_url";
        /** Above the text. */
        header?:
          | {
              /** Type of the header. */
              type: "text" | "image" | "video" | "document";
              /** Required when the header's type is text. */
              text?: string | undefined;
              /** Required when the header's type is image. */
              image?:
                | {
                    /** URL (http or https) of the image: jpg, jpeg or png of at most 5 MB. Required unless `mediaId` is given. */
                    link?: string | undefined;
                    /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                    mediaId?: string | undefined;
                  }
                | undefined;
              /** Required when the header's type is video. */
              video?:
                | {
                    /** URL (http or https) of the video: mp4 or 3gp of at most 16 MB. Required unless `mediaId` is given. */
                    link?: string | undefined;
                    /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                    mediaId?: string | undefined;
                  }
                | undefined;
              /** Required when the header's type is document. */
              document?:
                | {
                    /** URL (http or https) of the document: pdf, doc, docx, xls, xlsx, ppt, pptx or txt of at most 100 MB. Required unless `mediaId` is given. */
                    link?: string | undefined;
                    /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                    mediaId?: string | undefined;
                    /** Name of the document on the phone. */
                    filename?: string | undefined;
                  }
                | undefined;
            }
          | undefined;
        /** The text. */
        body: {
          /** The text. */
          text: string;
        };
        /** Below the text. */
        footer?:
          | {
              /** The footer. */
              text: string;
            }
          | undefined;
        /** The button. */
        action: {
          /** Always cta_url. */
          name: "cta_url";
          /** The button. */
          parameters: {
            /** Label of the button. */
            display_text: string;
            /** URL that the button opens. */
            url: string;
          };
        };
      }
    | undefined;
  /** The message that this one replies to; the phone quotes it. For session messages to one recipient. */
  context?:
    | {
        /** A `messageId` of a message to this recipient, an `id` of `GET /v1/inbound`, or the platform's own id. */
        message_id: string;
      }
    | undefined;
}

export interface ChatUserMessage {
  /** Business number, so that one receiver can process RCS and chat-app events alike. */
  botId: string;
  /** Business number that sent or received the message. */
  from: string;
  /** Channel of the event. */
  channel: "chatapp";
  /** Event type. */
  event: "user_message";
  /** Message that it replies to; if unknown, an ID of the same form. */
  messageId: string;
  /** Phone number of the user, with plus. */
  userPhoneNumber: string;
  /** Epoch milliseconds. */
  timestamp: number;
  /** Content of the user's message. */
  message: {
    /** Text of the user; empty if the message has one of the following. */
    text: string;
    /** Button that was tapped; null if none. */
    suggestionResponse: {
      /** Label of the button. */
      plainText: string;
      /** Data of the button. */
      postBack: {
        /** Postback data of the button; the number for a call button. */
        data: string;
      };
      /** REPLY: a reply button. ACTION: a link or another action. DIALER: a call button. */
      type: "REPLY" | "ACTION" | "DIALER";
    } | null;
    /** File from the user; null if none. */
    userFile: {
      /** Image, video, audio or another file. */
      category: string;
      /** The file. */
      payload: {
        /** Media type, such as image/jpeg. */
        mimeType: string;
        /** Size in bytes. */
        fileSizeBytes: number;
        /** File name on the user's phone. */
        fileName: string;
        /** URL of the file at the platform. */
        fileUri: string;
      };
      /** Thumbnail; null if there is none. */
      thumbnail: {
        /** Media type, such as image/jpeg. */
        mimeType: string;
        /** Size in bytes. */
        fileSizeBytes: number;
        /** File name on the user's phone. */
        fileName: string;
        /** URL of the file at the platform. */
        fileUri: string;
      } | null;
    } | null;
    /** Our copy of the user's file, for `GET /v1/media/{id}`; absent if there is none. It is fetched from the platform while this event is delivered, so its `state` may be `pending`. */
    media?:
      | {
          /** Media ID. */
          id: string;
        }
      | undefined;
    /** Location shared by the user; otherwise absent. */
    location?:
      | {
          /** Latitude in degrees. */
          latitude: number;
          /** Longitude in degrees. */
          longitude: number;
        }
      | undefined;
    details?: InboundDetails | undefined;
  };
}

export interface Contact {
  /** Phone number without plus. */
  number: string;
  /** Name; null if unknown. */
  name: string | null;
  /** Attributes by name. */
  attributes: {
    [name: string]: string;
  };
  /** Tags, sorted. */
  tags: string[];
  /** The last consent for each channel and type. */
  consents: {
    /** Channel. */
    channel: string;
    /** Type of messages. */
    type: string;
    /** False if it was withdrawn. */
    granted: boolean;
    /** Origin of the decision; null if unknown. */
    source: string | null;
    /** When, in epoch milliseconds. */
    at: number;
  }[];
  /** On the opt-out list: it gets no PROMO messages, whatever its consents. */
  optedOut: boolean;
  /** Epoch milliseconds. */
  createdAt: number;
  /** Time of the last change. */
  updatedAt: number;
}

export interface ContactExport {
  /** Phone number without plus. */
  number: string;
  /** The contact; null if there is none. */
  contact: Contact | null;
  /** The entry on the opt-out list; null if there is none. */
  optOut: {
    /** reply: a stop word. manual: a user or a key. */
    source: string;
    /** Reason; null if none. */
    note: string | null;
    /** Epoch milliseconds. */
    at: number;
  } | null;
  /** Messages to the number, newest first. */
  messages: Message[];
  /** Messages from the number, newest first. */
  received: InboundMessage[];
  /** True if there are older messages. */
  more: boolean;
}

export interface ContactImport {
  /** ID of the import. */
  id: string;
  /** True if a test key created it. */
  test: boolean;
  /** Audience whose recipients become contacts. */
  audienceId: string;
  /** State; failed has its reason in `failure`. */
  state: "running" | "finished" | "failed";
  /** Recipients of the audience. */
  total: number;
  /** Recipients that were imported. */
  done: number;
  /** Reason why the import ended early; null otherwise. */
  failure: {
    /** Reason. */
    code: "AUDIENCE_GONE" | "TOO_MANY_ATTRIBUTES";
    /** Reason and fix. */
    message: string;
  } | null;
  /** Epoch milliseconds. */
  createdAt: number;
  /** Its end; null before. */
  endedAt: number | null;
}

export interface Conversation {
  /** ID of the conversation. */
  id: string;
  /** sms, rcs, chatapp. */
  channel: string;
  /** Phone number of the user, without plus. */
  number: string;
  /** Name of the contact with this number; null if there is none. */
  name: string | null;
  /** Sender ID, bot or business number that the user writes to. */
  sender: string;
  /** closed until the user writes again. */
  state: "open" | "closed";
  /** Inbound messages since it was read. */
  unread: number;
  /** Time of the last inbound message, in epoch milliseconds. */
  lastAt: number;
  /** The last inbound message; null once it is deleted. */
  lastMessage: InboundMessage | null;
  /** ID of the user who answers; null for none. */
  assignedTo: string | null;
  /** Chat app: until then free text may be sent, 24 hours after the user's last message; null on other channels. */
  textUntil: number | null;
  /** True if the user can be shown that the last message was read, and that an answer is being typed: `POST /v1/inbound/{id}/read`. */
  showsReads: boolean;
}

export interface Count {
  /** Number of matches that were counted. */
  count: number;
  /** True if there are more than `count`. */
  more: boolean;
}

export interface Erasure {
  /** ID of the erasure. */
  id: string;
  /** finished: a last pass over all data has found nothing more. */
  state: "running" | "finished";
  /** Rows that were deleted, or whose texts were changed. */
  erased: number;
  /** Epoch milliseconds. */
  requestedAt: number;
  /** Its end; null before. */
  endedAt: number | null;
}

export interface ErrorValue {
  /** Stable error code: branch on this. Codes may be added but do not change their meaning. */
  code: string;
  /** Category of the error, for clients that do not know the `code`. */
  type: "invalid_request" | "authentication" | "payment" | "permission" | "not_found" | "conflict" | "limit" | "server";
  /** First invalid field, such as `to[1]`; null if the error is not about a field. */
  parameter: string | null;
  /** Human-readable description. It may change. */
  message: string;
  /** URL of the page about this code on this server, with cause and fix. */
  reference: string;
  /** All invalid fields. */
  details: {
    /** Path of the field. */
    parameter: string;
    /** Requirement of the field. */
    message: string;
  }[];
  /** Request ID, also in the `request-id` header and in the server log. Give it to the operator. */
  requestId: string;
  /** Attempts left after a wrong one-time password. */
  attemptsRemaining?: number | undefined;
}

export interface ErrorDetail {
  /** Path of the field. */
  parameter: string;
  /** Requirement of the field. */
  message: string;
}

export interface Event {
  /** ID of the event: the `webhook-id` of its webhook request. */
  eventId: string;
  /** sms, rcs, chatapp. */
  channel: string;
  /** delivery_report, message_status, message_sent, user_message, link_click, verification_status or alert_status. */
  event: string;
  /** Time of the event in epoch milliseconds. */
  at: number;
  /** Body of the webhook for this event. A delivery report has all eleven fields. */
  payload: {
    [name: string]: unknown;
  };
}

export interface FailureReason {
  /** Error code of this service or of a carrier; `other` beyond 100 different codes a day; null if none was given. */
  code: string | null;
  /** Meaning of the code. For a carrier's code: the carrier's latest text, with long numbers left out; null if it gave none. */
  description: string | null;
  /** True for a carrier's code, false for one of this service. */
  carrierCode: boolean;
  /** Messages that failed with this code. */
  count: number;
}

/** Chat app: kind of the message and what the platform reports besides its content. */
export interface InboundDetails {
  /** text, image, video, document, audio, sticker, location, contacts, button, button_reply, list_reply, flow_reply, reaction, order, unsupported. */
  kind: string;
  /** Description of the chosen row of a list. */
  description?: string | undefined;
  /** True for an audio that was recorded in the app. */
  voice?: boolean | undefined;
  /** True for a forwarded message. */
  forwarded?: boolean | undefined;
  /** Place of a shared location. */
  place?:
    | {
        /** Name. */
        name?: string | undefined;
        /** Address. */
        address?: string | undefined;
        /** URL. */
        url?: string | undefined;
      }
    | undefined;
  /** Shared contacts; `text` has them as lines. */
  contacts?:
    | {
        /** Whole name. */
        name?: string | undefined;
        /** Phone numbers. */
        phones: {
          /** Number as the phone shows it. */
          phone: string;
          /** Such as CELL. */
          type?: string | undefined;
          /** Number on the platform. */
          waId?: string | undefined;
        }[];
        /** E-mail addresses. */
        emails: {
          /** Address. */
          email: string;
          /** Such as WORK. */
          type?: string | undefined;
        }[];
        /** Company. */
        company?: string | undefined;
      }[]
    | undefined;
  /** Reaction to the message `messageId`; `text` has the emoji too. */
  reaction?:
    | {
        /** Emoji. */
        emoji: string;
      }
    | undefined;
  /** Order; `text` has it as lines. */
  order?:
    | {
        /** Catalogue. */
        catalogId?: string | undefined;
        /** Products. */
        items: {
          /** ID of the product at the retailer. */
          productId: string;
          /** Quantity. */
          quantity: number;
          /** Price of one. */
          price?: number | undefined;
          /** Currency. */
          currency?: string | undefined;
        }[];
      }
    | undefined;
  /** Product that the user asks about. */
  product?:
    | {
        /** Catalogue. */
        catalogId?: string | undefined;
        /** ID of the product at the retailer. */
        productId?: string | undefined;
      }
    | undefined;
  /** Answers to a form. */
  flow?:
    | {
        /** Name. */
        name?: string | undefined;
        /** Answers as JSON. */
        response: string;
      }
    | undefined;
  /** Advertisement or post from which the user started the conversation. */
  referral?:
    | {
        /** ad or post. */
        sourceType?: string | undefined;
        /** ID of the advertisement or post. */
        sourceId?: string | undefined;
        /** URL of the advertisement or post. */
        sourceUrl?: string | undefined;
        /** Headline. */
        headline?: string | undefined;
        /** Text. */
        body?: string | undefined;
        /** image or video. */
        mediaType?: string | undefined;
        /** URL of the image or video. */
        mediaUrl?: string | undefined;
        /** ID of the click, for the platform's conversion API. */
        clickId?: string | undefined;
      }
    | undefined;
  /** Why the platform does not show the message. */
  unsupported?:
    | {
        /** Code of the platform. */
        code?: number | undefined;
        /** Reason in the platform's words. */
        title?: string | undefined;
      }
    | undefined;
}

export interface InboundMessage {
  /** ID of the inbound message. */
  id: string;
  /** sms, rcs, chatapp. */
  channel: string;
  /** Phone number of the user, without plus. */
  from: string;
  /** Recipient: sender ID, bot or business number. */
  to: string;
  /** Text of the user; empty if the message has one of the following. */
  text: string;
  /** Button that was tapped; null if none. */
  suggestionResponse: {
    /** Label of the button. */
    plainText: string;
    /** Data of the button. */
    postBack: {
      /** Postback data; the number of a call button, the URL of a chat-app link. */
      data: string;
    };
    /** REPLY: a reply button. ACTION: a link or another action. DIALER: a call button. */
    type: "REPLY" | "ACTION" | "DIALER";
  } | null;
  /** File from the user; null if none. */
  userFile: {
    /** Category of the platform, such as image. */
    category: string;
    /** The file. */
    payload: {
      /** Media type, such as image/jpeg. */
      mimeType: string;
      /** Size in bytes. */
      fileSizeBytes: number;
      /** File name on the user's phone. */
      fileName: string;
      /** URL of the file at the platform; `media` is the copy here. */
      fileUri: string;
    };
    /** Thumbnail; null if there is none. */
    thumbnail: {
      /** Media type, such as image/jpeg. */
      mimeType: string;
      /** Size in bytes. */
      fileSizeBytes: number;
      /** File name on the user's phone. */
      fileName: string;
      /** URL of the file at the platform; `media` is the copy here. */
      fileUri: string;
    } | null;
  } | null;
  media?: Media | undefined;
  /** Location shared by the user; null if none. */
  location: {
    /** Latitude in degrees. */
    latitude: number;
    /** Longitude in degrees. */
    longitude: number;
  } | null;
  /** Chat app: kind of the message and what the platform reports besides its content. Otherwise null. */
  details: InboundDetails | null;
  /** ID of the message that it replies to; null if unknown. */
  messageId: string | null;
  /** Epoch milliseconds. */
  receivedAt: number;
  /** Time when the account marked it as read; null if it did not. */
  readAt: number | null;
}

export interface ListAudiencesQuery {
  /** Only audiences in this state. */
  state?: "uploading" | "checking" | "ready" | "failed" | undefined;
  /** `nextCursor` of the previous page. */
  cursor?: string | undefined;
  /** Records per page, 1 to 200. Defaults to 50. */
  limit?: number | undefined;
}

export interface ListCampaignsQuery {
  /** Only campaigns in this state. */
  state?: "draft" | "scheduled" | "running" | "paused" | "finished" | "cancelled" | undefined;
  /** `nextCursor` of the previous page. */
  cursor?: string | undefined;
  /** Records per page, 1 to 200. Defaults to 50. */
  limit?: number | undefined;
}

export interface ListEventsQuery {
  /** The `nextCursor` of the previous response. `now` starts with future events; without a cursor, the oldest event comes first. */
  cursor?: string | undefined;
  /** Only events at this time or later: epoch milliseconds or ISO 8601. */
  from?: string | number | undefined;
  /** Records per page, 1 to 200. Defaults to 50. */
  limit?: number | undefined;
}

export interface ListInboundQuery {
  /** Only what came on this channel. */
  channel?: "sms" | "rcs" | "chatapp" | undefined;
  /** The user's phone number. */
  from?: string | undefined;
  /** Recipient: sender ID, bot or business number. */
  to?: string | undefined;
  /** Received at this time or later: epoch milliseconds or ISO 8601. */
  since?: string | number | undefined;
  /** Received before this time. */
  until?: string | number | undefined;
  /** `nextCursor` of the previous page. */
  cursor?: string | undefined;
  /** Records per page, 1 to 200. Defaults to 50. */
  limit?: number | undefined;
}

export interface ListMessagesQuery {
  /** Only messages of this status. */
  status?: "Pending" | "Delivered" | "Failed" | undefined;
  /** Only messages of this channel. */
  channel?: "sms" | "rcs" | "chatapp" | "email" | undefined;
  /** Only messages of this route type. */
  type?: "OTP" | "TRANS" | "PROMO" | undefined;
  /** Only messages to this phone number. */
  recipient?: string | undefined;
  /** Only messages to numbers with these last digits, 4 to 15 of them; exactly 4 for a viewer. */
  recipientEnding?: string | undefined;
  /** Only this message: `<id>:<n>`. */
  messageId?: string | undefined;
  /** The id that a carrier gave to the message, or to one of its parts. */
  carrierMessageId?: string | undefined;
  /** Campaign name of the send request. */
  campaignName?: string | undefined;
  /** The template of a message, while its text is kept: `templateName`, or `templateId` of a text. */
  templateName?: string | undefined;
  /** A part of the text, while it is kept; small and capital letters from a to z are the same. Not for viewers. Has no index: add `from` where there are millions of messages. */
  text?: string | undefined;
  /** Only messages of test keys, or only of live keys. */
  test?: boolean | undefined;
  /** Accepted at this time or later: epoch milliseconds or ISO 8601. */
  from?: string | number | undefined;
  /** Accepted before this time. */
  to?: string | number | undefined;
  /** Which messages come first. Defaults to `newest`. */
  order?: "newest" | "oldest" | undefined;
  /** `nextCursor` of the previous page. */
  cursor?: string | undefined;
  /** Records per page, 1 to 200. Defaults to 50. */
  limit?: number | undefined;
}

/** A file: an upload, or the copy of what a user sent. */
export interface Media {
  /** Media ID, the `mediaId` of messages. */
  id: string;
  /** `ready`; of a user's file also `pending` while it is fetched from the platform, and `failed` if that did not work. */
  state: "pending" | "storing" | "ready" | "failed";
  /** image, video, document, audio or sticker; null for another type of a user's file. */
  kind: string | null;
  /** Content type, by the content. */
  type: string;
  /** Bytes; null until the file is ready. */
  size: number | null;
  /** SHA-256 of the content in hexadecimal; null until the file is ready. */
  sha256: string | null;
  /** File name, if there is one. */
  name: string | null;
  /** True if a test key uploaded it, or a phone of test messages sent it. */
  test: boolean;
  /** Inbound message that brought it; null for an upload. */
  inboundId: string | null;
  /** Why a user's file could not be fetched. */
  failure: string | null;
  /** URL of the content. It needs a key. */
  url: string;
  /** Epoch milliseconds. */
  createdAt: number;
  /** When it is removed, unless it is uploaded or used again; null for a user's file, which is kept as long as its message. */
  expiresAt: number | null;
}

export interface Message {
  /** Message ID as in the send response: `<id>:<n>`. */
  messageId: string;
  /** sms, rcs, chatapp, email; sms for an RCS message that was sent as SMS instead. */
  channel: string;
  /** Route type: TRANS, PROMO or OTP. */
  type: string;
  /** Sender ID, bot or business number. */
  sender: string;
  /** The phone number, without plus. */
  recipient: string;
  /** As it was sent; the octets of a binary message in hexadecimal; empty once it was erased, and where cards hold the words. */
  text: string;
  /** Encoding of an SMS whose text is kept: gsm7, ucs2 or binary. Otherwise null. */
  encoding: string | null;
  /** `data_coding` of a binary message if the request named one. Otherwise null. */
  dataCoding: number | null;
  /** User data header of the request, in hexadecimal. Null if it had none. */
  udh: string | null;
  /** Chat app: content of a session message that is no text, as in the request: its `type` and the field of that name. */
  session?:
    | {
        [name: string]: unknown;
      }
    | undefined;
  /** Chat app: message that it replies to or reacts to, as the request named it. */
  about?: string | undefined;
  /** The time for which texts are kept is over, or it was a one-time password. */
  erased: boolean;
  /** The template of the message: `templateName` of a chat-app or RCS message, `templateId` of a text. */
  templateName: string | null;
  /** Status for end users. */
  status: "Pending" | "Delivered" | "Failed";
  /** Detailed state behind the status. */
  state: string;
  /** Error code of the carrier or of Heliograph. */
  errCode: string | null;
  /** Status in words, or the reason of a failure. */
  statusDescription: string | null;
  /** Number of SMS segments; 1 on other channels. */
  segments: number;
  /** Credits charged, less refunds: 0 if the message was rejected, cancelled or refunded. */
  credits: number;
  /** Campaign name of the send request. */
  campaignName: string | null;
  /** True if sent with a test key. */
  test: boolean;
  /** Time of acceptance in epoch milliseconds. */
  createdAt: number;
  /** Earliest time of sending of a waiting message; null afterwards and while its campaign is paused. */
  dueAt: number | null;
  /** Time when a carrier accepted the message. */
  submittedAt: number | null;
  /** Time of the final state. */
  doneAt: number | null;
}

export interface MessageRequest {
  /** The recipient: country code first, 7 to 15 digits, plus optional. */
  to: string;
  /** Route type on every channel. A marketing template of the chat app needs PROMO. */
  type: "TRANS" | "PROMO";
  /** Seconds to wait for a delivery on one channel before the next one, 60 by default. After a failure the next one follows at once. */
  moveOnAfterSeconds?: number | undefined;
  /** Groups messages, to be counted, paused and cancelled. */
  campaignName?: string | undefined;
  /** When to send, within the next 30 days: epoch milliseconds, or ISO 8601 with its zone. */
  sendAt?: number | string | undefined;
  /** Channels in order, each at most once. The message takes the next one if the number cannot be reached on this one, if it fails, or if no delivery arrives in time. A chat-app way without a template is left out unless the recipient wrote within 24 hours. */
  ways: (
    | {
        /** Channel. */
        channel: "rcs";
        /** The bot that sends. */
        botId: string;
        /** The template to send. */
        templateName: string;
        /** One item with `params` for a text with variables, or one item with `fileUrl` per card; left out, the template is sent as it is. */
        content?:
          | {
              /** One value per placeholder of the text, in order; empty if it has none. Never null. */
              params?: string[] | undefined;
              /** Public URL (http or https) of the card's image or video. */
              fileUrl?: string | undefined;
              /** Uploaded media (`POST /v1/media`), in the place of `fileUrl`. */
              mediaId?: string | undefined;
            }[]
          | undefined;
      }
    | {
        /** Channel. */
        channel: "chatapp";
        /** The business number, with country code and plus: `+<country code><number>`. */
        from: string;
        /** The template: lowercase letters, digits and underscores. Required when type is template. */
        templateName?: string | undefined;
        /** Language of the template. Left out, that of the recipient's contact, then of the account. A template without it is sent in its closest language. */
        language?: string | undefined;
        /** Values and header; left out when the template has neither variables nor a header. */
        components?:
          | {
              /** The template's body. */
              body: {
                /** One value per placeholder of the template, in order; empty if it has none. Never null. Required unless `values` is given. */
                params?: string[] | undefined;
                /** In place of `params` where the template's variables have names: each name with its value. */
                values?:
                  | {
                      [name: string]: string;
                    }
                  | undefined;
              };
              /** The template's header; left out when it has none. */
              header?:
                | {
                    /** Type of the header, which must be that of the template. */
                    type: "text" | "image" | "video" | "document" | "location";
                    /** Required when type is text, and only then. */
                    text?: string | undefined;
                    /** Required when type is image, and only then. */
                    image?:
                      | {
                          /** URL (http or https) of the image: jpg, jpeg or png of at most 5 MB. Required unless `mediaId` is given. */
                          link?: string | undefined;
                          /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                          mediaId?: string | undefined;
                        }
                      | undefined;
                    /** Required when type is video, and only then. */
                    video?:
                      | {
                          /** URL (http or https) of the video: mp4 or 3gp of at most 16 MB. Required unless `mediaId` is given. */
                          link?: string | undefined;
                          /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                          mediaId?: string | undefined;
                        }
                      | undefined;
                    /** Required when type is document, and only then. */
                    document?:
                      | {
                          /** URL (http or https) of the document: pdf, doc, docx, xls, xlsx, ppt, pptx or txt of at most 100 MB. Required unless `mediaId` is given. */
                          link?: string | undefined;
                          /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                          mediaId?: string | undefined;
                        }
                      | undefined;
                    /** Required when type is location, and only then. */
                    location?:
                      | {
                          /** Latitude in degrees. */
                          latitude: number;
                          /** Longitude in degrees. */
                          longitude: number;
                          /** Name of the place. */
                          name: string;
                          /** Address of the place. */
                          address: string;
                        }
                      | undefined;
                  }
                | undefined;
              /** Values of the template's buttons. A link with a variable and a copy-code button need one. */
              buttons?:
                | {
                    /** Place of the button in the template, from 0. */
                    index: number;
                    /** Link: value of the variable at the end of its URL. */
                    text?: string | undefined;
                    /** Quick reply: comes back when it is tapped. */
                    payload?: string | undefined;
                    /** Copy-code button: the code that it copies. */
                    code?: string | undefined;
                    /** Form (a flow): comes back with its answers. */
                    flowToken?: string | undefined;
                    /** Form: data of its first screen, at most 5000 characters as JSON. */
                    data?:
                      | {
                          [name: string]: unknown;
                        }
                      | undefined;
                    /** Catalogue: product whose picture is shown. */
                    productId?: string | undefined;
                  }[]
                | undefined;
              /** The end of a limited-time offer; left out where the template shows none. */
              offer?:
                | {
                    /** When the offer ends: epoch milliseconds, or ISO 8601 with its zone. Phones show the time that is left. */
                    expiresAt: number | string;
                  }
                | undefined;
              /** The cards of a carousel, in order. Each has the image or video of its header. */
              cards?:
                | {
                    /** The template's header; left out when it has none. */
                    header: {
                      /** Type of the header, which must be that of the template. */
                      type: "text" | "image" | "video" | "document" | "location";
                      /** Required when type is text, and only then. */
                      text?: string | undefined;
                      /** Required when type is image, and only then. */
                      image?:
                        | {
                            /** URL (http or https) of the image: jpg, jpeg or png of at most 5 MB. Required unless `mediaId` is given. */
                            link?: string | undefined;
                            /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                            mediaId?: string | undefined;
                          }
                        | undefined;
                      /** Required when type is video, and only then. */
                      video?:
                        | {
                            /** URL (http or https) of the video: mp4 or 3gp of at most 16 MB. Required unless `mediaId` is given. */
                            link?: string | undefined;
                            /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                            mediaId?: string | undefined;
                          }
                        | undefined;
                      /** Required when type is document, and only then. */
                      document?:
                        | {
                            /** URL (http or https) of the document: pdf, doc, docx, xls, xlsx, ppt, pptx or txt of at most 100 MB. Required unless `mediaId` is given. */
                            link?: string | undefined;
                            /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                            mediaId?: string | undefined;
                          }
                        | undefined;
                      /** Required when type is location, and only then. */
                      location?:
                        | {
                            /** Latitude in degrees. */
                            latitude: number;
                            /** Longitude in degrees. */
                            longitude: number;
                            /** Name of the place. */
                            name: string;
                            /** Address of the place. */
                            address: string;
                          }
                        | undefined;
                    };
                    /** Values of the card's text. */
                    body?:
                      | {
                          /** One value per placeholder of the template, in order; empty if it has none. Never null. Required unless `values` is given. */
                          params?: string[] | undefined;
                          /** In place of `params` where the template's variables have names: each name with its value. */
                          values?:
                            | {
                                [name: string]: string;
                              }
                            | undefined;
                        }
                      | undefined;
                    /** Values of the template's buttons. A link with a variable and a copy-code button need one. */
                    buttons?:
                      | {
                          /** Place of the button in the template, from 0. */
                          index: number;
                          /** Link: value of the variable at the end of its URL. */
                          text?: string | undefined;
                          /** Quick reply: comes back when it is tapped. */
                          payload?: string | undefined;
                          /** Copy-code button: the code that it copies. */
                          code?: string | undefined;
                          /** Form (a flow): comes back with its answers. */
                          flowToken?: string | undefined;
                          /** Form: data of its first screen, at most 5000 characters as JSON. */
                          data?:
                            | {
                                [name: string]: unknown;
                              }
                            | undefined;
                          /** Catalogue: product whose picture is shown. */
                          productId?: string | undefined;
                        }[]
                      | undefined;
                  }[]
                | undefined;
            }
          | undefined;
        /** Required when type is text, and only then. */
        text?:
          | {
              /** The message. */
              body: string;
              /** True to show a preview of the first link. */
              preview_url?: boolean | undefined;
            }
          | undefined;
        /** Required when type is image, and only then. */
        image?:
          | {
              /** URL (http or https) of the image: jpg, jpeg or png of at most 5 MB. Required unless `mediaId` is given. */
              link?: string | undefined;
              /** Uploaded media (`POST /v1/media`), in the place of `link`. */
              mediaId?: string | undefined;
              /** Text below the file. */
              caption?: string | undefined;
            }
          | undefined;
        /** Required when type is video, and only then. */
        video?:
          | {
              /** URL (http or https) of the video: mp4 or 3gp of at most 16 MB. Required unless `mediaId` is given. */
              link?: string | undefined;
              /** Uploaded media (`POST /v1/media`), in the place of `link`. */
              mediaId?: string | undefined;
              /** Text below the file. */
              caption?: string | undefined;
            }
          | undefined;
        /** Required when type is document, and only then. */
        document?:
          | {
              /** URL (http or https) of the document: pdf, doc, docx, xls, xlsx, ppt, pptx or txt of at most 100 MB. Required unless `mediaId` is given. */
              link?: string | undefined;
              /** Uploaded media (`POST /v1/media`), in the place of `link`. */
              mediaId?: string | undefined;
              /** Text below the file. */
              caption?: string | undefined;
              /** Name of the document on the phone. */
              filename?: string | undefined;
            }
          | undefined;
        /** Required when type is audio, and only then. */
        audio?:
          | {
              /** URL (http or https) of the audio: aac, amr, mp3, m4a, mp4, ogg or opus of at most 16 MB. Required unless `mediaId` is given. */
              link?: string | undefined;
              /** Uploaded media (`POST /v1/media`), in the place of `link`. */
              mediaId?: string | undefined;
              /** True for a voice message, which the phone shows with a microphone. OGG with OPUS. */
              voice?: boolean | undefined;
            }
          | undefined;
        /** Required when type is sticker, and only then. */
        sticker?:
          | {
              /** URL (http or https) of the sticker: webp of at most 500 KB. Required unless `mediaId` is given. */
              link?: string | undefined;
              /** Uploaded media (`POST /v1/media`), in the place of `link`. */
              mediaId?: string | undefined;
            }
          | undefined;
        /** Required when type is location, and only then. */
        location?:
          | {
              /** Latitude in degrees. */
              latitude: number;
              /** Longitude in degrees. */
              longitude: number;
              /** Name of the place. */
              name?: string | undefined;
              /** Address of the place. */
              address?: string | undefined;
            }
          | undefined;
        /** Required when type is contacts, and only then. */
        contacts?:
          | {
              /** The name: formatted_name and at least one other part. */
              name: {
                /** The whole name. */
                formatted_name: string;
                /** First name. */
                first_name?: string | undefined;
                /** Last name. */
                last_name?: string | undefined;
                /** Middle name. */
                middle_name?: string | undefined;
                /** Suffix of the name. */
                suffix?: string | undefined;
                /** Prefix of the name. */
                prefix?: string | undefined;
              };
              /** Year, month and day. */
              birthday?: string | undefined;
              /** Phone numbers. */
              phones?:
                | {
                    /** The number as the phone shows it. */
                    phone?: string | undefined;
                    /** Such as CELL, HOME or WORK. */
                    type?: string | undefined;
                    /** The number on the platform, so that the phone offers a chat. */
                    wa_id?: string | undefined;
                  }[]
                | undefined;
              /** E-mails. */
              emails?:
                | {
                    /** Address. */
                    email?: string | undefined;
                    /** Such as HOME or WORK. */
                    type?: string | undefined;
                  }[]
                | undefined;
              /** Web pages. */
              urls?:
                | {
                    /** URL. */
                    url?: string | undefined;
                    /** Such as HOME or WORK. */
                    type?: string | undefined;
                  }[]
                | undefined;
              /** Addresses. */
              addresses?:
                | {
                    /** Street and number. */
                    street?: string | undefined;
                    /** City. */
                    city?: string | undefined;
                    /** State. */
                    state?: string | undefined;
                    /** Postal code. */
                    zip?: string | undefined;
                    /** Country. */
                    country?: string | undefined;
                    /** Two letters of the country. */
                    country_code?: string | undefined;
                    /** Such as HOME or WORK. */
                    type?: string | undefined;
                  }[]
                | undefined;
              /** Employer. */
              org?:
                | {
                    /** Company. */
                    company?: string | undefined;
                    /** Department. */
                    department?: string | undefined;
                    /** Position. */
                    title?: string | undefined;
                  }
                | undefined;
            }[]
          | undefined;
        /** Required when type is interactive, and only then. */
        interactive?:
          | {
              /** button, list or cta_url. */
              type: "button";
              /** Above the text. */
              header?:
                | {
                    /** Type of the header. */
                    type: "text" | "image" | "video" | "document";
                    /** Required when the header's type is text. */
                    text?: string | undefined;
                    /** Required when the header's type is image. */
                    image?:
                      | {
                          /** URL (http or https) of the image: jpg, jpeg or png of at most 5 MB. Required unless `mediaId` is given. */
                          link?: string | undefined;
                          /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                          mediaId?: string | undefined;
                        }
                      | undefined;
                    /** Required when the header's type is video. */
                    video?:
                      | {
                          /** URL (http or https) of the video: mp4 or 3gp of at most 16 MB. Required unless `mediaId` is given. */
                          link?: string | undefined;
                          /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                          mediaId?: string | undefined;
                        }
                      | undefined;
                    /** Required when the header's type is document. */
                    document?:
                      | {
                          /** URL (http or https) of the document: pdf, doc, docx, xls, xlsx, ppt, pptx or txt of at most 100 MB. Required unless `mediaId` is given. */
                          link?: string | undefined;
                          /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                          mediaId?: string | undefined;
                          /** Name of the document on the phone. */
                          filename?: string | undefined;
                        }
                      | undefined;
                  }
                | undefined;
              /** The text. */
              body: {
                /** The text. */
                text: string;
              };
              /** Below the text. */
              footer?:
                | {
                    /** The footer. */
                    text: string;
                  }
                | undefined;
              /** The buttons. */
              action: {
                /** 1 to 3 reply buttons. */
                buttons: {
                  /** Always reply. */
                  type: "reply";
                  /** The button. */
                  reply: {
                    /** Comes back when the button is tapped. */
                    id: string;
                    /** Label. */
                    title: string;
                  };
                }[];
              };
            }
          | {
              /** button, list or cta_url. */
              type: "list";
              /** Above the text. */
              header?:
                | {
                    /** Always text. */
                    type: "text";
                    /** Required when the header's type is text. */
                    text?: string | undefined;
                  }
                | undefined;
              /** The text. */
              body: {
                /** The text. */
                text: string;
              };
              /** Below the text. */
              footer?:
                | {
                    /** The footer. */
                    text: string;
                  }
                | undefined;
              /** The list. */
              action: {
                /** Label of the button that opens the list. */
                button: string;
                /** Sections of the list. */
                sections: {
                  /** Heading; required if there are several sections. */
                  title?: string | undefined;
                  /** Rows; at most 10 in all sections together. */
                  rows: {
                    /** Comes back when the row is chosen. */
                    id: string;
                    /** Label. */
                    title: string;
                    /** Below the label. */
                    description?: string | undefined;
                  }[];
                }[];
              };
            }
          | {
              /** button, list or cta_url. */
              type: "cta_url";
              /** Above the text. */
              header?:
                | {
                    /** Type of the header. */
                    type: "text" | "image" | "video" | "document";
                    /** Required when the header's type is text. */
                    text?: string | undefined;
                    /** Required when the header's type is image. */
                    image?:
                      | {
                          /** URL (http or https) of the image: jpg, jpeg or png of at most 5 MB. Required unless `mediaId` is given. */
                          link?: string | undefined;
                          /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                          mediaId?: string | undefined;
                        }
                      | undefined;
                    /** Required when the header's type is video. */
                    video?:
                      | {
                          /** URL (http or https) of the video: mp4 or 3gp of at most 16 MB. Required unless `mediaId` is given. */
                          link?: string | undefined;
                          /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                          mediaId?: string | undefined;
                        }
                      | undefined;
                    /** Required when the header's type is document. */
                    document?:
                      | {
                          /** URL (http or https) of the document: pdf, doc, docx, xls, xlsx, ppt, pptx or txt of at most 100 MB. Required unless `mediaId` is given. */
                          link?: string | undefined;
                          /** Uploaded media (`POST /v1/media`), in the place of `link`. */
                          mediaId?: string | undefined;
                          /** Name of the document on the phone. */
                          filename?: string | undefined;
                        }
                      | undefined;
                  }
                | undefined;
              /** The text. */
              body: {
                /** The text. */
                text: string;
              };
              /** Below the text. */
              footer?:
                | {
                    /** The footer. */
                    text: string;
                  }
                | undefined;
              /** The button. */
              action: {
                /** Always cta_url. */
                name: "cta_url";
                /** The button. */
                parameters: {
                  /** Label of the button. */
                  display_text: string;
                  /** URL that the button opens. */
                  url: string;
                };
              };
            }
          | undefined;
        /** Required when type is reaction, and only then. */
        reaction?:
          | {
              /** A `messageId` of a message to this recipient, an `id` of `GET /v1/inbound`, or the platform's own id. */
              message_id: string;
              /** One emoji; empty to take the reaction back. */
              emoji: string;
            }
          | undefined;
        /** The message that this one replies to; the phone quotes it. For session messages to one recipient. */
        context?:
          | {
              /** A `messageId` of a message to this recipient, an `id` of `GET /v1/inbound`, or the platform's own id. */
              message_id: string;
            }
          | undefined;
      }
    | {
        /** Channel. */
        channel: "sms";
        /** Originator or alphanumeric sender id. */
        sender: string;
        /** The message. At most 1,600 characters and 12 segments. Required unless a template is filled in by `templateId` and `custom`. */
        text?: string | undefined;
        /** The template to fill in with `custom`, or that the finished `text` must match. */
        templateId?: string | undefined;
        /** One value per variable of the template, in order; empty if it has none. `text` is then not used. */
        custom?: (string | number)[] | undefined;
        /** 1 always sends the text as Unicode; 0 refuses a text that needs Unicode. Echoed in the response. */
        unicode?: 0 | 1 | undefined;
        /** 1 shows the message directly on the screen (flash SMS). Echoed in the response. */
        flash?: 0 | 1 | undefined;
      }
  )[];
}

export interface MessageWithTimeline {
  /** Message ID as in the send response: `<id>:<n>`. */
  messageId: string;
  /** sms, rcs, chatapp, email; sms for an RCS message that was sent as SMS instead. */
  channel: string;
  /** Route type: TRANS, PROMO or OTP. */
  type: string;
  /** Sender ID, bot or business number. */
  sender: string;
  /** The phone number, without plus. */
  recipient: string;
  /** As it was sent; the octets of a binary message in hexadecimal; empty once it was erased, and where cards hold the words. */
  text: string;
  /** Encoding of an SMS whose text is kept: gsm7, ucs2 or binary. Otherwise null. */
  encoding: string | null;
  /** `data_coding` of a binary message if the request named one. Otherwise null. */
  dataCoding: number | null;
  /** User data header of the request, in hexadecimal. Null if it had none. */
  udh: string | null;
  /** Chat app: content of a session message that is no text, as in the request: its `type` and the field of that name. */
  session?:
    | {
        [name: string]: unknown;
      }
    | undefined;
  /** Chat app: message that it replies to or reacts to, as the request named it. */
  about?: string | undefined;
  /** The time for which texts are kept is over, or it was a one-time password. */
  erased: boolean;
  /** The template of the message: `templateName` of a chat-app or RCS message, `templateId` of a text. */
  templateName: string | null;
  /** Status for end users. */
  status: "Pending" | "Delivered" | "Failed";
  /** Detailed state behind the status. */
  state: string;
  /** Error code of the carrier or of Heliograph. */
  errCode: string | null;
  /** Status in words, or the reason of a failure. */
  statusDescription: string | null;
  /** Number of SMS segments; 1 on other channels. */
  segments: number;
  /** Credits charged, less refunds: 0 if the message was rejected, cancelled or refunded. */
  credits: number;
  /** Campaign name of the send request. */
  campaignName: string | null;
  /** True if sent with a test key. */
  test: boolean;
  /** Time of acceptance in epoch milliseconds. */
  createdAt: number;
  /** Earliest time of sending of a waiting message; null afterwards and while its campaign is paused. */
  dueAt: number | null;
  /** Time when a carrier accepted the message. */
  submittedAt: number | null;
  /** Time of the final state. */
  doneAt: number | null;
  /** Timeline, oldest event first. */
  timeline: {
    /** Time of the event in epoch milliseconds. */
    at: number;
    /** Event. */
    event:
      | "accepted"
      | "held"
      | "resumed"
      | "postponed"
      | "sent"
      | "rerouted"
      | "enroute"
      | "delivered"
      | "read"
      | "failed"
      | "unconfirmed"
      | "cancelled"
      | "clicked"
      | "replied"
      | "simulated";
    /** Description of the event and the next step. */
    detail: string;
  }[];
}

export interface OtpGenerated {
  /** The verify id. */
  data: string;
  /** null on success. */
  error: null;
  /** The outcome in words. */
  message: "OTP Generated Successfully!";
}

export interface OtpOutcome {
  /** The verify id. */
  data: string;
  /** null on success. */
  error: null;
  /** The outcome in words. */
  message: "OTP Outcome Recorded!";
}

export interface OtpVerified {
  /** The verify id. */
  data: string;
  /** null on success. */
  error: null;
  /** The outcome in words. */
  message: "OTP Verified Successfully!";
}

export interface OutcomeRequest {
  /** `used` if your product accepted the code, `not-used` if the user did not use it. */
  outcome: "used" | "not-used";
}

export interface RcsMessageStatus {
  /** Bot that sent or received the message. */
  botId: string;
  /** Channel of the event. */
  channel: "rcs";
  /** Event type. */
  event: "message_status";
  /** Message ID: `<id>:<n>`. */
  messageId: string;
  /** Status change. */
  statuses: {
    /** ID of this status change: the `webhook-id`. */
    eventId: string;
    /** sent: submitted. delivered: on the device. read: opened. failed: not delivered. */
    status: "sent" | "delivered" | "read" | "failed";
    /** Epoch seconds. */
    timestamp: number;
  };
  /** Present if the message was sent by another way instead: the channel of that way. */
  deliveryChannel?: "sms" | "rcs" | "chatapp" | undefined;
}

export interface RcsRequest {
  /** The recipient with country code and plus. Required, here or as `from`, unless `recipients` is given. */
  number?: string | undefined;
  /** Another name of `number`. If both are given, they must be equal. */
  from?: string | undefined;
  /** The template to send. */
  templateName: string;
  /** The bot that sends. */
  botId: string;
  /** Route type. */
  type: "TRANS" | "PROMO";
  /** Groups messages, to be counted, paused and cancelled. */
  campaignName?: string | undefined;
  /** One item with `params` for a text with variables, or one item with `fileUrl` per card; left out, the template is sent as it is. */
  content?:
    | {
        /** One value per placeholder of the text, in order; empty if it has none. Never null. */
        params?: string[] | undefined;
        /** Public URL (http or https) of the card's image or video. */
        fileUrl?: string | undefined;
        /** Uploaded media (`POST /v1/media`), in the place of `fileUrl`. */
        mediaId?: string | undefined;
      }[]
    | undefined;
  /** Replaces `number`: at most 1,000 recipients, each optionally with content of its own. */
  recipients?:
    | {
        /** The recipient with country code and plus. */
        number: string;
        /** Values or images of this recipient. Default: those of the request. */
        content?:
          | {
              /** One value per placeholder of the text, in order; empty if it has none. Never null. */
              params?: string[] | undefined;
              /** Public URL (http or https) of the card's image or video. */
              fileUrl?: string | undefined;
              /** Uploaded media (`POST /v1/media`), in the place of `fileUrl`. */
              mediaId?: string | undefined;
            }[]
          | undefined;
      }[]
    | undefined;
  /** When to send, within the next 30 days: epoch milliseconds, or ISO 8601 with its zone. */
  sendAt?: number | string | undefined;
  /** SMS that is sent instead if the number has no RCS or no delivery arrives in time. It has the same `messageId` and is not charged twice: the higher price applies. */
  fallback?:
    | {
        /** sms. */
        type: "sms";
        /** Seconds to wait for a delivery, 60 unless given. Numbers without RCS get the fallback at once. */
        afterSeconds?: number | undefined;
        /** Originator or alphanumeric sender id. */
        sender: string;
        /** The text, unless a template is filled in. */
        text?: string | undefined;
        /** SMS template. */
        templateId?: string | undefined;
        /** One value per variable of that template. */
        custom?: (string | number)[] | undefined;
      }
    | undefined;
}

export interface RcsUserMessage {
  /** Bot that sent or received the message. */
  botId: string;
  /** Channel of the event. */
  channel: "rcs";
  /** Event type. */
  event: "user_message";
  /** Message that it replies to; if unknown, an ID of the same form. */
  messageId: string;
  /** Phone number of the user, with plus. */
  userPhoneNumber: string;
  /** Epoch milliseconds. */
  timestamp: number;
  /** Content of the user's message. */
  message: {
    /** Text of the user; empty if the message has one of the following. */
    text: string;
    /** Button that was tapped; null if none. */
    suggestionResponse: {
      /** Label of the button. */
      plainText: string;
      /** Data of the button. */
      postBack: {
        /** Postback data of the button; the number for a call button. */
        data: string;
      };
      /** REPLY: a reply button. ACTION: a link or another action. DIALER: a call button. */
      type: "REPLY" | "ACTION" | "DIALER";
    } | null;
    /** File from the user; null if none. */
    userFile: {
      /** Image, video, audio or another file. */
      category: string;
      /** The file. */
      payload: {
        /** Media type, such as image/jpeg. */
        mimeType: string;
        /** Size in bytes. */
        fileSizeBytes: number;
        /** File name on the user's phone. */
        fileName: string;
        /** URL of the file at the platform. */
        fileUri: string;
      };
      /** Thumbnail; null if there is none. */
      thumbnail: {
        /** Media type, such as image/jpeg. */
        mimeType: string;
        /** Size in bytes. */
        fileSizeBytes: number;
        /** File name on the user's phone. */
        fileName: string;
        /** URL of the file at the platform. */
        fileUri: string;
      } | null;
    } | null;
    /** Our copy of the user's file, for `GET /v1/media/{id}`; absent if there is none. It is fetched from the platform while this event is delivered, so its `state` may be `pending`. */
    media?:
      | {
          /** Media ID. */
          id: string;
        }
      | undefined;
    /** Location shared by the user; otherwise absent. */
    location?:
      | {
          /** Latitude in degrees. */
          latitude: number;
          /** Longitude in degrees. */
          longitude: number;
        }
      | undefined;
    details?: InboundDetails | undefined;
  };
}

export interface SendResponse {
  /** Identifier of the send request. */
  id: string;
  /** One record per recipient, in the order of the request. */
  data: {
    /** The recipient's number: with a plus on RCS, without on the other channels. */
    recipient: string;
    /** `<id>:<n>`, n counting from 1. */
    messageId: string;
  }[];
  /** Number of records in data. */
  totalCount: number;
  /** The outcome as text. */
  message: "Message Sent Successfully!";
  /** null on success. */
  error: null;
}

export interface SmsDeliveryReport {
  /** Message ID as in the send response. */
  messageId?: string | undefined;
  /** The recipient's number. */
  mobileNumber?: string | undefined;
  /** Sender ID of the message. */
  senderName?: string | undefined;
  /** Error code of the carrier or of Heliograph; empty if there is none. */
  errCode?: string | undefined;
  /** Delivery status. Pending means that no receipt arrived within the message's validity. */
  status?: "Pending" | "Delivered" | "Failed" | undefined;
  /** Time of submission: epoch milliseconds as a string. */
  createdAt?: string | undefined;
  /** Time of delivery: YYYY-MM-DD HH:mm:ss in the account's time zone; empty if not delivered. */
  deliveredDate?: string | undefined;
  /** Status in words, or the reason of a failure. */
  statusDescription?: string | undefined;
  /** Credits charged. */
  messageCredit?: string | undefined;
  /** Carrier of the message. */
  gatewayName?: string | undefined;
  /** Operator and service circle of the recipient, if known; the carrier's data takes precedence. */
  operatorCircle?: string | undefined;
}

export interface SmsDeliveryReportEvent {
  /** Sender of the message, or recipient of the reply. */
  sender: string;
  /** Channel of the event. */
  channel: "sms";
  /** Event type. */
  event: "delivery_report";
  /** Message ID as in the send response. */
  messageId: string;
  /** The recipient's number. */
  mobileNumber: string;
  /** Sender ID of the message. */
  senderName: string;
  /** Error code of the carrier or of Heliograph; empty if there is none. */
  errCode: string;
  /** Delivery status. Pending means that no receipt arrived within the message's validity. */
  status: "Pending" | "Delivered" | "Failed";
  /** Time of submission: epoch milliseconds as a string. */
  createdAt: string;
  /** Time of delivery: YYYY-MM-DD HH:mm:ss in the account's time zone; empty if not delivered. */
  deliveredDate: string;
  /** Status in words, or the reason of a failure. */
  statusDescription: string;
  /** Credits charged. */
  messageCredit: string;
  /** Carrier of the message. */
  gatewayName: string;
  /** Operator and service circle of the recipient, if known; the carrier's data takes precedence. */
  operatorCircle: string;
  /** Channel that delivered it, if it is not SMS. */
  deliveryChannel?: string | undefined;
  /** Phone number of the recipient, with plus. */
  userPhoneNumber: string;
  /** Epoch milliseconds. */
  timestamp: number;
}

export interface SmsLinkClick {
  /** Sender of the message, or recipient of the reply. */
  sender: string;
  /** Channel of the event. */
  channel: "sms";
  /** Event type. */
  event: "link_click";
  /** Message ID: `<id>:<n>`. */
  messageId: string;
  /** Link that was clicked. */
  link: {
    /** Code of the recipient's link. */
    code: string;
    /** Target URL. */
    url: string;
  };
  /** Visitor: a person, a link preview, or another bot. */
  agent: "person" | "preview" | "bot";
  /** Phone number of the link's recipient, with plus. */
  userPhoneNumber: string;
  /** Epoch milliseconds. */
  timestamp: number;
}

export interface SmsPreview {
  /** Text for the first recipient. Codes of short links are zeros. */
  text: string;
  /** Encoding of the SMS. */
  encoding: "gsm7" | "ucs2";
  /** Number of characters. */
  characters: number;
  /** Number of SMS segments. */
  segmentCount: number;
  /** SMS segments of the text. */
  segments: {
    /** Text of the segment. */
    text: string;
  }[];
  /** A text with fewer segments; null unless replacing typographic characters is enough. */
  cheaper: {
    /** The text in GSM-7 characters. */
    text: string;
    /** Number of SMS segments of this text. */
    segments: number;
    /** Replaced characters. */
    replaced: {
      /** Character outside GSM-7. */
      found: string;
      /** Its replacement in GSM-7. */
      use: string;
      /** True if a letter loses its accent, which readers will notice. */
      letter: boolean;
    }[];
  } | null;
  /** Total price. Recipients that would fail cost nothing. */
  credits: number;
  /** Credits of the account; null if it is not metered. */
  balance: number | null;
  /** False if the send would get 402 for lack of credits. */
  affordable: boolean;
  /** Policies that would refuse the message for a real carrier. For the simulator they are only reported. */
  wouldRefuse: string[];
  /** One record per recipient, in the order of the request. */
  recipients: {
    /** The recipient's number, normalised. */
    recipient: string;
    /** Reason why the message to this recipient would fail; null if it would be sent. */
    failure: string | null;
    /** Price of the message to this recipient. */
    credits: number;
    /** Earliest time of sending in epoch milliseconds; null if it would be sent at once. */
    heldUntil: number | null;
    /** Policy decisions. */
    verdicts: {
      /** Name of the policy. */
      policy: string;
      /** passed, held, refused or noted. */
      verdict: string;
      /** Reason of the decision. */
      detail: string;
    }[];
    /** Matching routes by priority. Of routes with the same priority, the one with the greatest weight comes first. */
    routes: {
      /** Name of the route. */
      name: string;
      /** Carrier of the route. */
      carrier: string;
    }[];
    /** Text for this recipient. Present if recipients have values of their own. */
    text?: string | undefined;
    /** Number of SMS segments of this recipient's text. */
    segmentCount?: number | undefined;
  }[];
}

export interface SmsRequest {
  /** Originator or alphanumeric sender id. */
  sender: string;
  /** Route type. OTP goes before TRANS, TRANS before PROMO. */
  type: "TRANS" | "PROMO" | "OTP";
  /** 1 always sends the text as Unicode; 0 refuses a text that needs Unicode. Echoed in the response. */
  unicode?: 0 | 1 | undefined;
  /** 1 shows the message directly on the screen (flash SMS). Echoed in the response. */
  flash?: 0 | 1 | undefined;
  /** Groups messages, to be counted, paused and cancelled. */
  campaignName?: string | undefined;
  /** The template to fill in with `custom`, or that the finished `text` must match. */
  templateId?: string | undefined;
  /** One value per variable of the template, in order; empty if it has none. `text` is then not used. */
  custom?: (string | number)[] | undefined;
  /** Short links, one code per recipient. The text carries `{SORT}` inside each link. */
  shortenUrlData?:
    | {
        /** True shortens the links. */
        shortenUrl: boolean;
        /** URLs (http or https). The k-th `{SORT}` in the text becomes the code of the k-th URL. */
        targetUrl?: string[] | undefined;
      }
    | undefined;
  /** When to send, within the next 30 days: epoch milliseconds, or ISO 8601 with its zone. */
  sendAt?: number | string | undefined;
  /** One recipient, several with commas between them, or an array. At most 1,000 in one request. Required unless `recipients` is given. */
  to?: string | string[] | undefined;
  /** Replaces `to`: recipients with values of their own, for the template or for placeholders such as `{{1}}` in `text`. */
  recipients?:
    | {
        /** Phone number: country code first, 7 to 15 digits, plus optional. */
        to: string;
        /** This recipient's own values. */
        custom?: (string | number)[] | undefined;
      }[]
    | undefined;
  /** The message. At most 1,600 characters and 12 segments. Required unless a template is filled in by `templateId` and `custom`. */
  text?: string | undefined;
}

export interface SmsSendResponse {
  /** Identifier of the send request. */
  id: string;
  /** One record per recipient, in the order of the request. */
  data: {
    /** The recipient's number: with a plus on RCS, without on the other channels. */
    recipient: string;
    /** `<id>:<n>`, n counting from 1. */
    messageId: string;
  }[];
  /** Number of records in data. */
  totalCount: number;
  /** The outcome as text. */
  message: "Message Sent Successfully!";
  /** null on success. */
  error: null;
  /** Only if the request has it. */
  unicode?: number | undefined;
  /** Only if the request has it. */
  flash?: number | undefined;
}

export interface SmsUserMessage {
  /** Sender of the message, or recipient of the reply. */
  sender: string;
  /** Channel of the event. */
  channel: "sms";
  /** Event type. */
  event: "user_message";
  /** Message that it replies to; if unknown, an ID of the same form. */
  messageId: string;
  /** Phone number of the user, with plus. */
  userPhoneNumber: string;
  /** Epoch milliseconds. */
  timestamp: number;
  /** Content of the user's message. */
  message: {
    /** Text of the user; empty if the message has one of the following. */
    text: string;
    /** Button that was tapped; null if none. */
    suggestionResponse: {
      /** Label of the button. */
      plainText: string;
      /** Data of the button. */
      postBack: {
        /** Postback data of the button; the number for a call button. */
        data: string;
      };
      /** REPLY: a reply button. ACTION: a link or another action. DIALER: a call button. */
      type: "REPLY" | "ACTION" | "DIALER";
    } | null;
    /** File from the user; null if none. */
    userFile: {
      /** Image, video, audio or another file. */
      category: string;
      /** The file. */
      payload: {
        /** Media type, such as image/jpeg. */
        mimeType: string;
        /** Size in bytes. */
        fileSizeBytes: number;
        /** File name on the user's phone. */
        fileName: string;
        /** URL of the file at the platform. */
        fileUri: string;
      };
      /** Thumbnail; null if there is none. */
      thumbnail: {
        /** Media type, such as image/jpeg. */
        mimeType: string;
        /** Size in bytes. */
        fileSizeBytes: number;
        /** File name on the user's phone. */
        fileName: string;
        /** URL of the file at the platform. */
        fileUri: string;
      } | null;
    } | null;
    /** Our copy of the user's file, for `GET /v1/media/{id}`; absent if there is none. It is fetched from the platform while this event is delivered, so its `state` may be `pending`. */
    media?:
      | {
          /** Media ID. */
          id: string;
        }
      | undefined;
    /** Location shared by the user; otherwise absent. */
    location?:
      | {
          /** Latitude in degrees. */
          latitude: number;
          /** Longitude in degrees. */
          longitude: number;
        }
      | undefined;
    details?: InboundDetails | undefined;
  };
}

export interface SystemAlertStatus {
  /** Not a channel: about the service or the account. */
  channel: "system";
  /** Event type. */
  event: "alert_status";
  /** Alert ID, as in `GET /api/alerts`. */
  alertId: string;
  /** open: the fault began. resolved: it ended, or its rule was switched off. */
  status: "open" | "resolved";
  /** The fault. */
  alert:
    | "carrier_down"
    | "delivery_rate"
    | "otp_conversion"
    | "endpoint_disabled"
    | "endpoint_failing"
    | "credits_low"
    | "queue_age"
    | "certificate_expiry";
  /** Name of the rule. */
  rule: string;
  /** Carrier, endpoint ID, channel or message type; empty for the account or the service. */
  subject: string;
  /** Name of the subject. */
  subjectName: string;
  /** Value when the alert opened, in the unit of the threshold. */
  value: number;
  /** Threshold of the rule; 0 without one. */
  threshold: number;
  /** The alert as a sentence. */
  description: string;
  /** Epoch milliseconds. */
  timestamp: number;
}

export interface TemplatePreview {
  /** Total price. Recipients that would fail cost nothing. */
  credits: number;
  /** Credits of the account; null if it is not metered. */
  balance: number | null;
  /** False if the send would get 402 for lack of credits. */
  affordable: boolean;
  /** Policies that would refuse the message for a real carrier. For the simulator they are only reported. */
  wouldRefuse: string[];
  /** One record per recipient, in the order of the request. */
  recipients: {
    /** The recipient's number, normalised. */
    recipient: string;
    /** Reason why the message to this recipient would fail; null if it would be sent. */
    failure: string | null;
    /** Price of the message to this recipient. */
    credits: number;
    /** Earliest time of sending in epoch milliseconds; null if it would be sent at once. */
    heldUntil: number | null;
    /** Policy decisions. */
    verdicts: {
      /** Name of the policy. */
      policy: string;
      /** passed, held, refused or noted. */
      verdict: string;
      /** Reason of the decision. */
      detail: string;
    }[];
    /** Matching routes by priority. Of routes with the same priority, the one with the greatest weight comes first. */
    routes: {
      /** Name of the route. */
      name: string;
      /** Carrier of the route. */
      carrier: string;
    }[];
  }[];
}

export interface ValidateRequest {
  /** The `data` of the answer to `POST /v1/verify`. */
  verifyId: string;
  /** The code as the user typed it. Spaces, dashes and the case of letters do not count. */
  otp: string;
}

export interface Verification {
  /** Verification ID as in the response to `POST /v1/verify`. */
  verifyId: string;
  /** Name of the configuration. */
  configId: string;
  /** Phone number, without plus. */
  to: string;
  /** State of the verification. Only pending codes can be verified. */
  state: "pending" | "verified" | "expired" | "exhausted" | "superseded" | "cancelled";
  /** Number of attempts. */
  attempts: number;
  /** Number of remaining attempts; 0 in a final state. */
  attemptsRemaining: number;
  /** True if sent with a test key or to a test number. */
  test: boolean;
  /** Epoch milliseconds. */
  createdAt: number;
  /** Expiry of the code in epoch milliseconds. */
  expiresAt: number;
  /** Time of the final state in epoch milliseconds; null while pending. */
  doneAt: number | null;
  /** The product that made the code, such as supabase; null if Heliograph made it. */
  source: string | null;
  /** The product checks the code itself. */
  deliverOnly: boolean;
}

export interface VerifyRequest {
  /** The name or the id of the verification configuration. Required, under this name or the next. */
  configId?: string | undefined;
  /** Another name for `configId`. */
  "config-id"?: string | undefined;
  /** Phone number: country code first, 7 to 15 digits, plus optional. */
  to: string;
  /** E-mail address of the same user, for configurations with the channel `email`. Without it that channel is skipped. A code that went by e-mail proves the address rather than the number. */
  email?: string | undefined;
  /** A code of your own: 4 to 10 letters and digits. Needs the scope `verify:custom`. */
  code?: string | undefined;
  /** `deliver` for a `code` that your own product checks: report its outcome to `POST /v1/verify/{verifyId}/outcome`. */
  mode?: "deliver" | undefined;
  /** Language of the user, such as pt-BR: chooses among the `texts` of the configuration. */
  locale?: string | undefined;
  /** The product that made `code`, by which verifications can be filtered. Defaults to `api`. */
  source?: string | undefined;
}

export interface VerifyVerificationStatus {
  /** Not a channel: a code may be sent on several. */
  channel: "verify";
  /** Event type. */
  event: "verification_status";
  /** Verification ID as in the response that started it. */
  verifyId: string;
  /** Name of the verification configuration. */
  configId: string;
  /** pending: a code was sent. verified: the code was entered. expired: it was not entered in time. exhausted: too many wrong codes. superseded: a newer code replaced it. */
  status: "pending" | "verified" | "expired" | "exhausted" | "superseded" | "cancelled";
  /** Number of attempts. */
  attempts: number;
  /** True if sent to the simulator only. */
  test: boolean;
  /** Epoch milliseconds. */
  timestamp: number;
  /** Phone number, with plus. */
  userPhoneNumber: string;
}

export type SmsPreviewRequest = SmsRequest;
