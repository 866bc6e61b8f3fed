import { Box, Text } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useState, type ReactNode } from "react";
import { formatNumber } from "../../i18n/format.ts";
import { heightOf, labelEvery, labelWidthOf, stack, ticksTo } from "./scale.ts";
import { short } from "./short.ts";
import classes from "./charts.module.css";

export interface Series {
  key: string;
  name: string;
  /** A colour name of the theme. */
  color: string;
}

export type Row = { name: string } & Record<string, string | number>;

/** One place of a series in pixels. */
export interface Place {
  x: number;
  top: number;
  bottom: number;
}

interface Props {
  height: number;
  rows: readonly Row[];
  series: readonly Series[];
  /** Draws one series. `band` is the width of a place. */
  draw: (places: readonly Place[], color: string, band: number) => ReactNode;
}

const AXIS = { left: 44, right: 8, top: 8, bottom: 24 };

export const colorOf = ({ color }: Series): string => `var(--mantine-color-${color}-filled)`;

/** Axes, grid and values under the pointer of a stacked chart. Hidden from screen readers, which read its table. */
export function Plot({ height, rows, series, draw }: Props) {
  const { ref, width } = useElementSize();
  return (
    <Box ref={ref} className={classes.chart} h={height} aria-hidden>
      {width > AXIS.left + AXIS.right && rows.length > 0 && (
        <Drawing width={width} height={height} rows={rows} series={series} draw={draw} />
      )}
    </Box>
  );
}

function Drawing({ width, height, rows, series, draw }: Props & { width: number }) {
  const [pointed, setPointed] = useState<number | null>(null);
  const layers = stack(
    rows,
    series.map(({ key }) => key),
  );
  const ticks = ticksTo(heightOf(layers));
  const band = (width - AXIS.left - AXIS.right) / rows.length;
  const floor = height - AXIS.bottom;
  const x = (place: number): number => AXIS.left + (place + 0.5) * band;
  const y = (count: number): number => floor - (count / (ticks.at(-1) ?? 1)) * (floor - AXIS.top);
  const labelPx = labelWidthOf(rows.map(({ name }) => name));
  const every = labelEvery(labelPx, band);
  const row = pointed === null ? undefined : rows[pointed];
  return (
    <>
      <svg
        width={width}
        height={height}
        onPointerMove={({ clientX, currentTarget }) => {
          const place = Math.floor((clientX - currentTarget.getBoundingClientRect().left - AXIS.left) / band);
          setPointed(place >= 0 && place < rows.length ? place : null);
        }}
        onPointerLeave={() => setPointed(null)}
      >
        {ticks.map((count) => (
          <g key={count}>
            <line x1={AXIS.left} x2={width - AXIS.right} y1={y(count)} y2={y(count)} className={classes.grid} />
            <text x={AXIS.left - 8} y={y(count)} textAnchor="end" dominantBaseline="middle" className={classes.tick}>
              {short(count)}
            </text>
          </g>
        ))}
        {rows.map(
          ({ name }, place) =>
            place % every === 0 &&
            x(place) + labelPx / 2 <= width && (
              <text key={place} x={x(place)} y={height - 6} textAnchor="middle" className={classes.tick}>
                {name}
              </text>
            ),
        )}
        {pointed !== null && (
          <line x1={x(pointed)} x2={x(pointed)} y1={AXIS.top} y2={floor} className={classes.cursor} />
        )}
        {series.map((each, layer) => (
          <g key={each.key} data-series={each.key}>
            {draw(
              (layers[layer] ?? []).map(({ from, to }, place) => ({ x: x(place), top: y(to), bottom: y(from) })),
              colorOf(each),
              band,
            )}
          </g>
        ))}
      </svg>
      {row && pointed !== null && (
        <Box
          className={classes.tooltip}
          style={{ left: x(pointed), translate: pointed < rows.length / 2 ? "12px" : "calc(-100% - 12px)" }}
        >
          <Text size="sm" fw={600}>
            {row.name}
          </Text>
          {series.map(({ key, name }) => (
            <Text key={key} size="sm">
              {name}: {formatNumber(Number(row[key] ?? 0))}
            </Text>
          ))}
        </Box>
      )}
    </>
  );
}
