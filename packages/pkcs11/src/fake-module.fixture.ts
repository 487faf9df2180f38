import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type FakeState, writeState } from './fake-binding.fixture.ts'
import { openModule, type KeyModule, type ModuleOptions } from './open-module.ts'

const FAKE_BINDING = fileURLToPath(new URL('./fake-binding.fixture.ts', import.meta.url))

export interface FakeModule extends AsyncDisposable {
  readonly keys: KeyModule
  readonly pinFile: string
  /** What opens it, as a configuration has it. */
  readonly place: Pick<ModuleOptions, 'module' | 'token' | 'pinFile'> & { readonly binding: string }
  state(): FakeState
  change(change: Partial<FakeState>): void
  /** Another process with the same token. */
  open(options?: Partial<ModuleOptions>): KeyModule
}

/** A token with the PIN 1234 in a thread of its own. */
export function fakeModule(options: Partial<ModuleOptions> = {}): FakeModule {
  const folder = mkdtempSync(join(tmpdir(), 'aex-pkcs11-'))
  const file = join(folder, 'module.json')
  const pinFile = join(folder, 'pin')
  const place = { binding: FAKE_BINDING, module: file, token: 'aex', pinFile }
  const opened: KeyModule[] = []
  const fake: Omit<FakeModule, 'keys'> = {
    place,
    pinFile,
    state: () => JSON.parse(readFileSync(file, 'utf8')) as FakeState,
    change: (change) => writeState(file, { ...fake.state(), ...change }),
    open(others = {}) {
      const keys = openModule({ ...place, ...options, ...others })
      opened.push(keys)
      return keys
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((keys) => keys[Symbol.asyncDispose]()))
      rmSync(folder, { recursive: true })
    },
  }
  writeState(file, { pin: '1234', logins: 0, objects: [] })
  writeFileSync(pinFile, '1234\n')
  return { ...fake, keys: fake.open(options) }
}
