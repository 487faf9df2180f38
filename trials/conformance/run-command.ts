import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from '../../tools/repository/repository-files.ts'
import type { TrialTools } from '../shared/trial-parts.ts'
import { startOwnService } from './own-service.ts'

/** The command as a stranger runs it: a file with three clients, no hooks, all forms of the report, resumed. */
export async function tryCommand({ report, folder }: TrialTools): Promise<void> {
  await report.step('command', 'aex-conformance service, resumed, all reports', async () => {
    await using service = await startOwnService()
    const { organizations, baseUrl } = await service.underTest()
    const file = (name: string) => join(folder, name)
    const config = {
      organizations: organizations.map(({ organizationId, clientId, privateJwk }, index) => {
        writeFileSync(file(`${index}.jwk`), JSON.stringify(privateJwk))
        return { organization_id: organizationId, client_id: clientId, private_jwk_file: `${index}.jwk` }
      }),
    }
    writeFileSync(file('config.json'), JSON.stringify(config))
    const run = (...words: string[]) =>
      promisify(execFile)(process.execPath, [
        join(ROOT, 'packages/conformance/bin/aex-conformance.js'),
        'service',
        baseUrl,
        '--config',
        file('config.json'),
        '--state',
        file('state.json'),
        ...words,
      ])
    await run('--only', 'PKG-09')
    const forms = ['json', 'junit', 'html'].flatMap((form) => [`--${form}`, file(`report.${form}`)])
    const { stdout } = await run(...forms)
    assert.match(stdout, /^✔ PKG-09 /mu)
    assert.match(stdout, /^– EVT-05 +skipped: no webhook receiver is configured/mu)
    assert.match(stdout, / 0 failed, /u)
    const { results } = JSON.parse(readFileSync(file('report.json'), 'utf8')) as { results: unknown[] }
    for (const form of ['json', 'junit', 'html'])
      assert.doesNotMatch(readFileSync(file(`report.${form}`), 'utf8'), /eyJ[\w-]+\.eyJ|"d":\s*"(?!\[)/u)
    return `${results.length} checks`
  })
}
