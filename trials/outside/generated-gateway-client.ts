import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { verifyCapsuleFile } from '@agent-exchange/log'
import { reasoning } from '../../packages/gateway/src/api/api.fixture.ts'
import { mustRun } from '../shared/programs.ts'
import type { TrialTools } from '../shared/trial-parts.ts'
import { generatedClient, findGenerator, pythonOfClient } from './generated-clients.ts'
import { startOutsideGateway } from './gateway.ts'

const PROGRAM = 'python_gateway_program.py'
const STEP_MS = 180_000
const TOOL = 'openapi-generator'

/** Generates a Python client from the document of a gateway, and exchanges packages with it. */
export async function tryGatewayClient({ folder: parent, report }: TrialTools): Promise<void> {
  const folder = join(parent, 'gateway')
  mkdirSync(folder)
  await report.step(TOOL, 'Python at a gateway: sends, takes the answer, keeps a capsule', async () => {
    const jar = await findGenerator()
    const python = await pythonOfClient()
    await using gateway = await startOutsideGateway()
    const document = join(folder, 'openapi.json')
    writeFileSync(document, await (await fetch(`${gateway.url}/openapi.json`)).text())
    const { place, complaints } = await generatedClient(jar, 'python', { document, folder })
    cpSync(join(import.meta.dirname, PROGRAM), join(place, PROGRAM))
    const output = await mustRun(python, ['-B', PROGRAM], {
      cwd: place,
      env: {
        AEX_URL: gateway.url,
        AEX_KEY: gateway.key,
        AEX_AGENTS: [gateway.agentId, gateway.partnerId, gateway.policyId].join(' '),
        AEX_CONTENT: JSON.stringify(reasoning('Rails are short in week 12.')),
      },
      limitMs: STEP_MS,
    })
    const capsule = readFileSync(join(place, 'kept.capsule.json'))
    const { word, contradictions } = await verifyCapsuleFile(capsule, { require: 'unpinned' })
    assert.deepEqual([word, contradictions], ['consistent', []])
    return `${output.trim().split('\n').at(-1) ?? ''}${complaints}`
  })
}
