/** What the log may know of an error: a database quotes values in its messages and details, and those are content. */
export function loggableError(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== 'PostgresError') return error
  const { code, table_name, constraint_name, routine } = error as unknown as Record<string, unknown>
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line)) ?? []
  return { type: error.name, code, table_name, constraint_name, routine, stack: frames.join('\n') }
}
