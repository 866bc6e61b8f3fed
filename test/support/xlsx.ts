import { crc32, deflateRawSync } from "node:zlib";

interface ZipPart {
  name: string;
  content: string | Buffer;
  /** Stored without compression. */
  isStored?: true;
}

/** A ZIP archive. */
export function zipOf(parts: readonly ZipPart[]): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content, isStored } of parts) {
    const plain = Buffer.from(content);
    const packed = isStored ? plain : deflateRawSync(plain);
    const about = Buffer.alloc(26);
    about.writeUInt16LE(20, 0);
    about.writeUInt16LE(isStored ? 0 : 8, 4);
    about.writeUInt32LE(crc32(plain), 10);
    about.writeUInt32LE(packed.length, 14);
    about.writeUInt32LE(plain.length, 18);
    about.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from("504b0304", "hex"), about, Buffer.from(name), packed]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from("504b01021400", "hex"), about, tail, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, list, end]);
}

const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

interface Sheet {
  name: string;
  /** XML of its rows. */
  rows: string;
  isHidden?: true;
}

interface WorkbookParts {
  sheets: readonly Sheet[];
  strings?: readonly string[];
  styles?: string;
  properties?: string;
}

const HEAD = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n`;
const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/** A workbook as spreadsheet programs write it. */
export function workbookOf({ sheets, strings = [], styles = "", properties = "" }: WorkbookParts): Buffer {
  const list = sheets.map(
    ({ name, isHidden }, index) =>
      `<sheet name="${escapeXml(name)}" sheetId="${index + 1}" ${isHidden ? 'state="hidden" ' : ""}r:id="rId${index + 1}"/>`,
  );
  const relations = sheets.map(
    (_, index) => `<Relationship Id="rId${index + 1}" Type="worksheet" Target="worksheets/sheet${index + 1}.xml"/>`,
  );
  const shared = strings.map((text) => `<si><t xml:space="preserve">${escapeXml(text)}</t></si>`);
  return zipOf([
    {
      name: "xl/workbook.xml",
      content: `${HEAD}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}">${properties}<sheets>${list.join("")}</sheets></workbook>`,
    },
    { name: "xl/_rels/workbook.xml.rels", content: `${HEAD}<Relationships>${relations.join("")}</Relationships>` },
    { name: "xl/sharedStrings.xml", content: `${HEAD}<sst>${shared.join("")}</sst>` },
    { name: "xl/styles.xml", content: `${HEAD}<styleSheet>${styles}</styleSheet>` },
    ...sheets.map(({ rows }, index) => ({
      name: `xl/worksheets/sheet${index + 1}.xml`,
      content: `${HEAD}<worksheet xmlns="${MAIN}"><sheetData>${rows}</sheetData></worksheet>`,
    })),
  ]);
}

/** A sheet whose cells are texts and numbers, as a person types them. */
export const rowsOf = (rows: readonly (readonly (string | number)[])[]): string =>
  rows
    .map((cells, row) => {
      const written = cells.map((cell, column) => {
        const place = `r="${String.fromCharCode(65 + column)}${row + 1}"`;
        return typeof cell === "number"
          ? `<c ${place}><v>${cell}</v></c>`
          : `<c ${place} t="inlineStr"><is><t>${escapeXml(cell)}</t></is></c>`;
      });
      return `<row r="${row + 1}">${written.join("")}</row>`;
    })
    .join("");
