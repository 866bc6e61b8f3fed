import { Text } from "@mantine/core";
import type { PhoneMessage } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";

type Binary = Pick<PhoneMessage, "text" | "encoding" | "dataCoding" | "udh">;

/** The data_coding of octets whose request names none. */
const OCTETS = 4;

export const isBinary = ({ encoding }: Pick<Binary, "encoding">): boolean => encoding === "binary";

/** Hexadecimal digits in pairs, so that octets can be read and long ones wrap. */
export const pairsOf = (hex: string): string => hex.replaceAll(/..(?=.)/g, "$& ");

export const codingText = (dataCoding: number | null | undefined): string => {
  const value = dataCoding ?? OCTETS;
  return `${value} (0x${value.toString(16).toUpperCase().padStart(2, "0")})`;
};

/** A binary message in one line. */
export function binaryTitle(hex: string): string {
  const count = hex.length / 2;
  return t(count === 1 ? "Binary message: {count} octet" : "Binary message: {count} octets", { count });
}

/** The octets of a binary message, which no phone shows as text. */
export const Octets = ({ text, dataCoding, udh }: Binary) => (
  <div data-octets>
    <Text size="xs" fw={650}>
      {binaryTitle(text)}
    </Text>
    <Text size="xs" c="dimmed">
      {t("Octets in hexadecimal")}
    </Text>
    <Text size="sm" ff="monospace">
      {pairsOf(text)}
    </Text>
    <Text size="xs" c="dimmed">
      {t("Data coding {coding}", { coding: codingText(dataCoding) })}
    </Text>
    {udh && (
      <Text size="xs" c="dimmed">
        {t("User data header {udh}", { udh: pairsOf(udh) })}
      </Text>
    )}
  </div>
);
