import { readerWith, renderCapsuleText, verifyCapsuleFile, type CapsuleResult } from '@agent-exchange/log'
import { Type } from 'typebox'
import { untrustedBlock } from '../content/untrusted.ts'
import {
  MAXIMUM_CAPSULE_CHARACTERS,
  MAXIMUM_FOLLOW_SECONDS,
  MAXIMUM_REPORT_CHARACTERS,
} from '../mcp-limits.ts'
import { ToolRefusal } from '../server/tool-failure.ts'
import { defineTool, READS, type ToolCall } from '../server/tool.ts'
import { inputOf, packageId, threadIdText } from './common-schemas.ts'

export const verifyCapsule = defineTool({
  name: 'verify_capsule',
  title: 'Verify a capsule',
  verb: 'read',
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
    wait_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAXIMUM_FOLLOW_SECONDS,
        description: 'longest wait for the log to include everything (default 0)',
      }),
    ),
  }),
  output: Type.Object({
    pending: Type.Integer({ description: 'events that the log does not include yet' }),
    word: Type.Enum(['proven', 'consistent', 'broken', 'unreadable']),
    outcome: Type.Enum(['meets', 'below', 'contradiction', 'unreadable']),
    level: Type.Optional(Type.Enum(['signed-only', 'unpinned', 'log-signed', 'witnessed'])),
    contradictions: Type.Array(Type.String({ description: 'code of a contradiction' })),
    untrusted: Type.Object({
      report: Type.String({ description: 'report with names that other parties chose' }),
    }),
  }),
  annotations: READS,
  callsPerMinute: 10,
  async run(input, call) {
    const { result, pending } = await verified(input, call)
    const names = await call.session.agent.addressBook()
    const report = renderCapsuleText(result, readerWith(names)).slice(0, MAXIMUM_REPORT_CHARACTERS)
    const { word, outcome, level, contradictions } = result
    return {
      structured: {
        pending,
        word,
        outcome,
        ...(level !== undefined && { level }),
        contradictions: contradictions.map(({ code }) => code),
        untrusted: { report },
      },
      text: `Verdict: ${word}. Outcome: ${outcome}. Level: ${level ?? 'none'}. Contradictions: ${contradictions.length}. Not in the log yet: ${pending}.`,
      untrusted: [untrustedBlock(undefined, report.split('\n'))],
    }
  },
})

interface Subject {
  readonly thread_id?: string
  readonly package_id?: string
  readonly capsule?: string
  readonly wait_seconds?: number
}

async function verified(
  { thread_id, package_id, capsule: text, wait_seconds = 0 }: Subject,
  { session, signal, progress }: ToolCall,
): Promise<{ readonly result: CapsuleResult; readonly pending: number }> {
  if ([thread_id, package_id, text].filter((given) => given !== undefined).length !== 1)
    throw new ToolRefusal('input_invalid', 'Give exactly one of thread_id, package_id and capsule.')
  const { logPolicy: policy } = session
  const { profile } = session.agent.context.deployment
  const trust = { require: 'log-signed', profile, ...(policy && { policy }) } as const
  if (text !== undefined)
    return { result: await verifyCapsuleFile(new TextEncoder().encode(text), trust), pending: 0 }
  const subject = thread_id === undefined ? { packageId: package_id ?? '' } : { threadId: thread_id }
  const { capsule, pending } = await session.agent.capsule(subject, {
    waitMs: wait_seconds * 1_000,
    signal,
    onWait: (waiting) => progress(`waiting for ${waiting.length} leaves of the log`),
  })
  // Read as a file: evidence without a log is a capsule of version 1.
  const bytes = new TextEncoder().encode(JSON.stringify(capsule))
  return { result: await verifyCapsuleFile(bytes, trust), pending: pending.length }
}
