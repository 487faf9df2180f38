import type { Operator } from '../kernel/operator-roles.ts'
import type { OperatorDependencies } from '../operator/dependencies.ts'
import { runRoute } from '../operator/run-route.ts'
import type { CallApi } from './console-page.ts'

/** The operator API as one operator may call it. */
export function callApiAs(operator: Operator, dependencies: OperatorDependencies): CallApi {
  return (route, { params = {}, input = {} } = {}) => {
    const given = Object.entries(input).filter(([, value]) => value !== undefined)
    return runRoute(route, { operator, params, input: Object.fromEntries(given) }, dependencies)
  }
}
