import { parseStrictJson } from '@agent-exchange/crypto'
import { shapeValidator, type ProfileChange } from '@agent-exchange/protocol'
import { Type } from 'typebox'
import type { DeploymentStore } from '../deployment/deployment.ts'
import { readPrivateFile, writePrivateFile } from './private-file.ts'

const MAXIMUM_CHANGES = 10_000
const text = Type.String({ minLength: 1 })
const change = Type.Unsafe<ProfileChange>(Type.Object({ id: text, setting: text }))
const known = shapeValidator(
  Type.Object(
    {
      published: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
      checkedAt: text,
      changed: Type.Optional(
        Type.Object({ noticedAt: text, changes: Type.Array(change, { maxItems: MAXIMUM_CHANGES }) }),
      ),
    },
    { additionalProperties: false },
  ),
  'SDK',
)

/** What the exchange publishes, in a file. It is fetched again if the file is damaged: nothing rests on it. */
export function openFileDeployment(file: string): DeploymentStore {
  return {
    async read() {
      try {
        const found = await readPrivateFile(file)
        const content: unknown = found && parseStrictJson(found.text)
        return known.accepts(content) ? content : undefined
      } catch {
        return undefined
      }
    },
    write: (next) => writePrivateFile(file, `${JSON.stringify(next, undefined, 2)}\n`),
  }
}
