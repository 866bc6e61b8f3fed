import { Fragment } from "react";
import { TimeText } from "./time-text.tsx";

const MOMENT = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** A sentence of the server, with the moments in it as the reader's clock shows them. */
export const ToldText = ({ text }: { text: string }) =>
  text
    .split(MOMENT)
    .map((part, index) => (
      <Fragment key={index}>{index % 2 === 1 ? <TimeText at={Date.parse(part)} fz="inherit" /> : part}</Fragment>
    ));
