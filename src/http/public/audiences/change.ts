import { layoutOfContacts } from "../../../campaigns/copy-segment.ts";
import { newId } from "../../../lib/ids.ts";
import type { Audience, AudienceMapping } from "../../../model/audience.ts";
import type { ContactFilter } from "../../../model/contact.ts";
import { Problem, refuseFaults, type Fault } from "../../../model/problem.ts";
import { seesTestsOnly } from "../../auth/test-mode.ts";
import type { AuthenticCall, Services, WithBody } from "../../route.ts";
import { bookOf, findSegment } from "../contacts.ts";
import type { AudienceChange, NewAudience, Part } from "./body.ts";
import { findAudience, viewOf } from "./view.ts";

export const PART_BYTES_MAX = 1_048_576;
const MIB = 1_048_576;

/** Creates an audience of a file that is about to be uploaded, or of a segment. */
export async function createAudience(
  services: Services,
  { body, caller }: WithBody<AuthenticCall, typeof NewAudience>,
): Promise<object> {
  const { store, clock, audienceLimits } = services;
  const { bytesMax, filesMax, countMax } = audienceLimits;
  const { size = 0, segment } = body;
  if (size > bytesMax)
    throw new Problem("INVALID_REQUEST", {
      faults: [
        { parameter: "size", message: `A file has at most ${bytesMax / MIB} MiB (HELIOGRAPH_AUDIENCE_MAX_MB).` },
      ],
    });
  const { id: accountId } = caller.account;
  const { count: stored, fileBytes } = await store.countAudiences(accountId);
  if (stored >= countMax) throw new Problem("TOO_MANY_AUDIENCES");
  if (fileBytes + size > filesMax)
    throw new Problem("TOO_MANY_AUDIENCES", {
      message: `All stored files have at most ${filesMax / MIB} MiB (HELIOGRAPH_AUDIENCE_STORED_MB), and those of the account have ${Math.ceil(fileBytes / MIB)}: delete audiences, or wait until files are removed, 24 hours after their check.`,
    });
  const now = clock.now();
  const audience: Audience = {
    accountId,
    id: newId(now),
    test: seesTestsOnly(caller),
    name: body.name,
    state: segment === undefined ? "uploading" : "checking",
    size,
    received: 0,
    checked: 0,
    sheet: body.sheet ?? null,
    mapping: body.mapping ?? null,
    layout: segment === undefined ? null : layoutOfContacts(await store.listContactAttributes(bookOf(caller))),
    rows: 0,
    recipients: 0,
    faults: 0,
    optedOut: 0,
    failure: null,
    createdAt: now,
    endedAt: null,
    hasFile: segment === undefined,
    segment: segment === undefined ? null : { name: segment, filter: await segmentFilter(services, caller, segment) },
  };
  await store.addAudience(audience);
  return viewOf(audience);
}

async function segmentFilter(
  services: Services,
  caller: AuthenticCall["caller"],
  segment: string,
): Promise<ContactFilter> {
  const filter = await findSegment(services, caller, segment);
  if (filter) return filter;
  const message = "There is no segment of this name: GET /api/segments lists them.";
  throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "segment", message }] });
}

/** Stores a part of a file. */
export async function addPart(services: Services, call: WithBody<AuthenticCall, typeof Part>): Promise<object> {
  const { store } = services;
  const audience = await findAudience(services, call);
  const { offset, text, base64 } = call.body;
  const content = text === undefined ? Buffer.from(base64 ?? "", "base64") : Buffer.from(text, "utf8");
  const parameter = text === undefined ? "base64" : "text";
  if (content.length > PART_BYTES_MAX)
    throw new Problem("INVALID_REQUEST", {
      faults: [{ parameter, message: `A part has at most ${PART_BYTES_MAX} bytes: upload the file in several parts.` }],
    });
  if (content.length === 0)
    throw new Problem("INVALID_REQUEST", { faults: [{ parameter, message: "A part has at least one byte." }] });
  const end = offset + content.length;
  const isKnown = end <= audience.received;
  if (!isKnown && (end > audience.size || !(await store.addAudiencePart(audience, { offset, content }))))
    throw new Problem("UPLOAD_OFFSET_MISMATCH", {
      message: `The upload has ${audience.received} of ${audience.size} bytes: continue at that offset.`,
    });
  return viewOf(await findAudience(services, call));
}

/** Renames an audience, or checks its file again with other columns. */
export async function changeAudience(
  services: Services,
  call: WithBody<AuthenticCall, typeof AudienceChange>,
): Promise<object> {
  const { store } = services;
  const audience = await findAudience(services, call);
  const { name, mapping, sheet = audience.sheet } = call.body;
  const isOtherSheet = sheet !== audience.sheet;
  if (mapping || isOtherSheet) {
    if (isOtherSheet) refuseFaults(unknownSheet(audience, sheet));
    else if (mapping) refuseFaults(unknownColumns(audience, mapping));
    await refuseInUse(services, audience);
    // Another sheet has other columns.
    const columns = { mapping: mapping ?? null, sheet };
    if (!(await store.mapAudience(audience, columns))) throw new Problem("AUDIENCE_FILE_GONE");
  }
  if (name !== undefined) await store.renameAudience(audience, name);
  return viewOf(await findAudience(services, call));
}

/** A campaign that has begun continues at a row, which another mapping could give another recipient. */
async function refuseInUse({ store }: Services, { accountId, id }: Audience): Promise<void> {
  const campaign = await store.findCampaignOfAudience(accountId, id);
  if (campaign === null) return;
  const message = `The campaign ${JSON.stringify(campaign)} needs this audience: cancel it or wait for its end.`;
  throw new Problem("RECORD_IN_USE", { message });
}

/** Sheets are known once the workbook was read. */
function unknownSheet({ layout }: Audience, sheet: string | null): Fault[] {
  const sheets = layout?.sheets;
  if (!layout || sheet === null || sheets?.includes(sheet)) return [];
  const message = sheets
    ? `A sheet of the workbook: ${sheets.map((each) => JSON.stringify(each)).join(", ")}.`
    : "Only a workbook (XLSX) has sheets.";
  return [{ parameter: "sheet", message }];
}

/** Columns are known once the first row was read. */
function unknownColumns({ layout }: Audience, { number, variables }: AudienceMapping): Fault[] {
  if (!layout) return [];
  const rule = `A column of the file: ${layout.columns.map((column) => JSON.stringify(column)).join(", ")}.`;
  const named = [
    ["mapping.number", number],
    ...Object.entries(variables ?? {}).map(([name, column]) => [`mapping.variables.${name}`, column]),
  ];
  return named.flatMap(([parameter = "", column = ""]) =>
    layout.columns.includes(column) ? [] : [{ parameter, message: rule }],
  );
}

export async function removeAudience(services: Services, call: AuthenticCall): Promise<object> {
  const audience = await findAudience(services, call);
  await refuseInUse(services, audience);
  if (!(await services.store.removeAudience(audience))) throw new Problem("RECORD_NOT_FOUND");
  return viewOf(audience);
}
