import { addressField, classField, methodField, numbersField } from "../setting-fields.ts";

/** The settings as `/api/credentials` takes them. */
export const JASMIN_SETTINGS = {
  type: classField,
  inboundUrl: addressField("inbound messages go there, as to Jasmin's HTTP client connector."),
  inboundMethod: methodField,
  inboundNumbers: numbersField("a number or sender that phones write to."),
};
