import { readOverview } from '../../features/overview/read-overview.ts'
export type { ActivityPoint } from '../../features/overview/activity-series.ts'
import { input, read, type Route } from '../route.ts'

/** Whether the exchange is healthy, and why not. */
export const readOverviewRoute = read('/overview', input({}), ({ context, now }, db) =>
  readOverview(db, context, now),
)

export const overviewRoutes: readonly Route[] = [readOverviewRoute]
