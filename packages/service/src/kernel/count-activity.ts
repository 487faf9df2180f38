import { operations, type OperationId } from '@agent-exchange/protocol'
import type { Activity, Counted } from './activity.ts'

const SUBMISSIONS = new Set<OperationId>(['createPackageTransfer', 'createPackageResponse'])
const SUBMISSION_ROUTES = new Set(
  [...SUBMISSIONS].map((id) => operations[id].path.replaceAll(/\{(\w+)\}/gu, ':$1')),
)
const BAD_REQUEST = 400
const SERVER_ERROR = 500

const DELIVERIES: Readonly<Record<string, Counted>> = {
  delivered: 'deliveries_delivered',
  retry: 'deliveries_retried',
  failed: 'deliveries_failed',
  endpoint_gone: 'deliveries_failed',
  dead: 'deliveries_dead',
}

export interface Answer {
  readonly method: string
  readonly route: string
  readonly status: number
  readonly milliseconds: number
}

/** Whether a package was accepted, or was accepted before and the answer was repeated. */
export function isAcceptance({ method, route, status }: Omit<Answer, 'milliseconds'>): boolean {
  return status < BAD_REQUEST && method === 'POST' && SUBMISSION_ROUTES.has(route)
}

/** What the parts of the service report for the overview. */
export function countActivity(activity: Activity) {
  return {
    onCommitted(operation: OperationId): void {
      if (SUBMISSIONS.has(operation)) activity.count('packages_accepted')
    },
    onAnswer(answer: Answer): void {
      const { status, milliseconds } = answer
      if (status >= BAD_REQUEST) activity.count(status >= SERVER_ERROR ? 'problems_5xx' : 'problems_4xx')
      else if (isAcceptance(answer)) activity.observe('acceptance', milliseconds)
    },
    onAttempt(outcome: string, milliseconds: number): void {
      const metric = DELIVERIES[outcome]
      if (metric) activity.count(metric)
      activity.observe('delivery', milliseconds)
    },
  }
}
