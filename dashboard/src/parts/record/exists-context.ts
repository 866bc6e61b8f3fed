import { createContext } from "react";

/** True if the form's record is stored, so that an empty secret input keeps the stored secret. */
export const ExistsContext = createContext(true);
