import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { judgeCapsules } from '../capsules/judge-capsules.ts'
import { judgeObjects } from '../objects/judge-objects.ts'
import type { CheckResult } from '../run/check.ts'
import { finishedReport, type JudgeCommand, wantedChecks } from './judge-command.ts'

/** The committed vectors of a checkout. */
const OWN_VECTORS = join(import.meta.dirname, '../../../../interop/vectors')

/** Judges a program that answers lines, by the committed vectors. */
function judgeOf(
  subject: 'objects' | 'capsules',
  folder: string,
  judge: (options: { command: readonly string[]; vectors: string }) => Promise<CheckResult[]>,
): JudgeCommand {
  return {
    options: ['vectors'],
    async judge({ words: command, values, requirements }) {
      if (command.length === 0)
        throw new Error(`Name the program: aex-conformance ${subject} -- COMMAND [WORD...]`)
      const vectors = values.vectors ?? join(OWN_VECTORS, folder)
      if (!existsSync(vectors))
        throw new Error(`there are no vectors in ${vectors}: name their folder by --vectors`)
      const wanted = wantedChecks(await judge({ command, vectors }), requirements)
      return finishedReport(subject, command.join(' '), 'none', wanted, requirements)
    },
  }
}

/** `aex-conformance objects -- COMMAND [WORD...]` */
export const OBJECTS_COMMAND = judgeOf('objects', 'objects', judgeObjects)
/** `aex-conformance capsules -- COMMAND [WORD...]` */
export const CAPSULES_COMMAND = judgeOf('capsules', '.', judgeCapsules)
