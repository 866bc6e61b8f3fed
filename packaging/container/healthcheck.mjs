// Asks the server in this container whether it is up.
import { get as getPlain } from "node:http";
import { get as getTls } from "node:https";

const port = process.env.HELIOGRAPH_PORT || "8080";
const request = { host: "127.0.0.1", port, path: "/healthz", timeout: 4000 };
const onResponse = ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1);
// The certificate is for the public name of the server.
const asked =
  process.env.HELIOGRAPH_TLS_CERT_FILE || process.env.HELIOGRAPH_ACME_DOMAINS
    ? getTls({ ...request, rejectUnauthorized: false }, onResponse)
    : getPlain(request, onResponse);
asked.on("timeout", () => asked.destroy(new Error("no answer from /healthz within 4 seconds")));
