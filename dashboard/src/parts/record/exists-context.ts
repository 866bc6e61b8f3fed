import { createContext } from "react";

/** Whether the record of a form is stored already, so that an empty secret keeps the stored one. */
export const ExistsContext = createContext(true);
