import pg from 'pg'

/** What the log may know of an error: a database quotes values in its messages and details, and those are content. */
export function loggableError(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError)) return error
  const { code, table, constraint, routine } = error
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line)) ?? []
  const place = { table_name: table, constraint_name: constraint }
  return { type: 'DatabaseError', code, ...place, routine, stack: frames.join('\n') }
}
