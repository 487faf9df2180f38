/** feature_not_supported: a statement that was prepared has other columns since a migration; prepared anew it passes. */
export const PLAN_OUTDATED = '0A000'

/** The SQLSTATE of a database error. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
