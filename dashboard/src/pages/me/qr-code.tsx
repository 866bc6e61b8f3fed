import encodeQR from "qr";
import classes from "./qr-code.module.css";

/** Light modules around the code, which a camera needs to find it. */
const QUIET = 2;

/** A text as a QR code, drawn in this page: no other host learns the secret in it. */
export default function QrCode({ text, label }: { text: string; label: string }) {
  const rows = encodeQR(text, "raw", { border: QUIET, ecc: "medium" });
  const path = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join("");
  return (
    <svg
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      className={classes.code}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <rect width={rows.length} height={rows.length} className={classes.light} />
      <path d={path} className={classes.dark} />
    </svg>
  );
}
