import type { Answer } from '../wire/wire.ts'
import type { Check } from './check.ts'
import { Finding, NotJudged } from './finding.ts'

/** What a check of all answers found so far. The answers themselves hold tokens, so no file keeps them. */
export interface ExaminedAnswers {
  readonly count: number
  /** The first one. */
  readonly finding?: { readonly reason: string; readonly broken?: readonly string[] }
}

/** By the name of the check. */
export type Examined = Readonly<Record<string, ExaminedAnswers>>

/** Examines each answer as it arrives. */
export class AnswerExaminer {
  readonly #checks: readonly Pick<Check, 'name' | 'examine'>[]
  readonly #examined: Map<string, ExaminedAnswers>

  constructor(checks: readonly Pick<Check, 'name' | 'examine'>[], before: Examined = {}) {
    this.#checks = checks
    this.#examined = new Map(Object.entries(before))
  }

  add(answer: Answer): void {
    for (const { name, examine } of this.#checks) {
      const { count, finding } = this.#examined.get(name) ?? { count: 0 }
      if (!examine || finding) continue
      try {
        if (examine(answer)) this.#examined.set(name, { count: count + 1 })
      } catch (error) {
        if (!(error instanceof Finding)) throw error
        const broken = error.ids && { broken: error.ids }
        this.#examined.set(name, { count: count + 1, finding: { reason: error.message, ...broken } })
      }
    }
  }

  conclude(name: string): void {
    const { count, finding } = this.#examined.get(name) ?? { count: 0 }
    if (finding) throw new Finding(finding.reason, finding.broken)
    if (count === 0) throw new NotJudged('this run got no answer of this kind')
  }

  get state(): Examined {
    return Object.fromEntries(this.#examined)
  }
}
