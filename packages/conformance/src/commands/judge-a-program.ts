import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { judgeCapsules } from '../capsules/judge-capsules.ts'
import { judgeObjects } from '../objects/judge-objects.ts'
import type { CheckResult } from '../run/check.ts'
import { finishedReport, type JudgeCommand, wantedChecks } from './judge-command.ts'

/** Of a checkout, or of a package. */
const OWN_VECTORS = ['../../../../interop/vectors', '../vectors']

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
      const own = OWN_VECTORS.map((path) => join(import.meta.dirname, path, folder))
      const places = values.vectors === undefined ? own : [values.vectors]
      const vectors = places.find((place) => existsSync(place))
      if (vectors === undefined)
        throw new Error(`there are no vectors in ${places.join(' or ')}: name their folder by --vectors`)
      const wanted = wantedChecks(await judge({ command, vectors }), requirements)
      return finishedReport(subject, command.join(' '), 'none', wanted, requirements)
    },
  }
}

/** `aex-conformance objects -- COMMAND [WORD...]` */
export const OBJECTS_COMMAND = judgeOf('objects', 'objects', judgeObjects)
/** `aex-conformance capsules -- COMMAND [WORD...]` */
export const CAPSULES_COMMAND = judgeOf('capsules', '.', judgeCapsules)
