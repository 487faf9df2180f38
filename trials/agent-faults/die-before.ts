import { DatabaseSync, StatementSync } from 'node:sqlite'

/** Before which statement on the inbox file the agent ends itself, counted from its start or its first handling. */
export interface Death {
  readonly from: 'start' | 'handling'
  readonly statement: number
}

const FIRST_OF_HANDLING = 'attempts + 1'

/** Every way into SQLite is counted, in every open file. SIGKILL takes effect before the call returns. */
export function dieBefore({ from, statement }: Death): void {
  let count = 0
  let isCounting = from === 'start'
  const step = (sql: string) => {
    isCounting ||= sql.includes(FIRST_OF_HANDLING)
    if (isCounting && ++count === statement) process.kill(process.pid, 'SIGKILL')
  }
  const counting = <T extends object>(
    prototype: T,
    name: keyof T & string,
    sqlOf: (self: T, first: unknown) => string,
  ) => {
    const original = Reflect.get(prototype, name) as (...values: unknown[]) => unknown
    Reflect.set(prototype, name, function counted(this: T, ...values: unknown[]) {
      step(sqlOf(this, values[0]))
      return original.apply(this, values)
    })
  }
  counting(DatabaseSync.prototype, 'exec', (_, sql) => String(sql))
  for (const name of ['run', 'all', 'get'] as const) {
    counting(StatementSync.prototype, name, (self) => self.sourceSQL)
  }
}
