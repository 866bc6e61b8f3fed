import { VisuallyHidden } from "@mantine/core";

interface Props {
  label: string;
  /** What the rows are named by. */
  heading: string;
  rows: readonly ({ name: string } & Record<string, string | number>)[];
  series: readonly { key: string; name: string }[];
  rowKey: (row: Props["rows"][number]) => string | number;
}

/** What a chart shows, as a table for who does not see it. */
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
