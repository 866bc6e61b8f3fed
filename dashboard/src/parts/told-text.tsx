import { Fragment } from "react";
import { TimeText } from "./time-text.tsx";

const MOMENT = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/;

/** A text of the server, with its ISO timestamps as local times. */
export const ToldText = ({ text }: { text: string }) =>
  text
    .split(MOMENT)
    .map((part, index) => (
      <Fragment key={index}>{index % 2 === 1 ? <TimeText at={Date.parse(part)} fz="inherit" /> : part}</Fragment>
    ));
