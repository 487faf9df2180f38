import {
  renderCapsuleText,
  verifyCapsule as verifyCollected,
  verifyCapsuleFile,
  type CapsuleResult,
} from '@agent-exchange/log'
import { Type } from 'typebox'
import { untrustedBlock } from '../content/untrusted.ts'
import { MAXIMUM_CAPSULE_CHARACTERS, MAXIMUM_REPORT_CHARACTERS } from '../mcp-limits.ts'
import { ToolRefusal } from '../server/tool-failure.ts'
import { defineTool, READS, type ToolCall } from '../server/tool.ts'
import { inputOf, packageId, threadIdText } from './common-schemas.ts'

/** The log may need a minute to include an event; a model asks again instead of waiting. */
const LOG_WAIT_MS = 10_000

export const verifyCapsule = defineTool({
  name: 'verify_capsule',
  title: 'Verify a capsule',
  description:
    'Verifies evidence offline, and says what it proves. Give a thread or a package to collect its evidence from the exchange, or the text of a capsule. `outcome` is "meets" only if the log keys that a person configured signed it.',
  input: inputOf({
    thread_id: Type.Optional(threadIdText),
    package_id: Type.Optional(packageId),
    capsule: Type.Optional(
      Type.String({
        minLength: 2,
        maxLength: MAXIMUM_CAPSULE_CHARACTERS,
        description: 'a capsule as JSON text',
      }),
    ),
  }),
  output: Type.Object({
    outcome: Type.Enum(['meets', 'below', 'contradiction', 'unreadable']),
    level: Type.Optional(Type.Enum(['exchange-word', 'unpinned', 'log-signed', 'witnessed'])),
    contradictions: Type.Array(Type.String({ description: 'code of a contradiction' })),
    untrusted: Type.Object({
      report: Type.String({ description: 'report with names that other parties chose' }),
    }),
  }),
  annotations: READS,
  callsPerMinute: 10,
  async run(input, call) {
    const result = await verified(input, call)
    const report = renderCapsuleText(result).slice(0, MAXIMUM_REPORT_CHARACTERS)
    const { outcome, level, contradictions } = result
    return {
      structured: {
        outcome,
        ...(level !== undefined && { level }),
        contradictions: contradictions.map(({ code }) => code),
        untrusted: { report },
      },
      text: `Outcome: ${outcome}. Level: ${level ?? 'none'}. Contradictions: ${contradictions.length}.`,
      untrusted: [untrustedBlock(undefined, report.split('\n'))],
    }
  },
})

interface Subject {
  readonly thread_id?: string
  readonly package_id?: string
  readonly capsule?: string
}

async function verified(subject: Subject, { session, signal, progress }: ToolCall): Promise<CapsuleResult> {
  const { thread_id: threadId, package_id: packageId_, capsule: text } = subject
  if ([threadId, packageId_, text].filter((given) => given !== undefined).length !== 1)
    throw new ToolRefusal('input_invalid', 'Give exactly one of thread_id, package_id and capsule.')
  const trust = session.logPolicy
    ? ({ policy: session.logPolicy, require: 'log-signed' } as const)
    : ({ require: 'log-signed' } as const)
  if (text !== undefined) return verifyCapsuleFile(new TextEncoder().encode(text), trust)
  const wanted = threadId === undefined ? { packageId: packageId_ ?? '' } : { threadId }
  const { capsule } = await session.agent.capsule(wanted, {
    waitMs: LOG_WAIT_MS,
    signal,
    onWait: (pending) => progress(`waiting for ${pending.length} leaves of the log`),
  })
  return verifyCollected(capsule as Parameters<typeof verifyCollected>[0], trust)
}
