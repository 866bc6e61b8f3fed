/** Validates messages field by field, written from the platform's documentation and independent of the carrier. */

type Fields = Record<string, unknown>;
type Check = (value: unknown, at: string) => string | null;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const text =
  (max: number): Check =>
  (value, at) =>
    typeof value === "string" && value.length >= 1 && value.length <= max ? null : `${at}: 1 to ${max} characters`;
const oneOf =
  (...words: readonly unknown[]): Check =>
  (value, at) =>
    words.includes(value) ? null : `${at}: one of ${words.join(", ")}`;
const matching =
  (pattern: RegExp): Check =>
  (value, at) =>
    typeof value === "string" && pattern.test(value) ? null : `${at}: like ${pattern}`;
const within =
  (max: number): Check =>
  (value, at) =>
    typeof value === "number" && Math.abs(value) <= max ? null : `${at}: a number up to ${max}`;
const list =
  (min: number, max: number, each: Check): Check =>
  (value, at) => {
    if (!Array.isArray(value) || value.length < min || value.length > max) return `${at}: ${min} to ${max} of them`;
    return value.reduce<string | null>((found, one, index) => found ?? each(one, `${at}[${index}]`), null);
  };
/** A name ending in ? is optional; an unknown name is a fault. */
const fields =
  (rules: Record<string, Check>, exactlyOne: readonly string[] = []): Check =>
  (value, at) => {
    if (!isFields(value)) return `${at}: an object`;
    for (const name of Object.keys(value))
      if (!(name in rules) && !(`${name}?` in rules)) return `${at}.${name}: Unknown name`;
    if (exactlyOne.length > 0 && exactlyOne.filter((name) => name in value).length !== 1)
      return `${at}: exactly one of ${exactlyOne.join(", ")}`;
    for (const [rule, check] of Object.entries(rules)) {
      const name = rule.replace(/\?$/, "");
      if (!(name in value) && rule.endsWith("?")) continue;
      const fault = check(value[name], `${at}.${name}`);
      if (fault) return fault;
    }
    return null;
  };

const url = matching(/^https?:\/\/\S{1,2048}$/);
const time = matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
const words = { text: text(25), postbackData: text(2048) };

const phoneNumber = matching(/^\+[1-9]\d{6,14}$/);
/** A view mode belongs to a webview only. */
const openUrl: Check = (value, at) => {
  const fault = fields({
    url,
    "application?": oneOf("BROWSER", "WEBVIEW"),
    "webviewViewMode?": oneOf("FULL", "HALF", "TALL"),
    "description?": text(500),
  })(value, at);
  if (fault !== null || !isFields(value)) return fault;
  const isWebview = value["application"] === "WEBVIEW";
  return isWebview === "webviewViewMode" in value ? null : `${at}: a webview has a view mode, and nothing else has one`;
};

/** A place, which may have a label, or a search. */
const viewLocation: Check = (value, at) => {
  const fault = fields(
    {
      "latLong?": fields({ latitude: within(90), longitude: within(180) }),
      "label?": text(100),
      "query?": text(200),
    },
    ["latLong", "query"],
  )(value, at);
  if (fault !== null || !isFields(value)) return fault;
  return "query" in value && "label" in value ? `${at}: a search has no label` : null;
};

const ACTIONS: Record<string, Check> = {
  "openUrlAction?": openUrl,
  "composeAction?": fields(
    {
      "composeTextMessage?": fields({ phoneNumber, text: text(100) }),
      "composeRecordingMessage?": fields({ phoneNumber, type: oneOf("ACTION_TYPE_AUDIO", "ACTION_TYPE_VIDEO") }),
    },
    ["composeTextMessage", "composeRecordingMessage"],
  ),
  "dialAction?": fields({ phoneNumber }),
  "viewLocationAction?": viewLocation,
  "shareLocationAction?": fields({}),
  "createCalendarEventAction?": fields({
    startTime: time,
    endTime: time,
    title: text(100),
    "description?": text(500),
  }),
};
const suggestion = fields(
  {
    "reply?": fields(words),
    "action?": fields(
      { ...words, "fallbackUrl?": url, ...ACTIONS },
      Object.keys(ACTIONS).map((name) => name.slice(0, -1)),
    ),
  },
  ["reply", "action"],
);
const suggestions = (max: number): Record<string, Check> => ({ "suggestions?": list(1, max, suggestion) });

const contentInfo = fields({
  fileUrl: url,
  "thumbnailUrl?": url,
  "forceRefresh?": oneOf(true, false),
});
const uploadedFile = fields({ fileName: matching(/^files\/\S+$/), "thumbnailName?": matching(/^files\/\S+$/) });
const cardContent = (...heights: string[]): Check =>
  fields({
    "title?": text(200),
    "description?": text(2000),
    "media?": fields({ height: oneOf(...heights), "contentInfo?": contentInfo, "uploadedRbmFile?": uploadedFile }, [
      "contentInfo",
      "uploadedRbmFile",
    ]),
    ...suggestions(4),
  });
/** The alignment of the image is required for horizontal cards, and ignored for others. */
const standaloneCard: Check = (value, at) => {
  const fault = fields({
    cardOrientation: oneOf("VERTICAL", "HORIZONTAL"),
    "thumbnailImageAlignment?": oneOf("LEFT", "RIGHT"),
    cardContent: cardContent("SHORT", "MEDIUM", "TALL"),
  })(value, at);
  if (fault !== null || !isFields(value)) return fault;
  const isHorizontal = value["cardOrientation"] === "HORIZONTAL";
  return isHorizontal === "thumbnailImageAlignment" in value ? null : `${at}: thumbnailImageAlignment`;
};
const richCard = fields(
  {
    "standaloneCard?": standaloneCard,
    "carouselCard?": fields({
      cardWidth: oneOf("SMALL", "MEDIUM"),
      cardContents: list(2, 10, cardContent("SHORT", "MEDIUM")),
    }),
  },
  ["standaloneCard", "carouselCard"],
);

const agentMessage = fields(
  {
    contentMessage: fields({ "text?": text(3072), "richCard?": richCard, ...suggestions(11) }, ["text", "richCard"]),
    "messageTrafficType?": oneOf("AUTHENTICATION", "TRANSACTION", "PROMOTION", "SERVICE_REQUEST", "ACKNOWLEDGEMENT"),
    "ttl?": matching(/^[1-9]\d{0,6}s$/),
    "expireTime?": time,
  },
  ["ttl", "expireTime"],
);

/** The first fault of a message, or null. */
export const faultOf = (body: unknown): string | null => agentMessage(body, "agent_message");
