/** Limits of the content of a package, for its sender and its recipient. */

/** Default limit of sealed content. */
export const MAXIMUM_CONTENT_BYTES = 16_777_216

/** Nesting depth of an object's JSON. The recipient parses with the same limit. */
export const MAXIMUM_DEPTH = 32
