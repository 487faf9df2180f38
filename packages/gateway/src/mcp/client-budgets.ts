import { createCallBudget, type CallBudget } from '@agent-exchange/mcp'
import { MAXIMUM_COUNTED_CLIENTS, MAXIMUM_RUNNING_CALLS } from './model-limits.ts'

/** The calls of each client for each agent, counted apart, so that no client uses up the calls of another. */
export function clientBudgets(nowMs: () => number): (clientId: string, agentId: string) => CallBudget {
  const budgets = new Map<string, CallBudget>()
  return (clientId, agentId) => {
    const name = JSON.stringify([clientId, agentId])
    const budget = budgets.get(name) ?? createCallBudget(nowMs, MAXIMUM_RUNNING_CALLS)
    budgets.delete(name)
    budgets.set(name, budget)
    const [longestUnused] = budgets.keys()
    if (budgets.size > MAXIMUM_COUNTED_CLIENTS && longestUnused !== undefined) budgets.delete(longestUnused)
    return budget
  }
}
