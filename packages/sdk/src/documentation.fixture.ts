import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Runs what a page of the documentation shows, as it stands there. */
const ROOT = resolve(import.meta.dirname, '../../..')
const WAIT_MS = 60_000
/** A program gets no variable but its own; where compiled modules are kept, changes nothing that it does. */
const { NODE_COMPILE_CACHE } = process.env

/** A fenced block, under the heading that it stands below. */
export interface Snippet {
  readonly heading: string
  readonly language: string
  readonly code: string
}

/** The fenced blocks of a page below `docs`, in order; those of one language where one is named. */
export function snippetsOf(page: string, language?: string): Snippet[] {
  const text = readFileSync(join(ROOT, 'docs', page), 'utf8')
  const found: Snippet[] = []
  let heading = ''
  let open: { language: string; lines: string[] } | undefined
  for (const line of text.split('\n')) {
    const fence = /^```(\w*)/.exec(line)
    if (open && fence) {
      found.push({ heading, language: open.language, code: `${open.lines.join('\n')}\n` })
      open = undefined
    } else if (open) open.lines.push(line)
    else if (fence) open = { language: fence[1] ?? '', lines: [] }
    else heading = /^#+ (.+)$/.exec(line)?.[1] ?? heading
  }
  return language === undefined ? found : found.filter((snippet) => snippet.language === language)
}

/** Makes the packages of the repository importable by their names from a folder anywhere. */
export function linkPackages(folder: string): void {
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
}

export interface Program extends AsyncDisposable {
  /** Everything that it has said so far. */
  readonly said: () => string
  /** Waits until it has said something. */
  says(pattern: RegExp): Promise<void>
  /** Writes a line to its standard input. */
  type(line: string): void
  /** Asks it to stop. */
  terminate(): void
  /** Waits for its end and returns its exit code. */
  end(): Promise<number | null>
}

/** Starts a TypeScript program in a folder, as `node program.ts` would. Disposing of it ends it. */
export function startProgram(
  folder: string,
  name: string,
  env: Record<string, string> = {},
  args: readonly string[] = [],
): Program {
  const child: ChildProcess = spawn(process.execPath, ['-C', 'source', join(folder, name), ...args], {
    cwd: folder,
    env: { NODE_COMPILE_CACHE, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => (text += String(data)))
  const exit = once(child, 'exit').then(([code]) => code as number | null)
  let hasEnded = false
  void exit.then(() => (hasEnded = true))
  return {
    said: () => text,
    async says(pattern) {
      const limit = performance.now() + WAIT_MS
      while (!pattern.test(text)) {
        if (hasEnded || performance.now() > limit) throw new Error(`${name} did not say ${pattern}:\n${text}`)
        await new Promise((done) => setTimeout(done, 20))
      }
    },
    type: (line) => void child.stdin?.write(`${line}\n`),
    terminate: () => void child.kill('SIGTERM'),
    end: () => exit,
    async [Symbol.asyncDispose]() {
      if (!hasEnded) child.kill('SIGKILL')
      await exit
    },
  }
}
