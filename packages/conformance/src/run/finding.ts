/** The implementation broke a requirement. */
export class Finding extends Error {}

/** The check cannot be made here. */
export class NotJudged extends Error {}
