/** `npm run generate`: writes all files generated from the contract; with --check, lists those that are out of date. */

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { extensionsDocument, openApiDocument, publishedSchemas } from '@agent-exchange/protocol'
import { gatewayOpenApi } from '../../packages/gateway/src/api/openapi.ts'
import { openPointsPage } from './open-points-page.ts'
import { problemsPage } from './problems-page.ts'
import { buildVerifyPage } from '../verify-page/build-verify-page.ts'
import { ROOT } from '../repository/repository-files.ts'

const SCHEMAS = 'packages/protocol/schemas'

const json = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`

async function generatedFiles(): Promise<Map<string, string>> {
  const files = new Map<string, string>()
  files.set('packages/protocol/openapi.json', json(openApiDocument()))
  files.set('packages/protocol/openapi-extensions.json', json(extensionsDocument()))
  files.set('packages/gateway/openapi.json', json(gatewayOpenApi('https://gateway.company.example')))
  for (const [name, schema] of publishedSchemas()) files.set(`${SCHEMAS}/${name}`, json(schema))
  files.set('docs/open-points.md', openPointsPage())
  files.set('docs/problems.md', problemsPage())
  files.set('packages/log/verify-page.html', await buildVerifyPage())
  return files
}

/** Schema files that are no longer generated. */
function staleFiles(files: ReadonlyMap<string, string>): string[] {
  return readdirSync(join(ROOT, SCHEMAS), { recursive: true, encoding: 'utf8' })
    .map((name) => `${SCHEMAS}/${name}`)
    .filter((path) => path.endsWith('.json') && !files.has(path))
}

function current(path: string): string | undefined {
  try {
    return readFileSync(join(ROOT, path), 'utf8')
  } catch {
    return undefined
  }
}

const files = await generatedFiles()
mkdirSync(join(ROOT, SCHEMAS), { recursive: true })
const changed = [...files].filter(([path, text]) => current(path) !== text)
const stale = staleFiles(files)

if (process.argv.includes('--check')) {
  for (const [path] of changed) console.error(`${path} is out of date`)
  for (const path of stale) console.error(`${path} is no longer generated`)
  if (changed.length + stale.length > 0) {
    console.error('Run `npm run generate` and commit the changes.')
    process.exitCode = 1
  } else console.log(`${files.size} generated files are up to date`)
} else {
  for (const [path, text] of changed) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true })
    writeFileSync(join(ROOT, path), text)
    console.log(`wrote ${path}`)
  }
  for (const path of stale) {
    rmSync(join(ROOT, path))
    console.log(`removed ${path}`)
  }
  console.log(`${files.size} generated files, ${changed.length + stale.length} changed`)
}
