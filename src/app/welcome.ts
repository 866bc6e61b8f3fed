import type { CreatedAccount } from "../accounts/create-account.ts";

/** The secrets of a new account, which are shown once. */
export const secretsOf = ({ name, email, password, liveKey, testKey, given }: CreatedAccount): string => `\
  Account    ${name}
  Owner      ${email}
  Password   ${given.password ? GIVEN : password}
  Live key   ${given.liveKey ? GIVEN : liveKey}
  Test key   ${given.testKey ? GIVEN : testKey}`;

/** Secrets from the settings are not repeated, because output is kept in more places than settings. */
const GIVEN = "(as set)";

/** The output of a first start: secrets, and a first message to copy. */
export function welcome(created: CreatedAccount, url: string): string {
  const { phones, given } = created;
  const liveKey = given.liveKey ? "$HELIOGRAPH_API_KEY" : created.liveKey;
  const [phone] = phones;
  const body = JSON.stringify({ sender: "HELIOG", to: phone?.number, text: "Hello from Heliograph", type: "TRANS" });
  return `
Welcome to Heliograph. This is shown once; keep it.

${secretsOf(created)}

Sample phones in the simulator:
${phones.map(({ number, name }) => `  ${number}  ${name}`).join("\n")}

Send the first message:

  curl -s ${url}/v1/sms -H "apikey: ${liveKey}" -H 'Content-Type: application/json' \\
    -d '${body}'

See it on the phone:

  curl -s '${url}/api/simulator/messages/wait?to=${phone?.number}' -H "apikey: ${liveKey}"

Or open ${url} and log in: the dashboard has the phone beside it.
The API reference is at ${url}/docs
`;
}
