/** The implementation broke a requirement. */
export class Finding extends Error {
  /** The requirements that it broke, if not all of the check. */
  readonly ids: readonly string[] | undefined

  constructor(message: string, ids?: readonly string[]) {
    super(message)
    this.ids = ids
  }
}

/** The check cannot be made here. */
export class NotJudged extends Error {}

/** A part of a check whose findings are about these requirements only. */
export async function blaming(ids: readonly string[], step: () => Promise<unknown>): Promise<void> {
  try {
    await step()
  } catch (error) {
    throw error instanceof Finding && error.ids === undefined ? new Finding(error.message, ids) : error
  }
}
