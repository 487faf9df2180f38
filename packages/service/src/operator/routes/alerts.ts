import { Type } from 'typebox'
import { listAlerts } from '../../features/alerts/alert-queries.ts'
import { ALERT_KINDS } from '../../features/alerts/alert-queries.ts'
import { filter, listPage, pageFields } from '../listing.ts'
import { input, read, type Route } from '../route.ts'

const alertFilter = input({
  ...pageFields,
  organization_id: filter,
  webhook_endpoint_id: filter,
  kind: Type.Optional(Type.Enum([...ALERT_KINDS])),
})

export const readAlerts = read('/alerts', alertFilter, (call, db) => {
  const { organization_id: organizationId, webhook_endpoint_id: endpointId, kind } = call.input
  const rows = (after: string | undefined, limit: number) => {
    const before = after === undefined ? undefined : Number(after)
    return listAlerts(db, { organizationId, endpointId, kind, before, limit })
  }
  const name = ['alerts', organizationId, endpointId, kind]
  return listPage(call, { name, rows, position: (row) => row.alert_id }, (row) => row)
})

export const alertRoutes: readonly Route[] = [readAlerts]
