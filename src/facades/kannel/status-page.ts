import { buildInfo } from "../../build-info.ts";

export interface Flow {
  total: number;
  /** Per second: over ten minutes, an hour and a day. */
  rates: readonly number[];
}

export interface SmscStatus {
  id: string;
  name: string;
  adminId: string;
  status: string;
  failed: number;
  queued: number;
  sent: number;
  perSecond: number;
  reports: number;
}

export interface GatewayStatus {
  uptimeSeconds: number;
  received: Flow & { queued: number };
  sent: Flow & { queued: number };
  reportsReceived: Flow;
  reportsSent: Flow;
  smscs: readonly SmscStatus[];
}

const VERSION = `Heliograph version ${buildInfo.version}`;
/** A number that is not counted. */
const UNKNOWN = -1;
const DAY_SECONDS = 86_400;

const rate = (perSecond: number): string => perSecond.toFixed(2);
const ratesOf = ({ rates }: Flow): string => rates.map(rate).join(",");
const always = (perSecond: number): string => [perSecond, perSecond, perSecond].map(rate).join(",");

function uptime(seconds: number): string {
  const [hours, minutes] = [Math.floor((seconds % DAY_SECONDS) / 3600), Math.floor((seconds % 3600) / 60)];
  return `running, uptime ${Math.floor(seconds / DAY_SECONDS)}d ${hours}h ${minutes}m ${seconds % 60}s`;
}

const ESCAPED: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
const escaped = (text: string): string => text.replaceAll(/[&<>]/g, (character) => ESCAPED[character] ?? "");

/** The numbers as `/status.xml` has them; null for a wrong password. */
export function statusXml(status: GatewayStatus | null): string {
  if (!status) return '<?xml version="1.0"?>\n<gateway>\nDenied</gateway>\n';
  const { received, sent, reportsReceived, reportsSent, smscs } = status;
  return `<?xml version="1.0"?>
<gateway>
<version>${escaped(VERSION)}</version>
<status>${uptime(status.uptimeSeconds)}</status>
\t<wdp>
\t\t<received><total>0</total><queued>0</queued></received>
\t\t<sent><total>0</total><queued>0</queued></sent>
\t</wdp>
\t<sms>
\t\t<received><total>${received.total}</total><queued>${received.queued}</queued></received>
\t\t<sent><total>${sent.total}</total><queued>${sent.queued}</queued></sent>
\t\t<storesize>${UNKNOWN}</storesize>
\t\t<inbound>${ratesOf(received)}</inbound>
\t\t<outbound>${ratesOf(sent)}</outbound>
\t</sms>
\t<dlr>
\t\t<received><total>${reportsReceived.total}</total></received>
\t\t<sent><total>${reportsSent.total}</total></sent>
\t\t<inbound>${ratesOf(reportsReceived)}</inbound>
\t\t<outbound>${ratesOf(reportsSent)}</outbound>
\t\t<queued>${UNKNOWN}</queued>
\t\t<storage>internal</storage>
\t</dlr>
<boxes></boxes>
<smscs><count>${smscs.length}</count>
${smscs.map(smscXml).join("")}</smscs>
</gateway>
`;
}

const smscXml = ({ id, name, adminId, status, failed, queued, sent, perSecond, reports }: SmscStatus): string =>
  `\t<smsc>
\t\t<name>${escaped(name)}</name>
\t\t<admin-id>${escaped(adminId)}</admin-id>
\t\t<id>${escaped(id)}</id>
\t\t<status>${status}</status>
\t\t<failed>${failed}</failed>
\t\t<queued>${queued}</queued>
\t\t<sms>
\t\t\t<received>0</received>
\t\t\t<sent>${sent}</sent>
\t\t\t<inbound>${always(0)}</inbound>
\t\t\t<outbound>${always(perSecond)}</outbound>
\t\t</sms>
\t\t<dlr>
\t\t\t<received>${reports}</received>
\t\t\t<sent>0</sent>
\t\t\t<inbound>${always(0)}</inbound>
\t\t\t<outbound>${always(0)}</outbound>
\t\t</dlr>
\t</smsc>
`;

/** The numbers as `/status` and `/status.txt` have them. */
export function statusText(status: GatewayStatus | null): string {
  if (!status) return "Denied\n";
  const { received, sent, reportsReceived, reportsSent, smscs } = status;
  return `${VERSION}


Status: ${uptime(status.uptimeSeconds)}

WDP: received 0 (0 queued), sent 0 (0 queued)

SMS: received ${received.total} (${received.queued} queued), sent ${sent.total} (${sent.queued} queued), store size ${UNKNOWN}
SMS: inbound (${ratesOf(received)}) msg/sec, outbound (${ratesOf(sent)}) msg/sec

DLR: received ${reportsReceived.total}, sent ${reportsSent.total}
DLR: inbound (${ratesOf(reportsReceived)}) msg/sec, outbound (${ratesOf(reportsSent)}) msg/sec
DLR: ${UNKNOWN} queued, using internal storage

No boxes connected

SMSC connections:
${smscs.map(smscText).join("")}
`;
}

const smscText = ({ name, adminId, status, failed, queued, sent, perSecond, reports }: SmscStatus): string =>
  `    ${adminId}[${adminId}]    ${name} (${status}, rcvd: sms 0 (${always(0)}) / dlr ${reports} (${always(0)}), ` +
  `sent: sms ${sent} (${always(perSecond)}) / dlr 0 (${always(0)}), failed ${failed}, queued ${queued} msgs)\n`;
