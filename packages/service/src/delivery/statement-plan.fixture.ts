import type { Database, Queries } from '../db/database.ts'

/**
 * The plans of the statements that it sends, for the values that it sends with them, as text, with the rows that each
 * part went through.
 */
export async function planOf(db: Database, run: (queries: Queries) => PromiseLike<unknown>): Promise<string> {
  const plans: PromiseLike<readonly Record<string, string>[]>[] = []
  const explaining = new Proxy(db, {
    apply(target, self, [strings, ...values]: [TemplateStringsArray, ...unknown[]]) {
      const isStatement = /^\s*(?:with|update)\b/.test(strings[0] ?? '')
      const texts = [...strings]
      if (isStatement) texts[0] = `explain (analyze, costs off, timing off) ${texts[0]}`
      const tagged = Object.assign(texts, { raw: texts })
      const query: unknown = Reflect.apply(target as unknown as (...given: unknown[]) => unknown, self, [
        tagged,
        ...values,
      ])
      if (isStatement) plans.push(query as (typeof plans)[number])
      return query
    },
  })
  await run(explaining)
  const rows = (await Promise.all(plans)).flat()
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}
