/** The database cannot be used, for a reason that the operator can mend: the message says what to do. */
export class DatabaseFailure extends Error {
  override readonly name = 'DatabaseFailure'
}
