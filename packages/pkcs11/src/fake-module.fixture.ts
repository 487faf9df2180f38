import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FakeState } from './fake-binding.fixture.ts'
import { openModuleWith, type KeyModule, type ModuleOptions } from './open-module.ts'

export const FAKE_BINDING = fileURLToPath(new URL('./fake-binding.fixture.ts', import.meta.url))

export interface FakeModule extends AsyncDisposable {
  readonly keys: KeyModule
  readonly pinFile: string
  state(): FakeState
  change(change: Partial<FakeState>): void
  /** Another process with the same token. */
  open(options?: Options): KeyModule
}

type Options = Partial<ModuleOptions> & { readonly maximumQueued?: number; readonly binding?: string }

/** A token with the PIN 1234 in a thread of its own. */
export function fakeModule(options: Options = {}): FakeModule {
  const folder = mkdtempSync(join(tmpdir(), 'aex-pkcs11-'))
  const file = join(folder, 'module.json')
  const pinFile = join(folder, 'pin')
  const opened: KeyModule[] = []
  const fake: Omit<FakeModule, 'keys'> = {
    pinFile,
    state: () => JSON.parse(readFileSync(file, 'utf8')) as FakeState,
    change: (change) => writeFileSync(file, JSON.stringify({ ...fake.state(), ...change })),
    open({ binding = FAKE_BINDING, ...others } = {}) {
      const keys = openModuleWith(binding, { module: file, token: 'aex', pinFile, ...options, ...others })
      opened.push(keys)
      return keys
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((keys) => keys[Symbol.asyncDispose]()))
      rmSync(folder, { recursive: true })
    },
  }
  const initial: FakeState = { pin: '1234', logins: 0, objects: [] }
  writeFileSync(file, JSON.stringify(initial))
  writeFileSync(pinFile, '1234\n')
  return { ...fake, keys: fake.open(options) }
}
