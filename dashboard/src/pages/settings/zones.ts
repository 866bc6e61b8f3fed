/** Zones that some browsers list only under an outdated name. */
const RENAMED = ["UTC", "Asia/Kolkata", "Asia/Kathmandu", "Asia/Ho_Chi_Minh", "Asia/Yangon", "Europe/Kyiv"];

/** Time zones to choose from. */
export const ZONES = [...new Set([...RENAMED, ...Intl.supportedValuesOf("timeZone")])].toSorted();
