import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

export const INSPECTOR = '@modelcontextprotocol/inspector@2.12.0'
export const CONFORMANCE = '@modelcontextprotocol/conformance@0.1.16'
/** The trials read the folder of the tools from this variable. */
export const TOOLS_VARIABLE = 'AEX_MCP_TOOLS'

const INSTALL_MS = 180_000
const OFFLINE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|E50\d|network/u

/** Installs the official tools into a folder. Returns why not, if the registry does not answer. */
export async function installTools(folder: string): Promise<string | undefined> {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  try {
    await promisify(execFile)('npm', [...args, INSPECTOR, CONFORMANCE], { cwd: folder, timeout: INSTALL_MS })
    return undefined
  } catch (error) {
    const { stderr = '', killed } = error as { readonly stderr?: string; readonly killed?: boolean }
    if (killed === true || OFFLINE.test(stderr)) return 'the npm registry does not answer'
    throw error
  }
}

/** A program of an installed tool. */
export function toolProgram(path: string): string {
  const folder = process.env[TOOLS_VARIABLE]
  if (folder === undefined) throw new Error('Run it with npm run test:mcp.')
  return join(folder, 'node_modules', path)
}
