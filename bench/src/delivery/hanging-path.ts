/** The receiver can be told to leave requests to this path without a response. */
export const HANGING_PATH = '/hang'
/** The share of endpoints with this path, where an area asks for them. */
export const HANGING_SHARE = 0.1
