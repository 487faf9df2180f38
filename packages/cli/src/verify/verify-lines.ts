import { createInterface } from 'node:readline'
import { parsePolicy, verifyCapsuleFile, type VerifyCapsuleOptions } from '@agent-exchange/log'
import { visible } from '../visible.ts'
import { verdictDocument } from './print-verdict.ts'

interface Question {
  readonly capsule?: unknown
  /** A tlog-policy; null or absent for a verifier that trusts no log. */
  readonly policy?: string | null
}

type Demand = Pick<VerifyCapsuleOptions, 'require' | 'strict'>

/** For programs that have many capsules: one process for all. Each line is answered before the next is read. */
export async function verifyLines({ require, strict }: Demand): Promise<void> {
  for await (const line of createInterface({ input: process.stdin }))
    console.log(
      JSON.stringify(
        await answerTo(line, { ...(require && { require }), ...(strict !== undefined && { strict }) }),
      ),
    )
}

async function answerTo(line: string, demand: Demand) {
  try {
    const { capsule, policy } = JSON.parse(line) as Question
    const bytes = new TextEncoder().encode(JSON.stringify(capsule))
    const trusted = typeof policy === 'string' ? { policy: parsePolicy(policy) } : {}
    return verdictDocument(await verifyCapsuleFile(bytes, { ...demand, ...trusted }))
  } catch (error) {
    const sentence = `The line cannot be read: ${visible(error instanceof Error ? error.message : String(error))}`
    return { word: 'unreadable', outcome: 'unreadable', exitCode: 2, sentence }
  }
}
