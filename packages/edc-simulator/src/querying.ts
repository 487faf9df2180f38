import { isNode, localName, type Node, nodesOf, numberOf, textOf } from '@agent-exchange/edc/management-api'
import { refuse, type Call, type Reply } from './routing.ts'

const LARGEST_PAGE = 50

/** A field of a record by the name that a query gives it. */
export type Field<T> = (record: T) => string | number | undefined

/** EDC's query: equality on known fields, newest first when asked, in pages. */
export function answerQuery<T extends { readonly createdAt?: number }>(
  { body }: Call,
  records: Iterable<T>,
  fields: Readonly<Record<string, Field<T>>>,
  write: (record: T) => Node,
): Reply {
  const spec = isNode(body) ? body : {}
  let found = [...records]
  for (const criterion of nodesOf(spec, 'filterExpression')) {
    const name = localName(textOf(criterion, 'operandLeft') ?? '')
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (!field) return refuse(400, 'InvalidRequest', `Error validating schema: Field ${name} not found`)
    const right = textOf(criterion, 'operandRight')
    found = found.filter((record) => String(field(record)) === right)
  }
  const sign = textOf(spec, 'sortOrder') === 'DESC' ? -1 : 1
  if (textOf(spec, 'sortField') === 'createdAt')
    found.sort((a, b) => sign * ((a.createdAt ?? 0) - (b.createdAt ?? 0)))
  const offset = numberOf(spec, 'offset') ?? 0
  const limit = Math.min(LARGEST_PAGE, numberOf(spec, 'limit') ?? LARGEST_PAGE)
  return { status: 200, body: found.slice(offset, offset + limit).map(write) }
}
