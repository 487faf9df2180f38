import type { LogView, ReadTile } from '@agent-exchange/log'
import type { AgentContext } from '../context.ts'
import { checkLog } from './accept-checkpoint.ts'
import { tileReader } from './log-answers.ts'

/** The log as the exchange shows it to this agent now, and its tiles. Undefined until there is a checkpoint. */
export async function readLiveView(
  context: AgentContext,
): Promise<{ readonly view: LogView; readonly readTile: ReadTile } | undefined> {
  const checkpoint = await checkLog(context)
  if (!checkpoint) return undefined
  const { note, size } = checkpoint
  return { view: { newest: { note, opened: checkpoint }, earlier: [] }, readTile: tileReader(context, size) }
}
