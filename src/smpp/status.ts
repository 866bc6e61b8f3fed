/** command_status values of SMPP 3.4, then those added by 5.0. */
const TABLE = [
  [0x00, "ESME_ROK", "No error."],
  [0x01, "ESME_RINVMSGLEN", "The length of the message is invalid."],
  [0x02, "ESME_RINVCMDLEN", "The length of the PDU is invalid."],
  [0x03, "ESME_RINVCMDID", "The command is not known."],
  [0x04, "ESME_RINVBNDSTS", "The command does not fit the state of the bind."],
  [0x05, "ESME_RALYBND", "The connection is bound already."],
  [0x06, "ESME_RINVPRTFLG", "The priority flag is invalid."],
  [0x07, "ESME_RINVREGDLVFLG", "The registered delivery flag is invalid."],
  [0x08, "ESME_RSYSERR", "The other side has an error of its own."],
  [0x0a, "ESME_RINVSRCADR", "The source address is invalid."],
  [0x0b, "ESME_RINVDSTADR", "The destination address is invalid."],
  [0x0c, "ESME_RINVMSGID", "The message id is invalid."],
  [0x0d, "ESME_RBINDFAIL", "The bind failed."],
  [0x0e, "ESME_RINVPASWD", "The password is wrong."],
  [0x0f, "ESME_RINVSYSID", "The system id is not known."],
  [0x11, "ESME_RCANCELFAIL", "The message could not be cancelled."],
  [0x13, "ESME_RREPLACEFAIL", "The message could not be replaced."],
  [0x14, "ESME_RMSGQFUL", "The message queue is full."],
  [0x15, "ESME_RINVSERTYP", "The service type is invalid."],
  [0x33, "ESME_RINVNUMDESTS", "The number of destinations is invalid."],
  [0x34, "ESME_RINVDLNAME", "The name of the distribution list is invalid."],
  [0x40, "ESME_RINVDESTFLAG", "The destination flag is invalid."],
  [0x42, "ESME_RINVSUBREP", "The message may not be submitted with replace."],
  [0x43, "ESME_RINVESMCLASS", "The esm_class is invalid."],
  [0x44, "ESME_RCNTSUBDL", "The message cannot be submitted to a distribution list."],
  [0x45, "ESME_RSUBMITFAIL", "The submit failed."],
  [0x48, "ESME_RINVSRCTON", "The source type of number is invalid."],
  [0x49, "ESME_RINVSRCNPI", "The source numbering plan is invalid."],
  [0x50, "ESME_RINVDSTTON", "The destination type of number is invalid."],
  [0x51, "ESME_RINVDSTNPI", "The destination numbering plan is invalid."],
  [0x53, "ESME_RINVSYSTYP", "The system type is invalid."],
  [0x54, "ESME_RINVREPFLAG", "The replace_if_present flag is invalid."],
  [0x55, "ESME_RINVNUMMSGS", "The number of messages is invalid."],
  [0x58, "ESME_RTHROTTLED", "More was sent than the contract allows."],
  [0x61, "ESME_RINVSCHED", "The scheduled delivery time is invalid."],
  [0x62, "ESME_RINVEXPIRY", "The validity period is invalid."],
  [0x63, "ESME_RINVDFTMSGID", "The predefined message is invalid or not found."],
  [0x64, "ESME_RX_T_APPN", "The receiver has a temporary error."],
  [0x65, "ESME_RX_P_APPN", "The receiver has a permanent error."],
  [0x66, "ESME_RX_R_APPN", "The receiver rejects the message."],
  [0x67, "ESME_RQUERYFAIL", "The query failed."],
  [0xc0, "ESME_RINVOPTPARSTREAM", "The optional parameters cannot be read."],
  [0xc1, "ESME_ROPTPARNOTALLWD", "An optional parameter is not allowed."],
  [0xc2, "ESME_RINVPARLEN", "The length of a parameter is invalid."],
  [0xc3, "ESME_RMISSINGOPTPARAM", "An optional parameter that is expected is missing."],
  [0xc4, "ESME_RINVOPTPARAMVAL", "The value of an optional parameter is invalid."],
  [0xfe, "ESME_RDELIVERYFAILURE", "The delivery failed."],
  [0xff, "ESME_RUNKNOWNERR", "The cause is unknown."],
  [0x100, "ESME_RSERTYPUNAUTH", "The service type is not authorised."],
  [0x101, "ESME_RPROHIBITED", "The operation is prohibited."],
  [0x102, "ESME_RSERTYPUNAVAIL", "The service type is not available."],
  [0x103, "ESME_RSERTYPDENIED", "The service type is denied."],
  [0x104, "ESME_RINVDCS", "The data coding is invalid."],
  [0x105, "ESME_RINVSRCADDRSUBUNIT", "The source address subunit is invalid."],
  [0x106, "ESME_RINVDSTADDRSUBUNIT", "The destination address subunit is invalid."],
  [0x107, "ESME_RINVBCASTFREQINT", "The broadcast frequency interval is invalid."],
  [0x108, "ESME_RINVBCASTALIAS_NAME", "The broadcast alias name is invalid."],
  [0x109, "ESME_RINVBCASTAREAFMT", "The broadcast area format is invalid."],
  [0x10a, "ESME_RINVNUMBCAST_AREAS", "The number of broadcast areas is invalid."],
  [0x10b, "ESME_RINVBCASTCNTTYPE", "The broadcast content type is invalid."],
  [0x10c, "ESME_RINVBCASTMSGCLASS", "The broadcast message class is invalid."],
  [0x10d, "ESME_RBCASTFAIL", "The broadcast failed."],
  [0x10e, "ESME_RBCASTQUERYFAIL", "The query of the broadcast failed."],
  [0x10f, "ESME_RBCASTCANCELFAIL", "The broadcast could not be cancelled."],
  [0x110, "ESME_RINVBCAST_REP", "The number of repeated broadcasts is invalid."],
  [0x111, "ESME_RINVBCASTSRVGRP", "The broadcast service group is invalid."],
  [0x112, "ESME_RINVBCASTCHANIND", "The broadcast channel indicator is invalid."],
] as const satisfies readonly (readonly [number, string, string])[];

type Row = (typeof TABLE)[number];
export type StatusName = Row[1];

/** Values by name. */
export const STATUS = Object.fromEntries(TABLE.map(([status, name]) => [name, status])) as {
  readonly [Name in StatusName]: Extract<Row, readonly [number, Name, string]>[0];
};

export interface StatusMeaning {
  /** Name in the specification, or the number in hex. */
  name: string;
  meaning: string;
}

const MEANINGS = new Map<number, StatusMeaning>(TABLE.map(([status, name, meaning]) => [status, { name, meaning }]));

/** Vendors define codes of their own (0x400 to 0x4FF), so unknown numbers get a description too. */
export function describeStatus(status: number): StatusMeaning {
  const known = MEANINGS.get(status);
  if (known) return known;
  const vendors = status >= 0x400 && status <= 0x4ff;
  return {
    name: `0x${status.toString(16).padStart(8, "0")}`,
    meaning: vendors ? "A code of the other side's own." : "A code that SMPP does not name.",
  };
}
