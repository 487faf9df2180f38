import type { Database, Queries } from '@agent-exchange/database'

/** Runs statements under EXPLAIN ANALYZE and returns their plans as text. */
export async function planOf(db: Database, run: (queries: Queries) => PromiseLike<unknown>): Promise<string> {
  const plans: PromiseLike<readonly Record<string, string>[]>[] = []
  const explaining =
    (send: Queries['byIndex']) =>
    (strings: TemplateStringsArray, ...values: []) => {
      const isStatement = /^\s*(?:with|update)\b/.test(strings[0] ?? '')
      const texts = [...strings]
      if (isStatement) texts[0] = `explain (analyze, costs off, timing off) ${texts[0]}`
      const answer = send<Record<string, string>[]>(Object.assign(texts, { raw: texts }), ...values)
      if (isStatement) plans.push(answer)
      return answer
    }
  await run(
    Object.assign(explaining(db), {
      byIndex: explaining(db.byIndex),
      unsafe: db.unsafe,
    }) as unknown as Queries,
  )
  const rows = (await Promise.all(plans)).flat()
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}
