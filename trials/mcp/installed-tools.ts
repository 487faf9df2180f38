import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mustFetch } from '../shared/programs.ts'

const INSPECTOR = '@modelcontextprotocol/inspector@2.12.0'
const CONFORMANCE = '@modelcontextprotocol/conformance@0.1.16'
/** The trials read the folder of the tools from this variable. */
export const TOOLS_VARIABLE = 'AEX_MCP_TOOLS'

const INSTALL_MS = 180_000

/** Installs the official tools into a folder. Throws `Skipped` if the registry does not answer. */
export async function installTools(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  await mustFetch('npm', 'npm', [...args, INSPECTOR, CONFORMANCE], { cwd: folder, limitMs: INSTALL_MS })
}

/** A program of an installed tool. */
export function toolProgram(path: string): string {
  const folder = process.env[TOOLS_VARIABLE]
  if (folder === undefined) throw new Error('Run it with npm run test:mcp.')
  return join(folder, 'node_modules', path)
}
