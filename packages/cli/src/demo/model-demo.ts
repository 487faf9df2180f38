import { join } from 'node:path'
import { approveByForms, type DeskVisit } from './desk-visit.ts'
import { foundModelCompany } from './model-company.ts'
import { tellModelStory } from './model-story.ts'
import { COMPANIES } from './register-agent.ts'
import type { Performance, Stage } from './run-demo.ts'
import { seenLine } from './seen-by-exchange.ts'

/** Plays the person at the desk. */
export type ApproveAtDesk = (visit: DeskVisit) => Promise<void>

/** Two scripted models do it all through MCP, and a person approves at the desk. */
export async function performWithModels(
  { exchange, folder, timeline, now, onWait, cleanup }: Stage,
  approve: ApproveAtDesk = approveByForms,
): Promise<Performance> {
  const { manufacturer: carmaker, supplier: seats } = COMPANIES
  const during = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    onWait?.(what)
    return work().finally(() => onWait?.(undefined))
  }
  const shared = { timeline, now, during }
  const manufacturer = cleanup.use(
    await foundModelCompany(exchange, {
      ...shared,
      ...carmaker,
      partner: seats,
      folder: join(folder, 'carmaker'),
      hasApprover: true,
    }),
  )
  const supplier = cleanup.use(
    await foundModelCompany(exchange, {
      ...shared,
      ...seats,
      partner: carmaker,
      folder: join(folder, 'seats'),
      hasApprover: false,
    }),
  )
  const seen = (packageId: string) => seenLine(exchange, packageId)
  const told = await tellModelStory({ manufacturer, supplier, timeline, now, seen, approve })
  const calls = manufacturer.model.calls() + supplier.model.calls()
  const desk = manufacturer.approval?.desk
  return {
    told,
    agents: { manufacturer: manufacturer.agent, supplier: supplier.agent },
    counts: [
      { what: 'tool calls of two models over MCP', count: calls },
      { what: 'approval by a person at the desk', count: 1 },
    ],
    ...(desk && { deskLink: () => desk.newLink() }),
  }
}
