export const ID_FORMS = ["decimal", "padded", "hex", "HEX", "uuid"] as const;
export type IdForm = (typeof ID_FORMS)[number];

const PADDED_DIGITS = 10;

/** Formats an id in one of the ways that real SMSCs use. */
export function spellId(id: bigint, form: IdForm): string {
  switch (form) {
    case "decimal":
      return id.toString();
    case "padded":
      return id.toString().padStart(PADDED_DIGITS, "0");
    case "hex":
      return id.toString(16);
    case "HEX":
      return id.toString(16).toUpperCase();
    case "uuid":
    default: {
      const digits = id.toString(16).padStart(32, "0");
      return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
    }
  }
}
