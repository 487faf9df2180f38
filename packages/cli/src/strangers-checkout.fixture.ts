import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { freePorts } from '@agent-exchange/testkit/free-ports'
import { blocksOf, ROOT, type RunningExchange } from './running-exchange.fixture.ts'
import {
  inOwnTerminal,
  openTerminal,
  typePassphrase,
  type RunningCommand,
  type StrangersTerminal,
} from './strangers-terminal.fixture.ts'

/** Ports in the pages besides those of the exchange. Each is replaced by one that is free here. */
const PORTS = ['8085', '8086', '8191', '8192', '8443', '8700']

/** Somebody who has a fresh checkout, a running exchange and the Node of the machine, and follows the pages. */
export interface StrangersCheckout extends AsyncDisposable {
  readonly folder: string
  /** Blocks of a page as they are written, but for ports and the fingerprint of the log. */
  blocks(page: string, language?: 'sh' | 'bash' | 'ts'): string[]
  /** The terminal into which the pages are pasted, one after the other. */
  paste(text: string): Promise<string>
  /** Another terminal, for a command that keeps running. */
  start(command: string, ready: RegExp): Promise<RunningCommand>
  /** A command that asks for a new passphrase, twice. */
  type(command: string, passphrase: string): Promise<void>
  /** Saves the first program of a page and runs it. */
  run(page: string): Promise<string>
}

export async function strangersCheckout(exchange: RunningExchange): Promise<StrangersCheckout> {
  const folder = mkdtempSync(join(tmpdir(), 'aex-pages-'))
  for (const name of ['node_modules', 'examples']) symlinkSync(join(ROOT, name), join(folder, name))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }')
  // Agents learn the address of the exchange from the pages and from invitations.
  const { AEX_URL: _url, NODE_OPTIONS: _options, ...settings } = exchange.env
  const place = { cwd: folder, env: { ...settings, PATH: withoutCheckout(process.env['PATH'] ?? '') } }
  const adapt = await adaptedTo(exchange)
  const terminal: StrangersTerminal = openTerminal(place)
  const blocks: StrangersCheckout['blocks'] = (page, language = 'sh') => blocksOf(page, language).map(adapt)
  return {
    folder,
    blocks,
    paste: terminal.paste,
    start: (command, ready) => inOwnTerminal(command, ready, place),
    type: (command, passphrase) => typePassphrase(command, passphrase, place),
    async run(page) {
      writeFileSync(join(folder, 'program.ts'), blocks(page, 'ts')[0] ?? '')
      return await terminal.paste('npx node -C source program.ts')
    },
    async [Symbol.asyncDispose]() {
      await terminal[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true })
    },
  }
}

/** Without the commands of this checkout, so that `node` is the one of the machine. */
function withoutCheckout(path: string): string {
  return path
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .join(delimiter)
}

async function adaptedTo({ url }: RunningExchange): Promise<(text: string) => string> {
  const { logKeyFingerprint, parseVerifierKey } = await import('@agent-exchange/log')
  const answer = await fetch(`${url}/log/key`)
  const { verifier_keys: keys } = (await answer.json()) as { verifier_keys: string[] }
  const free = await freePorts(PORTS.length)
  const replaced = [
    ['http://127.0.0.1:8080', url],
    ['FINGERPRINT', logKeyFingerprint(parseVerifierKey(keys[0] ?? ''))],
    ...PORTS.map((port, index) => [port, String(free[index])]),
  ] as [string, string][]
  return (text) => replaced.reduce((changed, [from, to]) => changed.replaceAll(from, to), text)
}
