import { listLog } from '../../features/organizations/operator-log-store.ts'
import { filter, listPage, pageFields } from '../listing.ts'
import { input, read, type Route } from '../route.ts'

export const logRoutes: readonly Route[] = [
  read('/log', input({ ...pageFields, target: filter }), (call, db) => {
    const { target } = call.input
    const rows = (after: string | undefined, limit: number) =>
      listLog(db, { before: after === undefined ? undefined : Number(after), target, limit })
    return listPage(call, { name: ['log', target], rows, position: (row) => row.entry }, (entry) => ({
      ...entry,
      details: JSON.parse(entry.details) as object,
    }))
  }),
]
