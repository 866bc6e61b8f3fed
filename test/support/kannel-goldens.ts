/** A sendsms request, and the message that Kannel 1.4.5 submits to its SMSC for it. */
export interface KannelGolden {
  /** Parameters besides username, password, from and to. */
  query: string;
  dataCoding: number;
  octets: string;
  protocolId?: number;
  /** Our message, where it is meant to differ, with the reason. */
  ours?: { dataCoding: number; octets: string; reason: string };
}

const text = (query: string, octets: string): KannelGolden => ({ query: `text=${query}`, dataCoding: 0, octets });
const unicode = (query: string, octets: string): KannelGolden => ({
  query: `text=${query}&coding=2`,
  dataCoding: 8,
  octets,
});

/** `test/system/kannel-goldens.test.ts` compares them with a real Kannel. */
export const KANNEL_GOLDENS: readonly KannelGolden[] = [
  // Without a charset: UTF-8, or UTF-16 with coding 2.
  text("caf%C3%A9", "63616605"),
  text("%E2%82%AC", "1b65"),
  text("hi&charset=", "6869"),
  text("caf%E9", "636166"),
  unicode("%00c%00%E9", "006300e9"),
  unicode("%D8%3D%DE%00", "d83dde00"),
  // Latin-1 and its relatives.
  text("caf%E9&charset=ISO-8859-1", "63616605"),
  text("caf%E9&charset=latin1", "63616605"),
  text("%80%E9&charset=windows-1252", "1b6505"),
  text("%80%E9&charset=CP1252", "1b6505"),
  text("%A4%E9&charset=ISO-8859-15", "1b6505"),
  // UTF-8 by name.
  text("caf%C3%A9&charset=UTF-8", "63616605"),
  text("caf%C3%A9&charset=utf8", "63616605"),
  text("caf%E9&charset=UTF-8", "636166"),
  // UTF-16: little-endian unless its name or its mark says otherwise.
  text("%00c%00%E9&charset=UTF-16BE", "6305"),
  text("c%00%E9%00&charset=UTF-16LE", "6305"),
  text("c%00%E9%00&charset=UTF-16", "6305"),
  text("%FE%FF%00c%00%E9&charset=UTF-16", "6305"),
  text("%FF%FEc%00%E9%00&charset=UTF-16", "6305"),
  text("c%00%E9%00&charset=UCS-2", "6305"),
  text("%00c%00%E9&charset=UCS-2BE", "6305"),
  unicode("%00c%00%E9&charset=UTF-16BE", "006300e9"),
  unicode("c%00%E9%00&charset=UTF-16LE", "006300e9"),
  unicode("%FE%FF%00c%00%E9&charset=UTF-16", "006300e9"),
  unicode("caf%E9&charset=latin1", "00630061006600e9"),
  unicode("caf%C3%A9&charset=UTF-8", "00630061006600e9"),
  // Octets, whatever the charset.
  { query: "text=%01%80%FF&coding=1&charset=latin1", dataCoding: 4, octets: "0180ff" },
  { query: "text=%01%80%FF&coding=1&charset=nonsense", dataCoding: 4, octets: "0180ff" },
  // Message waiting.
  ...[0xd8, 0xd9, 0xda, 0xdb, 0xc0, 0xc1, 0xc2, 0xc3].map((dataCoding, mwi) => ({
    query: `text=hi&mwi=${mwi}`,
    dataCoding,
    octets: "6869",
  })),
  { query: "text=hi&mwi=0&mclass=0", dataCoding: 0xd8, octets: "6869" },
  { query: "text=%00h&coding=2&mwi=0", dataCoding: 0xe8, octets: "0068" },
  // -1 is Kannel's word for "not given".
  { query: "text=hi&mwi=-1&pid=-1&coding=-1&mclass=-1", dataCoding: 0, octets: "6869" },
  // Protocol ids.
  { query: "text=hi&pid=64", dataCoding: 0, octets: "6869", protocolId: 64 },
  { query: "text=hi&pid=255", dataCoding: 0, octets: "6869", protocolId: 255 },
  // Meant to differ.
  {
    ...text("%CE%93%CE%B1", "133f"),
    ours: { dataCoding: 8, octets: "039303b1", reason: "a character outside the SMS alphabet makes the text Unicode" },
  },
  {
    ...text("%F0%9F%98%80x", "3f3f3f3f78"),
    ours: {
      dataCoding: 8,
      octets: "d83dde000078",
      reason: "a character outside the SMS alphabet makes the text Unicode",
    },
  },
  {
    ...text("%80%E9&charset=ISO-8859-1", "3f05"),
    ours: { dataCoding: 0, octets: "1b6505", reason: "0x80 to 0x9F are read as in windows-1252, which programs mean" },
  },
  {
    ...text("%A4x", "2478"),
    ours: { dataCoding: 0, octets: "3f78", reason: "an octet that is not UTF-8 is a question mark, not any letter" },
  },
  {
    ...text("h%E9x&charset=ASCII", "68"),
    ours: { dataCoding: 0, octets: "680578", reason: "Kannel cuts the text off at the first octet above 0x7F" },
  },
  {
    ...unicode("%00c%E9", "0063e9"),
    ours: { dataCoding: 8, octets: "0063", reason: "half a character at the end is dropped" },
  },
  {
    query: "text=%00h&coding=2&mwi=5",
    dataCoding: 0xc1,
    octets: "0068",
    ours: { dataCoding: 0xe1, octets: "0068", reason: "0xC1 means the default alphabet, and the octets are UCS-2" },
  },
];
