import { VisuallyHidden } from "@mantine/core";

interface Props {
  label: string;
  /** Heading of the first column. */
  heading: string;
  rows: readonly ({ name: string } & Record<string, string | number>)[];
  series: readonly { key: string; name: string }[];
  rowKey: (row: Props["rows"][number]) => string | number;
}

/** The data of a chart as a table for screen readers. */
export const ChartTable = ({ label, heading, rows, series, rowKey }: Props) => (
  <VisuallyHidden>
    <table>
      <caption>{label}</caption>
      <thead>
        <tr>
          <th>{heading}</th>
          {series.map(({ key, name }) => (
            <th key={key}>{name}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={rowKey(row)}>
            <td>{row.name}</td>
            {series.map(({ key }) => (
              <td key={key}>{row[key]}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </VisuallyHidden>
);
