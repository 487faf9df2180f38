import { verifyCapsuleFile } from '@agent-exchange/log'
import type { HostedAgent } from '../../agents/hosted-agent.ts'
import { capsuleOfOwn } from '../../agents/own-packages.ts'
import { GatewayProblem } from '../../problems.ts'
import { agentOf, readerOf, type Handler } from '../call.ts'
import { openedContent } from '../opened-content.ts'

export const readPackage: Handler<'readPackage'> = async (call) => {
  const hosted = agentOf(call)
  const packageId = call.path['package_id'] ?? ''
  const content = await call.parts.contents.read(
    readerOf(call.caller, 'readPackage'),
    hosted.agentId,
    packageId,
  )
  if (content === undefined) throw new GatewayProblem('resource_not_found')
  if (content === 'gone') throw new GatewayProblem('content_gone')
  return {
    body: {
      ...openedContent(content),
      ...(call.query.verdict === true && { verdict: await verdictOn(hosted, packageId, call.signal) }),
    },
  }
}

async function verdictOn(hosted: HostedAgent, packageId: string, signal: AbortSignal) {
  const { capsule, pending } = await capsuleOfOwn(hosted, { packageId }, { signal })
  const { profile } = hosted.agent.context.deployment
  const { logPolicy: policy } = hosted
  const bytes = new TextEncoder().encode(JSON.stringify(capsule))
  const { word, outcome, level, contradictions } = await verifyCapsuleFile(bytes, {
    require: 'log-signed',
    profile,
    ...(policy && { policy }),
  })
  return {
    word,
    outcome,
    ...(level !== undefined && { level }),
    contradictions: contradictions.map(({ code }) => code),
    pending: pending.length,
  }
}
