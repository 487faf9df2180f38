import { get, post, type ConsolePage } from '../console-page.ts'
import { showAgents } from './agent-list.ts'
import { certify, setStatus, showAgent } from './agent-page.ts'

export const agentsPages: readonly ConsolePage[] = [
  get('/agents', showAgents),
  get('/agents/:agent_id', showAgent),
  post('/agents/:agent_id/status', setStatus),
  post('/agents/:agent_id/certification', certify),
]
