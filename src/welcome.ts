import type { FirstStart } from "./accounts/first-start.ts";

/** What a first start prints, once: the secrets, and a first message to copy. */
export function welcome({ account, email, password, liveKey, testKey, phones }: FirstStart, url: string): string {
  const [phone] = phones;
  const body = JSON.stringify({ sender: "HELIOG", to: phone?.number, text: "Hello from Heliograph", type: "TRANS" });
  return `
Welcome to Heliograph. This is shown once; keep it.

  Account    ${account}
  Owner      ${email}
  Password   ${password}
  Live key   ${liveKey}
  Test key   ${testKey}

Sample phones in the simulator:
${phones.map(({ number, name }) => `  ${number}  ${name}`).join("\n")}

Send the first message:

  curl -s ${url}/v1/sms -H 'apikey: ${liveKey}' -H 'Content-Type: application/json' \\
    -d '${body}'

See it on the phone:

  curl -s '${url}/api/simulator/messages/wait?to=${phone?.number}' -H 'apikey: ${liveKey}'

The API reference is at ${url}/docs
`;
}
