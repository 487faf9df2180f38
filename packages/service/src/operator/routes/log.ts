import { listLog } from '../../features/operators/operator-log-store.ts'
import { filter, listPage, pageFields } from '../listing.ts'
import { input, read, type Route } from '../route.ts'

export const readOperatorLog = read(
  '/log',
  input({ ...pageFields, actor: filter, action: filter, target: filter }),
  (call, db) => {
    const { actor, action, target } = call.input
    const rows = (after: string | undefined, limit: number) =>
      listLog(
        db,
        { actor, action, target },
        { before: after === undefined ? undefined : Number(after), limit },
      )
    const name = ['log', actor, action, target]
    return listPage(call, { name, rows, position: (row) => row.entry }, (entry) => ({
      ...entry,
      details: JSON.parse(entry.details) as object,
    }))
  },
)

export const logRoutes: readonly Route[] = [readOperatorLog]
