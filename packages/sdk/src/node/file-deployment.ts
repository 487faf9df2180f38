import { parseStrictJson } from '@agent-exchange/crypto'
import { validatorFor } from '@agent-exchange/protocol'
import type { DeploymentStore, KnownDeployment } from '../deployment/deployment.ts'
import { readPrivateFile, writePrivateFile } from './private-file.ts'

const MAXIMUM_CHANGES = 10_000
const text = { type: 'string', minLength: 1 }
const known = validatorFor<KnownDeployment>(
  {
    type: 'object',
    additionalProperties: false,
    required: ['published', 'checkedAt'],
    properties: {
      published: { type: 'object' },
      checkedAt: text,
      changed: {
        type: 'object',
        required: ['noticedAt', 'changes'],
        properties: {
          noticedAt: text,
          changes: {
            type: 'array',
            maxItems: MAXIMUM_CHANGES,
            items: { type: 'object', required: ['id', 'setting'], properties: { id: text, setting: text } },
          },
        },
      },
    },
  },
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
